from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DepthUnit(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PACKETS: _ClassVar[DepthUnit]
    OCTETS: _ClassVar[DepthUnit]
PACKETS: DepthUnit
OCTETS: DepthUnit

class GetNetworkRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetNetworkResponse(_message.Message):
    __slots__ = ("nodes", "links")
    nodes: _containers.RepeatedCompositeFieldContainer[NetworkNode]
    links: _containers.RepeatedCompositeFieldContainer[NetworkLink]
    def __init__(self, nodes: _Optional[_Iterable[_Union[NetworkNode, _Mapping]]] = ..., links: _Optional[_Iterable[_Union[NetworkLink, _Mapping]]] = ...) -> None: ...

class NetworkNode(_message.Message):
    __slots__ = ("name", "role", "ports")
    name: str
    role: str
    ports: _containers.RepeatedCompositeFieldContainer[NetworkPort]
    def __init__(self, name: _Optional[str] = ..., role: _Optional[str] = ..., ports: _Optional[_Iterable[_Union[NetworkPort, _Mapping]]] = ...) -> None: ...

class NetworkPort(_message.Message):
    __slots__ = ("number", "name", "role", "vrf", "rate")
    number: int
    name: str
    role: str
    vrf: str
    rate: int
    def __init__(self, number: _Optional[int] = ..., name: _Optional[str] = ..., role: _Optional[str] = ..., vrf: _Optional[str] = ..., rate: _Optional[int] = ...) -> None: ...

class NetworkLink(_message.Message):
    __slots__ = ("node", "port", "peer", "peer_port")
    node: str
    port: int
    peer: str
    peer_port: int
    def __init__(self, node: _Optional[str] = ..., port: _Optional[int] = ..., peer: _Optional[str] = ..., peer_port: _Optional[int] = ...) -> None: ...

class GetStatusRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetStatusResponse(_message.Message):
    __slots__ = ("version", "started", "nodes", "labels_in_use", "labels_resting", "notification", "others")
    version: str
    started: float
    nodes: _containers.RepeatedCompositeFieldContainer[NodeStatus]
    labels_in_use: int
    labels_resting: int
    notification: str
    others: _containers.RepeatedCompositeFieldContainer[RegionController]
    def __init__(self, version: _Optional[str] = ..., started: _Optional[float] = ..., nodes: _Optional[_Iterable[_Union[NodeStatus, _Mapping]]] = ..., labels_in_use: _Optional[int] = ..., labels_resting: _Optional[int] = ..., notification: _Optional[str] = ..., others: _Optional[_Iterable[_Union[RegionController, _Mapping]]] = ...) -> None: ...

class RegionController(_message.Message):
    __slots__ = ("region", "name", "heard", "detail")
    region: str
    name: str
    heard: bool
    detail: str
    def __init__(self, region: _Optional[str] = ..., name: _Optional[str] = ..., heard: _Optional[bool] = ..., detail: _Optional[str] = ...) -> None: ...

class NodeStatus(_message.Message):
    __slots__ = ("name", "role", "grpc", "device_id", "state", "since", "detail", "features", "entries", "pending", "refused", "flows", "neighbors", "tls", "refusal")
    name: str
    role: str
    grpc: str
    device_id: int
    state: str
    since: float
    detail: str
    features: _containers.RepeatedScalarFieldContainer[str]
    entries: int
    pending: int
    refused: int
    flows: int
    neighbors: int
    tls: SwitchTls
    refusal: str
    def __init__(self, name: _Optional[str] = ..., role: _Optional[str] = ..., grpc: _Optional[str] = ..., device_id: _Optional[int] = ..., state: _Optional[str] = ..., since: _Optional[float] = ..., detail: _Optional[str] = ..., features: _Optional[_Iterable[str]] = ..., entries: _Optional[int] = ..., pending: _Optional[int] = ..., refused: _Optional[int] = ..., flows: _Optional[int] = ..., neighbors: _Optional[int] = ..., tls: _Optional[_Union[SwitchTls, _Mapping]] = ..., refusal: _Optional[str] = ...) -> None: ...

class SwitchTls(_message.Message):
    __slots__ = ("ca", "certificate", "key", "name")
    ca: str
    certificate: str
    key: str
    name: str
    def __init__(self, ca: _Optional[str] = ..., certificate: _Optional[str] = ..., key: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class FlowKey(_message.Message):
    __slots__ = ("vrf", "src", "dst", "dest_qp")
    vrf: str
    src: str
    dst: str
    dest_qp: int
    def __init__(self, vrf: _Optional[str] = ..., src: _Optional[str] = ..., dst: _Optional[str] = ..., dest_qp: _Optional[int] = ...) -> None: ...

class Flow(_message.Message):
    __slots__ = ("key", "node", "label", "source_qp", "p_key", "origin", "timeout", "since", "packets", "octets", "notifications")
    key: FlowKey
    node: str
    label: int
    source_qp: int
    p_key: int
    origin: str
    timeout: int
    since: float
    packets: int
    octets: int
    notifications: int
    def __init__(self, key: _Optional[_Union[FlowKey, _Mapping]] = ..., node: _Optional[str] = ..., label: _Optional[int] = ..., source_qp: _Optional[int] = ..., p_key: _Optional[int] = ..., origin: _Optional[str] = ..., timeout: _Optional[int] = ..., since: _Optional[float] = ..., packets: _Optional[int] = ..., octets: _Optional[int] = ..., notifications: _Optional[int] = ...) -> None: ...

class ListFlowsRequest(_message.Message):
    __slots__ = ("node", "vrf", "address", "with_counters", "with_unlabelled", "label")
    node: str
    vrf: str
    address: str
    with_counters: bool
    with_unlabelled: bool
    label: int
    def __init__(self, node: _Optional[str] = ..., vrf: _Optional[str] = ..., address: _Optional[str] = ..., with_counters: _Optional[bool] = ..., with_unlabelled: _Optional[bool] = ..., label: _Optional[int] = ...) -> None: ...

class ListFlowsResponse(_message.Message):
    __slots__ = ("flows",)
    flows: _containers.RepeatedCompositeFieldContainer[Flow]
    def __init__(self, flows: _Optional[_Iterable[_Union[Flow, _Mapping]]] = ...) -> None: ...

class AddFlowRequest(_message.Message):
    __slots__ = ("key", "source_qp", "timeout")
    key: FlowKey
    source_qp: int
    timeout: int
    def __init__(self, key: _Optional[_Union[FlowKey, _Mapping]] = ..., source_qp: _Optional[int] = ..., timeout: _Optional[int] = ...) -> None: ...

class AddFlowResponse(_message.Message):
    __slots__ = ("flow", "written", "lasting")
    flow: Flow
    written: bool
    lasting: bool
    def __init__(self, flow: _Optional[_Union[Flow, _Mapping]] = ..., written: _Optional[bool] = ..., lasting: _Optional[bool] = ...) -> None: ...

class AddFlowsRequest(_message.Message):
    __slots__ = ("flows",)
    flows: _containers.RepeatedCompositeFieldContainer[AddFlowRequest]
    def __init__(self, flows: _Optional[_Iterable[_Union[AddFlowRequest, _Mapping]]] = ...) -> None: ...

class AddFlowsResponse(_message.Message):
    __slots__ = ("refused", "away", "lasting")
    class Refusal(_message.Message):
        __slots__ = ("index", "reason")
        index: int
        reason: str
        def __init__(self, index: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...
    refused: _containers.RepeatedCompositeFieldContainer[AddFlowsResponse.Refusal]
    away: _containers.RepeatedScalarFieldContainer[str]
    lasting: bool
    def __init__(self, refused: _Optional[_Iterable[_Union[AddFlowsResponse.Refusal, _Mapping]]] = ..., away: _Optional[_Iterable[str]] = ..., lasting: _Optional[bool] = ...) -> None: ...

class DeleteFlowRequest(_message.Message):
    __slots__ = ("key",)
    key: FlowKey
    def __init__(self, key: _Optional[_Union[FlowKey, _Mapping]] = ...) -> None: ...

class DeleteFlowResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class SetFeaturesRequest(_message.Message):
    __slots__ = ("node", "features", "enabled")
    node: str
    features: _containers.RepeatedScalarFieldContainer[str]
    enabled: bool
    def __init__(self, node: _Optional[str] = ..., features: _Optional[_Iterable[str]] = ..., enabled: _Optional[bool] = ...) -> None: ...

class SetFeaturesResponse(_message.Message):
    __slots__ = ("written", "features", "lasting")
    written: bool
    features: _containers.RepeatedScalarFieldContainer[str]
    lasting: bool
    def __init__(self, written: _Optional[bool] = ..., features: _Optional[_Iterable[str]] = ..., lasting: _Optional[bool] = ...) -> None: ...

class GetThresholdsRequest(_message.Message):
    __slots__ = ("node",)
    node: str
    def __init__(self, node: _Optional[str] = ...) -> None: ...

class GetThresholdsResponse(_message.Message):
    __slots__ = ("queues", "levels", "notification")
    queues: _containers.RepeatedCompositeFieldContainer[QueueThresholds]
    levels: _containers.RepeatedCompositeFieldContainer[LevelPolicy]
    notification: str
    def __init__(self, queues: _Optional[_Iterable[_Union[QueueThresholds, _Mapping]]] = ..., levels: _Optional[_Iterable[_Union[LevelPolicy, _Mapping]]] = ..., notification: _Optional[str] = ...) -> None: ...

class QueueThresholds(_message.Message):
    __slots__ = ("node", "port", "queue", "depths", "unit")
    node: str
    port: int
    queue: int
    depths: _containers.RepeatedScalarFieldContainer[int]
    unit: DepthUnit
    def __init__(self, node: _Optional[str] = ..., port: _Optional[int] = ..., queue: _Optional[int] = ..., depths: _Optional[_Iterable[int]] = ..., unit: _Optional[_Union[DepthUnit, str]] = ...) -> None: ...

class LevelPolicy(_message.Message):
    __slots__ = ("level", "mark", "notify", "interval")
    level: int
    mark: bool
    notify: bool
    interval: int
    def __init__(self, level: _Optional[int] = ..., mark: _Optional[bool] = ..., notify: _Optional[bool] = ..., interval: _Optional[int] = ...) -> None: ...

class SetThresholdsRequest(_message.Message):
    __slots__ = ("queue",)
    queue: QueueThresholds
    def __init__(self, queue: _Optional[_Union[QueueThresholds, _Mapping]] = ...) -> None: ...

class SetThresholdsResponse(_message.Message):
    __slots__ = ("written", "lasting")
    written: bool
    lasting: bool
    def __init__(self, written: _Optional[bool] = ..., lasting: _Optional[bool] = ...) -> None: ...

class GetCountersRequest(_message.Message):
    __slots__ = ("node", "last")
    node: str
    last: bool
    def __init__(self, node: _Optional[str] = ..., last: _Optional[bool] = ...) -> None: ...

class GetCountersResponse(_message.Message):
    __slots__ = ("counters", "read")
    class ReadEntry(_message.Message):
        __slots__ = ("key", "value")
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    counters: _containers.RepeatedCompositeFieldContainer[Counter]
    read: _containers.ScalarMap[str, float]
    def __init__(self, counters: _Optional[_Iterable[_Union[Counter, _Mapping]]] = ..., read: _Optional[_Mapping[str, float]] = ...) -> None: ...

class Counter(_message.Message):
    __slots__ = ("node", "counter", "name", "packets", "octets")
    node: str
    counter: str
    name: str
    packets: int
    octets: int
    def __init__(self, node: _Optional[str] = ..., counter: _Optional[str] = ..., name: _Optional[str] = ..., packets: _Optional[int] = ..., octets: _Optional[int] = ...) -> None: ...

class ListPathsRequest(_message.Message):
    __slots__ = ("node",)
    node: str
    def __init__(self, node: _Optional[str] = ...) -> None: ...

class ListPathsResponse(_message.Message):
    __slots__ = ("policies",)
    policies: _containers.RepeatedCompositeFieldContainer[Policy]
    def __init__(self, policies: _Optional[_Iterable[_Union[Policy, _Mapping]]] = ...) -> None: ...

class Policy(_message.Message):
    __slots__ = ("node", "name", "to", "exposed", "paths")
    node: str
    name: str
    to: str
    exposed: str
    paths: _containers.RepeatedCompositeFieldContainer[Path]
    def __init__(self, node: _Optional[str] = ..., name: _Optional[str] = ..., to: _Optional[str] = ..., exposed: _Optional[str] = ..., paths: _Optional[_Iterable[_Union[Path, _Mapping]]] = ...) -> None: ...

class Path(_message.Message):
    __slots__ = ("tunnel", "id", "weight", "backup", "computed", "via", "state", "since", "source", "packets", "octets", "rate", "loads", "flowlets")
    tunnel: str
    id: int
    weight: int
    backup: bool
    computed: bool
    via: _containers.RepeatedScalarFieldContainer[str]
    state: str
    since: float
    source: str
    packets: int
    octets: int
    rate: float
    loads: int
    flowlets: int
    def __init__(self, tunnel: _Optional[str] = ..., id: _Optional[int] = ..., weight: _Optional[int] = ..., backup: _Optional[bool] = ..., computed: _Optional[bool] = ..., via: _Optional[_Iterable[str]] = ..., state: _Optional[str] = ..., since: _Optional[float] = ..., source: _Optional[str] = ..., packets: _Optional[int] = ..., octets: _Optional[int] = ..., rate: _Optional[float] = ..., loads: _Optional[int] = ..., flowlets: _Optional[int] = ...) -> None: ...

class ReportPathRequest(_message.Message):
    __slots__ = ("id", "report")
    id: int
    report: str
    def __init__(self, id: _Optional[int] = ..., report: _Optional[str] = ...) -> None: ...

class ReportPathResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListLinksRequest(_message.Message):
    __slots__ = ("node",)
    node: str
    def __init__(self, node: _Optional[str] = ...) -> None: ...

class ListLinksResponse(_message.Message):
    __slots__ = ("links",)
    links: _containers.RepeatedCompositeFieldContainer[Link]
    def __init__(self, links: _Optional[_Iterable[_Union[Link, _Mapping]]] = ...) -> None: ...

class Link(_message.Message):
    __slots__ = ("node", "port", "peer", "peer_port", "state", "since", "ups", "downs", "rate", "utilization")
    node: str
    port: int
    peer: str
    peer_port: int
    state: str
    since: float
    ups: int
    downs: int
    rate: int
    utilization: float
    def __init__(self, node: _Optional[str] = ..., port: _Optional[int] = ..., peer: _Optional[str] = ..., peer_port: _Optional[int] = ..., state: _Optional[str] = ..., since: _Optional[float] = ..., ups: _Optional[int] = ..., downs: _Optional[int] = ..., rate: _Optional[int] = ..., utilization: _Optional[float] = ...) -> None: ...

class ListQueuesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListQueuesResponse(_message.Message):
    __slots__ = ("queues", "untold")
    class UntoldEntry(_message.Message):
        __slots__ = ("key", "value")
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    queues: _containers.RepeatedCompositeFieldContainer[PortQueue]
    untold: _containers.ScalarMap[str, str]
    def __init__(self, queues: _Optional[_Iterable[_Union[PortQueue, _Mapping]]] = ..., untold: _Optional[_Mapping[str, str]] = ...) -> None: ...

class PortQueue(_message.Message):
    __slots__ = ("node", "port", "packets", "level", "full")
    node: str
    port: int
    packets: int
    level: int
    full: float
    def __init__(self, node: _Optional[str] = ..., port: _Optional[int] = ..., packets: _Optional[int] = ..., level: _Optional[int] = ..., full: _Optional[float] = ...) -> None: ...

class ConfigRequest(_message.Message):
    __slots__ = ("text", "file")
    text: str
    file: str
    def __init__(self, text: _Optional[str] = ..., file: _Optional[str] = ...) -> None: ...

class ConfigProblem(_message.Message):
    __slots__ = ("line", "where", "message")
    line: int
    where: str
    message: str
    def __init__(self, line: _Optional[int] = ..., where: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class DiffConfigResponse(_message.Message):
    __slots__ = ("problems", "changes")
    problems: _containers.RepeatedCompositeFieldContainer[ConfigProblem]
    changes: _containers.RepeatedCompositeFieldContainer[EntryChange]
    def __init__(self, problems: _Optional[_Iterable[_Union[ConfigProblem, _Mapping]]] = ..., changes: _Optional[_Iterable[_Union[EntryChange, _Mapping]]] = ...) -> None: ...

class EntryChange(_message.Message):
    __slots__ = ("node", "change", "table", "match", "before", "after")
    node: str
    change: str
    table: str
    match: str
    before: str
    after: str
    def __init__(self, node: _Optional[str] = ..., change: _Optional[str] = ..., table: _Optional[str] = ..., match: _Optional[str] = ..., before: _Optional[str] = ..., after: _Optional[str] = ...) -> None: ...

class ApplyConfigResponse(_message.Message):
    __slots__ = ("problems", "nodes", "lasting")
    problems: _containers.RepeatedCompositeFieldContainer[ConfigProblem]
    nodes: _containers.RepeatedCompositeFieldContainer[AppliedNode]
    lasting: bool
    def __init__(self, problems: _Optional[_Iterable[_Union[ConfigProblem, _Mapping]]] = ..., nodes: _Optional[_Iterable[_Union[AppliedNode, _Mapping]]] = ..., lasting: _Optional[bool] = ...) -> None: ...

class AppliedNode(_message.Message):
    __slots__ = ("name", "added", "removed", "changed", "state")
    name: str
    added: int
    removed: int
    changed: int
    state: str
    def __init__(self, name: _Optional[str] = ..., added: _Optional[int] = ..., removed: _Optional[int] = ..., changed: _Optional[int] = ..., state: _Optional[str] = ...) -> None: ...

class WatchEventsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Event(_message.Message):
    __slots__ = ("time", "kind", "node", "message", "fields")
    class FieldsEntry(_message.Message):
        __slots__ = ("key", "value")
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    time: float
    kind: str
    node: str
    message: str
    fields: _containers.ScalarMap[str, str]
    def __init__(self, time: _Optional[float] = ..., kind: _Optional[str] = ..., node: _Optional[str] = ..., message: _Optional[str] = ..., fields: _Optional[_Mapping[str, str]] = ...) -> None: ...

class FollowStateRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class FollowStateResponse(_message.Message):
    __slots__ = ("image",)
    image: bytes
    def __init__(self, image: _Optional[bytes] = ...) -> None: ...

class FollowConnectionsRequest(_message.Message):
    __slots__ = ("region",)
    region: str
    def __init__(self, region: _Optional[str] = ...) -> None: ...

class FollowConnectionsResponse(_message.Message):
    __slots__ = ("messages",)
    messages: _containers.RepeatedCompositeFieldContainer[ConnectionMessage]
    def __init__(self, messages: _Optional[_Iterable[_Union[ConnectionMessage, _Mapping]]] = ...) -> None: ...

class ConnectionMessage(_message.Message):
    __slots__ = ("node", "port", "vrf", "src", "dst", "attribute", "local_comm_id", "remote_comm_id", "qpn")
    node: str
    port: int
    vrf: str
    src: bytes
    dst: bytes
    attribute: int
    local_comm_id: int
    remote_comm_id: int
    qpn: int
    def __init__(self, node: _Optional[str] = ..., port: _Optional[int] = ..., vrf: _Optional[str] = ..., src: _Optional[bytes] = ..., dst: _Optional[bytes] = ..., attribute: _Optional[int] = ..., local_comm_id: _Optional[int] = ..., remote_comm_id: _Optional[int] = ..., qpn: _Optional[int] = ...) -> None: ...
