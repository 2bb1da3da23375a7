"""The entries one switch should hold, those it holds, and the updates for the difference.

Owners put and drop entries at any time, also while the switch is disconnected. The updates are
taken in batches in the order of the changes, so that an entry is written before those that refer
to it.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from finsy import P4Schema
from finsy.grpcutil import GRPCStatusCode
from finsy.p4entity import P4Entity
from finsy.proto import p4r

Key = bytes
"""Identifies an entity on a switch: its encoding without action, configuration or members."""

MAX_ATTEMPTS = 3

_UNKNOWN = b"?"
"""The switch holds the entity with an unknown value."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An update the switch did not accept."""

    update: p4r.Update
    code: GRPCStatusCode
    message: str


def entity_key(entity: p4r.Entity) -> Key:
    """The key of an entity, independent of the order of its match fields.

    Raises ValueError for a kind of entity the controller does not write.
    """
    key = p4r.Entity()
    kind = entity.WhichOneof("entity")
    match kind:
        case "table_entry":
            entry = entity.table_entry
            key.table_entry.table_id = entry.table_id
            key.table_entry.is_default_action = entry.is_default_action
            key.table_entry.priority = entry.priority
            key.table_entry.match.extend(sorted(entry.match, key=lambda match: match.field_id))
        case "packet_replication_engine_entry":
            replication = entity.packet_replication_engine_entry
            to = key.packet_replication_engine_entry
            if replication.HasField("clone_session_entry"):
                to.clone_session_entry.session_id = replication.clone_session_entry.session_id
            else:
                group = replication.multicast_group_entry.multicast_group_id
                to.multicast_group_entry.multicast_group_id = group
        case "digest_entry":
            key.digest_entry.digest_id = entity.digest_entry.digest_id
        case "meter_entry":
            key.meter_entry.meter_id = entity.meter_entry.meter_id
            key.meter_entry.index.index = entity.meter_entry.index.index
        case "value_set_entry":
            key.value_set_entry.value_set_id = entity.value_set_entry.value_set_id
        case _:
            raise ValueError(f"{kind} is not an entity the controller writes")
    return key.SerializeToString(deterministic=True)


def entity_value(entity: p4r.Entity) -> bytes:
    """The value of an entity, in a form that is equal when written and when read back."""
    match entity.WhichOneof("entity"):
        case "table_entry":
            entry = entity.table_entry
            value = p4r.TableEntry(action=entry.action, metadata=entry.metadata)
            # BMv2 counts idle timeouts in milliseconds.
            value.idle_timeout_ns = entry.idle_timeout_ns // 1_000_000 * 1_000_000
            _sort_action(value.action)
            return value.SerializeToString(deterministic=True)
        case "packet_replication_engine_entry":
            session = entity.packet_replication_engine_entry.clone_session_entry
            return repr([(_replica_port(r), r.instance) for r in session.replicas]).encode()
        case "digest_entry":
            return entity.digest_entry.config.SerializeToString(deterministic=True)
        case "value_set_entry":
            members = entity.value_set_entry.members
            return repr(sorted(member.SerializeToString() for member in members)).encode()
        case _:
            return entity.meter_entry.config.SerializeToString(deterministic=True)


def _sort_action(action: p4r.TableAction) -> None:
    if action.HasField("action"):
        _sort_params(action.action)
        return
    members = action.action_profile_action_set.action_profile_actions
    for member in members:
        _sort_params(member.action)
    members.sort(key=lambda member: member.SerializeToString(deterministic=True))


def _sort_params(action: p4r.Action) -> None:
    action.params.sort(key=lambda param: param.param_id)


def _replica_port(replica: p4r.Replica) -> int:
    return int.from_bytes(replica.port, "big") or replica.egress_port


def _modify_only(entity: p4r.Entity) -> bool:
    return (
        entity.HasField("meter_entry")
        or entity.HasField("value_set_entry")
        or entity.table_entry.is_default_action
    )


class Intent:
    """The intended entries of one switch. Not thread-safe: for use in the event loop.

    `changed` is set on every change; the writer of the updates clears it.
    """

    def __init__(self, schema: P4Schema) -> None:
        self._schema = schema
        self.changed = asyncio.Event()
        self._wanted: dict[Key, p4r.Entity] = {}
        self._values: dict[Key, bytes] = {}
        self._held: dict[Key, tuple[bytes, p4r.Entity]] = {}
        self._dirty: dict[Key, int] = {}
        self._refused: dict[Key, GRPCStatusCode] = {}

    def __len__(self) -> int:
        """Entries intended."""
        return len(self._wanted)

    @property
    def pending(self) -> int:
        """Entries that differ, or may differ, from those of the switch."""
        return len(self._dirty)

    def put(self, entity: P4Entity) -> None:
        """Intend this entity, in place of any with the same key."""
        message = entity.encode(self._schema)
        key = entity_key(message)
        value = entity_value(message)
        if self._values.get(key) == value:
            return
        self._wanted[key] = message
        self._values[key] = value
        self._mark(key)

    def drop(self, entity: P4Entity) -> None:
        """Stop intending an entity with this key."""
        key = entity_key(entity.encode(self._schema))
        if self._wanted.pop(key, None) is not None:
            del self._values[key]
            self._mark(key)

    def holds(self, entity: P4Entity) -> bool:
        """Whether an entity with this key is intended."""
        return entity_key(entity.encode(self._schema)) in self._wanted

    def replace_table(self, table: str, entities: Iterable[P4Entity]) -> None:
        """Intend exactly these entries in a table."""
        table_id = self._schema.tables[table].id
        messages = [entity.encode(self._schema) for entity in entities]
        keep = {entity_key(message) for message in messages}
        for key, message in list(self._wanted.items()):
            if message.table_entry.table_id == table_id and key not in keep:
                del self._wanted[key], self._values[key]
                self._mark(key)
        for entity in entities:
            self.put(entity)

    def observe(self, entities: Iterable[p4r.Entity]) -> None:
        """Set all entities the switch holds, and compare them with the intent."""
        self._held = {entity_key(entity): (entity_value(entity), entity) for entity in entities}
        self._dirty = {}
        self._refused = {}
        for key in (*self._wanted, *(key for key in self._held if key not in self._wanted)):
            if self._needs_update(key):
                self._dirty[key] = 0

    def take_updates(self, limit: int) -> list[p4r.Update]:
        """The next updates, at most `limit`; pass their results to `settle`."""
        updates: list[p4r.Update] = []
        for key in list(self._dirty):
            if len(updates) == limit:
                break
            update = self._update(key)
            if update is None:
                del self._dirty[key]
            else:
                updates.append(update)
        return updates

    def settle(
        self, updates: list[p4r.Update], failures: dict[int, tuple[GRPCStatusCode, str]]
    ) -> list[Refusal]:
        """Note what the switch accepted; `failures` are by index. Returns what it will not take,
        each only once for the same reason."""
        refused: list[Refusal] = []
        for index, update in enumerate(updates):
            key = entity_key(update.entity)
            failure = failures.get(index)
            if failure is None:
                self._accepted(key, update)
            elif not self._retry(key, update, failure[0]):
                self._dirty.pop(key, None)
                if self._refused.get(key) != failure[0]:
                    refused.append(Refusal(update, *failure))
                self._refused[key] = failure[0]
        return refused

    def retry_refused(self) -> None:
        """What the switch would not take is due again: the reason may be gone."""
        for key in list(self._refused):
            if self._needs_update(key):
                self._dirty.setdefault(key, 0)
            else:
                del self._refused[key]

    def _accepted(self, key: Key, update: p4r.Update) -> None:
        if update.type == p4r.Update.DELETE:
            self._held.pop(key, None)
        else:
            self._held[key] = (entity_value(update.entity), update.entity)
        self._refused.pop(key, None)
        if not self._needs_update(key):
            self._dirty.pop(key, None)

    def _retry(self, key: Key, update: p4r.Update, code: GRPCStatusCode) -> bool:
        """Whether to retry: the switch held another entry than assumed, which is now corrected."""
        attempts = self._dirty.get(key, 0) + 1
        if attempts >= MAX_ATTEMPTS:
            return False
        if code == GRPCStatusCode.ALREADY_EXISTS and update.type == p4r.Update.INSERT:
            self._held[key] = (_UNKNOWN, update.entity)
        elif code == GRPCStatusCode.NOT_FOUND and update.type != p4r.Update.INSERT:
            self._held.pop(key, None)
        else:
            return False
        self._dirty[key] = attempts
        if not self._needs_update(key):
            del self._dirty[key]
        return True

    def _mark(self, key: Key) -> None:
        # Re-insertion keeps the order of the changes.
        self._dirty.pop(key, None)
        self._dirty[key] = 0
        self._refused.pop(key, None)
        self.changed.set()

    def _needs_update(self, key: Key) -> bool:
        held = self._held.get(key)
        return self._values.get(key) != (held[0] if held else None)

    def _update(self, key: Key) -> p4r.Update | None:
        wanted, held = self._wanted.get(key), self._held.get(key)
        if not self._needs_update(key):
            return None
        if wanted is None:
            assert held is not None
            if _modify_only(held[1]):
                return None
            entity = p4r.Entity()
            entity.ParseFromString(key)
            return p4r.Update(type=p4r.Update.DELETE, entity=entity)
        modify = held is not None or _modify_only(wanted)
        return p4r.Update(type=p4r.Update.MODIFY if modify else p4r.Update.INSERT, entity=wanted)
