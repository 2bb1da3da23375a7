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
    NODES_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    nodes: _containers.RepeatedCompositeFieldContainer[NetworkNode]
    links: _containers.RepeatedCompositeFieldContainer[NetworkLink]
    def __init__(self, nodes: _Optional[_Iterable[_Union[NetworkNode, _Mapping]]] = ..., links: _Optional[_Iterable[_Union[NetworkLink, _Mapping]]] = ...) -> None: ...

class NetworkNode(_message.Message):
    __slots__ = ("name", "role", "ports")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    PORTS_FIELD_NUMBER: _ClassVar[int]
    name: str
    role: str
    ports: _containers.RepeatedCompositeFieldContainer[NetworkPort]
    def __init__(self, name: _Optional[str] = ..., role: _Optional[str] = ..., ports: _Optional[_Iterable[_Union[NetworkPort, _Mapping]]] = ...) -> None: ...

class NetworkPort(_message.Message):
    __slots__ = ("number", "name", "role", "vrf", "rate")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    VRF_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    number: int
    name: str
    role: str
    vrf: str
    rate: int
    def __init__(self, number: _Optional[int] = ..., name: _Optional[str] = ..., role: _Optional[str] = ..., vrf: _Optional[str] = ..., rate: _Optional[int] = ...) -> None: ...

class NetworkLink(_message.Message):
    __slots__ = ("node", "port", "peer", "peer_port")
    NODE_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    PEER_FIELD_NUMBER: _ClassVar[int]
    PEER_PORT_FIELD_NUMBER: _ClassVar[int]
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
    VERSION_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    LABELS_IN_USE_FIELD_NUMBER: _ClassVar[int]
    LABELS_RESTING_FIELD_NUMBER: _ClassVar[int]
    NOTIFICATION_FIELD_NUMBER: _ClassVar[int]
    OTHERS_FIELD_NUMBER: _ClassVar[int]
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
    REGION_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    HEARD_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    region: str
    name: str
    heard: bool
    detail: str
    def __init__(self, region: _Optional[str] = ..., name: _Optional[str] = ..., heard: _Optional[bool] = ..., detail: _Optional[str] = ...) -> None: ...

class NodeStatus(_message.Message):
    __slots__ = ("name", "role", "grpc", "device_id", "state", "since", "detail", "features", "entries", "pending", "refused", "flows", "neighbors", "tls", "refusal")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    GRPC_FIELD_NUMBER: _ClassVar[int]
    DEVICE_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    PENDING_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    FLOWS_FIELD_NUMBER: _ClassVar[int]
    NEIGHBORS_FIELD_NUMBER: _ClassVar[int]
    TLS_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
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
    CA_FIELD_NUMBER: _ClassVar[int]
    CERTIFICATE_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    ca: str
    certificate: str
    key: str
    name: str
    def __init__(self, ca: _Optional[str] = ..., certificate: _Optional[str] = ..., key: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class FlowKey(_message.Message):
    __slots__ = ("vrf", "src", "dst", "dest_qp")
    VRF_FIELD_NUMBER: _ClassVar[int]
    SRC_FIELD_NUMBER: _ClassVar[int]
    DST_FIELD_NUMBER: _ClassVar[int]
    DEST_QP_FIELD_NUMBER: _ClassVar[int]
    vrf: str
    src: str
    dst: str
    dest_qp: int
    def __init__(self, vrf: _Optional[str] = ..., src: _Optional[str] = ..., dst: _Optional[str] = ..., dest_qp: _Optional[int] = ...) -> None: ...

class Flow(_message.Message):
    __slots__ = ("key", "node", "label", "source_qp", "p_key", "origin", "timeout", "since", "packets", "octets", "notifications")
    KEY_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    SOURCE_QP_FIELD_NUMBER: _ClassVar[int]
    P_KEY_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    PACKETS_FIELD_NUMBER: _ClassVar[int]
    OCTETS_FIELD_NUMBER: _ClassVar[int]
    NOTIFICATIONS_FIELD_NUMBER: _ClassVar[int]
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
    NODE_FIELD_NUMBER: _ClassVar[int]
    VRF_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    WITH_COUNTERS_FIELD_NUMBER: _ClassVar[int]
    WITH_UNLABELLED_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    node: str
    vrf: str
    address: str
    with_counters: bool
    with_unlabelled: bool
    label: int
    def __init__(self, node: _Optional[str] = ..., vrf: _Optional[str] = ..., address: _Optional[str] = ..., with_counters: _Optional[bool] = ..., with_unlabelled: _Optional[bool] = ..., label: _Optional[int] = ...) -> None: ...

class ListFlowsResponse(_message.Message):
    __slots__ = ("flows",)
    FLOWS_FIELD_NUMBER: _ClassVar[int]
    flows: _containers.RepeatedCompositeFieldContainer[Flow]
    def __init__(self, flows: _Optional[_Iterable[_Union[Flow, _Mapping]]] = ...) -> None: ...

class AddFlowRequest(_message.Message):
    __slots__ = ("key", "source_qp", "timeout")
    KEY_FIELD_NUMBER: _ClassVar[int]
    SOURCE_QP_FIELD_NUMBER: _ClassVar[int]
    TIMEOUT_FIELD_NUMBER: _ClassVar[int]
    key: FlowKey
    source_qp: int
    timeout: int
    def __init__(self, key: _Optional[_Union[FlowKey, _Mapping]] = ..., source_qp: _Optional[int] = ..., timeout: _Optional[int] = ...) -> None: ...

class AddFlowResponse(_message.Message):
    __slots__ = ("flow", "written", "lasting")
    FLOW_FIELD_NUMBER: _ClassVar[int]
    WRITTEN_FIELD_NUMBER: _ClassVar[int]
    LASTING_FIELD_NUMBER: _ClassVar[int]
    flow: Flow
    written: bool
    lasting: bool
    def __init__(self, flow: _Optional[_Union[Flow, _Mapping]] = ..., written: _Optional[bool] = ..., lasting: _Optional[bool] = ...) -> None: ...

class AddFlowsRequest(_message.Message):
    __slots__ = ("flows",)
    FLOWS_FIELD_NUMBER: _ClassVar[int]
    flows: _containers.RepeatedCompositeFieldContainer[AddFlowRequest]
    def __init__(self, flows: _Optional[_Iterable[_Union[AddFlowRequest, _Mapping]]] = ...) -> None: ...

class AddFlowsResponse(_message.Message):
    __slots__ = ("refused", "away", "lasting")
    class Refusal(_message.Message):
        __slots__ = ("index", "reason")
        INDEX_FIELD_NUMBER: _ClassVar[int]
        REASON_FIELD_NUMBER: _ClassVar[int]
        index: int
        reason: str
        def __init__(self, index: _Optional[int] = ..., reason: _Optional[str] = ...) -> None: ...
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    AWAY_FIELD_NUMBER: _ClassVar[int]
    LASTING_FIELD_NUMBER: _ClassVar[int]
    refused: _containers.RepeatedCompositeFieldContainer[AddFlowsResponse.Refusal]
    away: _containers.RepeatedScalarFieldContainer[str]
    lasting: bool
    def __init__(self, refused: _Optional[_Iterable[_Union[AddFlowsResponse.Refusal, _Mapping]]] = ..., away: _Optional[_Iterable[str]] = ..., lasting: _Optional[bool] = ...) -> None: ...

class DeleteFlowRequest(_message.Message):
    __slots__ = ("key",)
    KEY_FIELD_NUMBER: _ClassVar[int]
    key: FlowKey
    def __init__(self, key: _Optional[_Union[FlowKey, _Mapping]] = ...) -> None: ...

class DeleteFlowResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class SetFeaturesRequest(_message.Message):
    __slots__ = ("node", "features", "enabled")
    NODE_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    ENABLED_FIELD_NUMBER: _ClassVar[int]
    node: str
    features: _containers.RepeatedScalarFieldContainer[str]
    enabled: bool
    def __init__(self, node: _Optional[str] = ..., features: _Optional[_Iterable[str]] = ..., enabled: _Optional[bool] = ...) -> None: ...

class SetFeaturesResponse(_message.Message):
    __slots__ = ("written", "features", "lasting")
    WRITTEN_FIELD_NUMBER: _ClassVar[int]
    FEATURES_FIELD_NUMBER: _ClassVar[int]
    LASTING_FIELD_NUMBER: _ClassVar[int]
    written: bool
    features: _containers.RepeatedScalarFieldContainer[str]
    lasting: bool
    def __init__(self, written: _Optional[bool] = ..., features: _Optional[_Iterable[str]] = ..., lasting: _Optional[bool] = ...) -> None: ...

class GetThresholdsRequest(_message.Message):
    __slots__ = ("node",)
    NODE_FIELD_NUMBER: _ClassVar[int]
    node: str
    def __init__(self, node: _Optional[str] = ...) -> None: ...

class GetThresholdsResponse(_message.Message):
    __slots__ = ("queues", "levels", "notification")
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    LEVELS_FIELD_NUMBER: _ClassVar[int]
    NOTIFICATION_FIELD_NUMBER: _ClassVar[int]
    queues: _containers.RepeatedCompositeFieldContainer[QueueThresholds]
    levels: _containers.RepeatedCompositeFieldContainer[LevelPolicy]
    notification: str
    def __init__(self, queues: _Optional[_Iterable[_Union[QueueThresholds, _Mapping]]] = ..., levels: _Optional[_Iterable[_Union[LevelPolicy, _Mapping]]] = ..., notification: _Optional[str] = ...) -> None: ...

class QueueThresholds(_message.Message):
    __slots__ = ("node", "port", "queue", "depths", "unit")
    NODE_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    DEPTHS_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    node: str
    port: int
    queue: int
    depths: _containers.RepeatedScalarFieldContainer[int]
    unit: DepthUnit
    def __init__(self, node: _Optional[str] = ..., port: _Optional[int] = ..., queue: _Optional[int] = ..., depths: _Optional[_Iterable[int]] = ..., unit: _Optional[_Union[DepthUnit, str]] = ...) -> None: ...

class LevelPolicy(_message.Message):
    __slots__ = ("level", "mark", "notify", "interval")
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    MARK_FIELD_NUMBER: _ClassVar[int]
    NOTIFY_FIELD_NUMBER: _ClassVar[int]
    INTERVAL_FIELD_NUMBER: _ClassVar[int]
    level: int
    mark: bool
    notify: bool
    interval: int
    def __init__(self, level: _Optional[int] = ..., mark: _Optional[bool] = ..., notify: _Optional[bool] = ..., interval: _Optional[int] = ...) -> None: ...

class SetThresholdsRequest(_message.Message):
    __slots__ = ("queue",)
    QUEUE_FIELD_NUMBER: _ClassVar[int]
    queue: QueueThresholds
    def __init__(self, queue: _Optional[_Union[QueueThresholds, _Mapping]] = ...) -> None: ...

class SetThresholdsResponse(_message.Message):
    __slots__ = ("written", "lasting")
    WRITTEN_FIELD_NUMBER: _ClassVar[int]
    LASTING_FIELD_NUMBER: _ClassVar[int]
    written: bool
    lasting: bool
    def __init__(self, written: _Optional[bool] = ..., lasting: _Optional[bool] = ...) -> None: ...

class GetCountersRequest(_message.Message):
    __slots__ = ("node", "last")
    NODE_FIELD_NUMBER: _ClassVar[int]
    LAST_FIELD_NUMBER: _ClassVar[int]
    node: str
    last: bool
    def __init__(self, node: _Optional[str] = ..., last: _Optional[bool] = ...) -> None: ...

class GetCountersResponse(_message.Message):
    __slots__ = ("counters", "read")
    class ReadEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    COUNTERS_FIELD_NUMBER: _ClassVar[int]
    READ_FIELD_NUMBER: _ClassVar[int]
    counters: _containers.RepeatedCompositeFieldContainer[Counter]
    read: _containers.ScalarMap[str, float]
    def __init__(self, counters: _Optional[_Iterable[_Union[Counter, _Mapping]]] = ..., read: _Optional[_Mapping[str, float]] = ...) -> None: ...

class Counter(_message.Message):
    __slots__ = ("node", "counter", "name", "packets", "octets")
    NODE_FIELD_NUMBER: _ClassVar[int]
    COUNTER_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PACKETS_FIELD_NUMBER: _ClassVar[int]
    OCTETS_FIELD_NUMBER: _ClassVar[int]
    node: str
    counter: str
    name: str
    packets: int
    octets: int
    def __init__(self, node: _Optional[str] = ..., counter: _Optional[str] = ..., name: _Optional[str] = ..., packets: _Optional[int] = ..., octets: _Optional[int] = ...) -> None: ...

class ListPathsRequest(_message.Message):
    __slots__ = ("node",)
    NODE_FIELD_NUMBER: _ClassVar[int]
    node: str
    def __init__(self, node: _Optional[str] = ...) -> None: ...

class ListPathsResponse(_message.Message):
    __slots__ = ("policies",)
    POLICIES_FIELD_NUMBER: _ClassVar[int]
    policies: _containers.RepeatedCompositeFieldContainer[Policy]
    def __init__(self, policies: _Optional[_Iterable[_Union[Policy, _Mapping]]] = ...) -> None: ...

class Policy(_message.Message):
    __slots__ = ("node", "name", "to", "exposed", "paths")
    NODE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    EXPOSED_FIELD_NUMBER: _ClassVar[int]
    PATHS_FIELD_NUMBER: _ClassVar[int]
    node: str
    name: str
    to: str
    exposed: str
    paths: _containers.RepeatedCompositeFieldContainer[Path]
    def __init__(self, node: _Optional[str] = ..., name: _Optional[str] = ..., to: _Optional[str] = ..., exposed: _Optional[str] = ..., paths: _Optional[_Iterable[_Union[Path, _Mapping]]] = ...) -> None: ...

class Path(_message.Message):
    __slots__ = ("tunnel", "id", "weight", "backup", "computed", "via", "state", "since", "source", "packets", "octets", "rate", "loads", "flowlets")
    TUNNEL_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    WEIGHT_FIELD_NUMBER: _ClassVar[int]
    BACKUP_FIELD_NUMBER: _ClassVar[int]
    COMPUTED_FIELD_NUMBER: _ClassVar[int]
    VIA_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    SOURCE_FIELD_NUMBER: _ClassVar[int]
    PACKETS_FIELD_NUMBER: _ClassVar[int]
    OCTETS_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    LOADS_FIELD_NUMBER: _ClassVar[int]
    FLOWLETS_FIELD_NUMBER: _ClassVar[int]
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
    ID_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    id: int
    report: str
    def __init__(self, id: _Optional[int] = ..., report: _Optional[str] = ...) -> None: ...

class ReportPathResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListLinksRequest(_message.Message):
    __slots__ = ("node",)
    NODE_FIELD_NUMBER: _ClassVar[int]
    node: str
    def __init__(self, node: _Optional[str] = ...) -> None: ...

class ListLinksResponse(_message.Message):
    __slots__ = ("links",)
    LINKS_FIELD_NUMBER: _ClassVar[int]
    links: _containers.RepeatedCompositeFieldContainer[Link]
    def __init__(self, links: _Optional[_Iterable[_Union[Link, _Mapping]]] = ...) -> None: ...

class Link(_message.Message):
    __slots__ = ("node", "port", "peer", "peer_port", "state", "since", "ups", "downs", "rate", "utilization")
    NODE_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    PEER_FIELD_NUMBER: _ClassVar[int]
    PEER_PORT_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    SINCE_FIELD_NUMBER: _ClassVar[int]
    UPS_FIELD_NUMBER: _ClassVar[int]
    DOWNS_FIELD_NUMBER: _ClassVar[int]
    RATE_FIELD_NUMBER: _ClassVar[int]
    UTILIZATION_FIELD_NUMBER: _ClassVar[int]
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
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    QUEUES_FIELD_NUMBER: _ClassVar[int]
    UNTOLD_FIELD_NUMBER: _ClassVar[int]
    queues: _containers.RepeatedCompositeFieldContainer[PortQueue]
    untold: _containers.ScalarMap[str, str]
    def __init__(self, queues: _Optional[_Iterable[_Union[PortQueue, _Mapping]]] = ..., untold: _Optional[_Mapping[str, str]] = ...) -> None: ...

class PortQueue(_message.Message):
    __slots__ = ("node", "port", "packets", "level", "full")
    NODE_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    PACKETS_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    FULL_FIELD_NUMBER: _ClassVar[int]
    node: str
    port: int
    packets: int
    level: int
    full: float
    def __init__(self, node: _Optional[str] = ..., port: _Optional[int] = ..., packets: _Optional[int] = ..., level: _Optional[int] = ..., full: _Optional[float] = ...) -> None: ...

class ConfigRequest(_message.Message):
    __slots__ = ("text", "file")
    TEXT_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    text: str
    file: str
    def __init__(self, text: _Optional[str] = ..., file: _Optional[str] = ...) -> None: ...

class ConfigProblem(_message.Message):
    __slots__ = ("line", "where", "message")
    LINE_FIELD_NUMBER: _ClassVar[int]
    WHERE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    line: int
    where: str
    message: str
    def __init__(self, line: _Optional[int] = ..., where: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class DiffConfigResponse(_message.Message):
    __slots__ = ("problems", "changes")
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    CHANGES_FIELD_NUMBER: _ClassVar[int]
    problems: _containers.RepeatedCompositeFieldContainer[ConfigProblem]
    changes: _containers.RepeatedCompositeFieldContainer[EntryChange]
    def __init__(self, problems: _Optional[_Iterable[_Union[ConfigProblem, _Mapping]]] = ..., changes: _Optional[_Iterable[_Union[EntryChange, _Mapping]]] = ...) -> None: ...

class EntryChange(_message.Message):
    __slots__ = ("node", "change", "table", "match", "before", "after")
    NODE_FIELD_NUMBER: _ClassVar[int]
    CHANGE_FIELD_NUMBER: _ClassVar[int]
    TABLE_FIELD_NUMBER: _ClassVar[int]
    MATCH_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    AFTER_FIELD_NUMBER: _ClassVar[int]
    node: str
    change: str
    table: str
    match: str
    before: str
    after: str
    def __init__(self, node: _Optional[str] = ..., change: _Optional[str] = ..., table: _Optional[str] = ..., match: _Optional[str] = ..., before: _Optional[str] = ..., after: _Optional[str] = ...) -> None: ...

class ApplyConfigResponse(_message.Message):
    __slots__ = ("problems", "nodes", "lasting")
    PROBLEMS_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    LASTING_FIELD_NUMBER: _ClassVar[int]
    problems: _containers.RepeatedCompositeFieldContainer[ConfigProblem]
    nodes: _containers.RepeatedCompositeFieldContainer[AppliedNode]
    lasting: bool
    def __init__(self, problems: _Optional[_Iterable[_Union[ConfigProblem, _Mapping]]] = ..., nodes: _Optional[_Iterable[_Union[AppliedNode, _Mapping]]] = ..., lasting: _Optional[bool] = ...) -> None: ...

class AppliedNode(_message.Message):
    __slots__ = ("name", "added", "removed", "changed", "state")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ADDED_FIELD_NUMBER: _ClassVar[int]
    REMOVED_FIELD_NUMBER: _ClassVar[int]
    CHANGED_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
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
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    TIME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    NODE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
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
    IMAGE_FIELD_NUMBER: _ClassVar[int]
    image: bytes
    def __init__(self, image: _Optional[bytes] = ...) -> None: ...

class FollowConnectionsRequest(_message.Message):
    __slots__ = ("region",)
    REGION_FIELD_NUMBER: _ClassVar[int]
    region: str
    def __init__(self, region: _Optional[str] = ...) -> None: ...

class FollowConnectionsResponse(_message.Message):
    __slots__ = ("messages",)
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    messages: _containers.RepeatedCompositeFieldContainer[ConnectionMessage]
    def __init__(self, messages: _Optional[_Iterable[_Union[ConnectionMessage, _Mapping]]] = ...) -> None: ...

class ConnectionMessage(_message.Message):
    __slots__ = ("node", "port", "vrf", "src", "dst", "attribute", "local_comm_id", "remote_comm_id", "qpn")
    NODE_FIELD_NUMBER: _ClassVar[int]
    PORT_FIELD_NUMBER: _ClassVar[int]
    VRF_FIELD_NUMBER: _ClassVar[int]
    SRC_FIELD_NUMBER: _ClassVar[int]
    DST_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTE_FIELD_NUMBER: _ClassVar[int]
    LOCAL_COMM_ID_FIELD_NUMBER: _ClassVar[int]
    REMOTE_COMM_ID_FIELD_NUMBER: _ClassVar[int]
    QPN_FIELD_NUMBER: _ClassVar[int]
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
