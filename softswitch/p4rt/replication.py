"""PacketReplicationEngineEntry: multicast groups and clone sessions."""

from collections.abc import Iterable, Iterator

from finsy.proto import p4r

from fcn.softswitch.api import Engine, Replica
from fcn.softswitch.p4rt.errors import already_exists, invalid_argument, not_found, unimplemented
from fcn.softswitch.p4rt.values import decode_uint, encode_uint

# Widths of egress_port, egress_rid, mcast_grp and priority in v1model's standard_metadata_t; a
# clone session is an index of BMv2's mirroring table.
_PORT_BITS = 9
_MAX_INSTANCE = (1 << 16) - 1
_MAX_GROUP = (1 << 16) - 1
_MAX_SESSION = (1 << 15) - 1
_MAX_CLASS = 7


class ReplicationStore:
    """Multicast groups and clone sessions of a pipeline, kept as written."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._groups: dict[int, p4r.MulticastGroupEntry] = {}
        self._sessions: dict[int, p4r.CloneSessionEntry] = {}

    def write(self, kind: int, message: p4r.PacketReplicationEngineEntry) -> None:
        """INSERT, MODIFY or DELETE a group or a session."""
        match message.WhichOneof("type"):
            case "multicast_group_entry":
                self._write_group(kind, message.multicast_group_entry)
            case "clone_session_entry":
                self._write_session(kind, message.clone_session_entry)
            case _:
                raise invalid_argument("packet replication entry without a type")

    def read(
        self, query: p4r.PacketReplicationEngineEntry
    ) -> Iterator[p4r.PacketReplicationEngineEntry]:
        """A group or session, or all when its identifier is 0; both kinds without a type."""
        kind = query.WhichOneof("type")
        if kind in (None, "multicast_group_entry"):
            number = query.multicast_group_entry.multicast_group_id
            for group_id, group in self._groups.items():
                if number in (0, group_id):
                    yield p4r.PacketReplicationEngineEntry(multicast_group_entry=group)
        if kind in (None, "clone_session_entry"):
            number = query.clone_session_entry.session_id
            for session_id, session in self._sessions.items():
                if number in (0, session_id):
                    yield p4r.PacketReplicationEngineEntry(clone_session_entry=session)

    def _write_group(self, kind: int, message: p4r.MulticastGroupEntry) -> None:
        number = message.multicast_group_id
        _check_write(kind, "multicast group", number, number in self._groups, _MAX_GROUP)
        if kind == p4r.Update.DELETE:
            self._engine.multicast_group_delete(number)
            del self._groups[number]
            return
        replicas = _decode_replicas(message.replicas)
        if len(set(replicas)) != len(replicas):
            raise invalid_argument(f"multicast group {number} has equal replicas")
        self._engine.multicast_group_set(number, replicas)
        self._groups[number] = p4r.MulticastGroupEntry(
            multicast_group_id=number,
            replicas=_canonical(message.replicas),
            metadata=message.metadata,
        )

    def _write_session(self, kind: int, message: p4r.CloneSessionEntry) -> None:
        number = message.session_id
        _check_write(kind, "clone session", number, number in self._sessions, _MAX_SESSION)
        if kind == p4r.Update.DELETE:
            self._engine.clone_session_delete(number)
            del self._sessions[number]
            return
        if message.packet_length_bytes < 0:
            raise invalid_argument(f"clone session {number}: packet_length_bytes is negative")
        if message.class_of_service > _MAX_CLASS:
            raise invalid_argument(f"clone session {number}: class_of_service exceeds {_MAX_CLASS}")
        self._engine.clone_session_set(
            number,
            _decode_replicas(message.replicas),
            message.class_of_service,
            message.packet_length_bytes,
        )
        self._sessions[number] = p4r.CloneSessionEntry(
            session_id=number,
            replicas=_canonical(message.replicas),
            class_of_service=message.class_of_service,
            packet_length_bytes=message.packet_length_bytes,
        )


def _check_write(kind: int, what: str, number: int, exists: bool, maximum: int) -> None:
    if not 0 < number <= maximum:
        raise invalid_argument(f"{what} {number} is not within 1..{maximum}")
    if kind == p4r.Update.INSERT and exists:
        raise already_exists(f"{what} {number} exists")
    if kind != p4r.Update.INSERT and not exists:
        raise not_found(f"there is no {what} {number}")


def _decode_replicas(messages: Iterable[p4r.Replica]) -> tuple[Replica, ...]:
    replicas = []
    for message in messages:
        match message.WhichOneof("port_kind"):
            case "port":
                port = decode_uint(message.port, _PORT_BITS, "replica port")
            case "egress_port":
                port = message.egress_port
            case None:
                raise invalid_argument("a replica needs a port")
        if port >> _PORT_BITS:
            raise invalid_argument(f"replica port {port} does not fit bit<{_PORT_BITS}>")
        if message.instance > _MAX_INSTANCE:
            raise invalid_argument(f"replica instance {message.instance} exceeds {_MAX_INSTANCE}")
        if message.backup_replicas:
            raise unimplemented("backup replicas are not supported")
        replicas.append(Replica(port, message.instance))
    return tuple(replicas)


def _canonical(messages: Iterable[p4r.Replica]) -> list[p4r.Replica]:
    """Replicas with shortest port strings; the deprecated egress_port stays where it was used."""
    return [
        p4r.Replica(egress_port=message.egress_port, instance=message.instance)
        if message.WhichOneof("port_kind") == "egress_port"
        else p4r.Replica(
            port=encode_uint(int.from_bytes(message.port, "big")), instance=message.instance
        )
        for message in messages
    ]
