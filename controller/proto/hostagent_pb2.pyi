from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ReportRequest(_message.Message):
    __slots__ = ("devices",)
    devices: _containers.RepeatedCompositeFieldContainer[RdmaDevice]
    def __init__(self, devices: _Optional[_Iterable[_Union[RdmaDevice, _Mapping]]] = ...) -> None: ...

class RdmaDevice(_message.Message):
    __slots__ = ("name", "addresses", "queue_pairs")
    name: str
    addresses: _containers.RepeatedScalarFieldContainer[str]
    queue_pairs: _containers.RepeatedCompositeFieldContainer[QueuePair]
    def __init__(self, name: _Optional[str] = ..., addresses: _Optional[_Iterable[str]] = ..., queue_pairs: _Optional[_Iterable[_Union[QueuePair, _Mapping]]] = ...) -> None: ...

class QueuePair(_message.Message):
    __slots__ = ("qpn", "remote_qpn")
    qpn: int
    remote_qpn: int
    def __init__(self, qpn: _Optional[int] = ..., remote_qpn: _Optional[int] = ...) -> None: ...

class ReportResponse(_message.Message):
    __slots__ = ("learned", "ambiguous")
    learned: int
    ambiguous: int
    def __init__(self, learned: _Optional[int] = ..., ambiguous: _Optional[int] = ...) -> None: ...
