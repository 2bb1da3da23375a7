"""The entries one switch should hold, those it holds, and the updates for the difference.

Owners put and drop entries at any time, also while the switch is disconnected. The updates are
taken in batches in the order of the changes, so that an entry is written before those that refer
to it. Entries that concern one tenant only are queued per tenant, who take turns: a tenant's
changes wait for its own.
"""

import asyncio
import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self

from finsy import P4Schema
from finsy.grpcutil import GRPCStatusCode
from finsy.p4entity import P4Entity
from finsy.proto import p4r

from fcn.contract.exact import Encoded, kept_timeout, sized

Key = bytes
"""Identifies an entity on a switch: its encoding without action, configuration or members."""

MAX_ATTEMPTS = 3

TURN = 8
"""Updates of one share in a batch before those of the next: both entries of some flows."""

_INSERT, _MODIFY, _DELETE = p4r.Update.INSERT, p4r.Update.MODIFY, p4r.Update.DELETE
"""By these names, because it takes protobuf a microsecond to find one."""

_UPDATES: dict[int, bytes] = {kind: b"\x08%c" % kind for kind in (_INSERT, _MODIFY, _DELETE)}
"""Update.type, encoded."""

_OF = b"\x12"
"""Tag of Update.entity."""

_UNKNOWN = b"?"
"""The switch holds the entity with an unknown value."""


class Update(NamedTuple):
    """An update; octets: its entity, encoded, as there are hundreds of thousands."""

    type: int
    octets: bytes

    @property
    def entity(self) -> p4r.Entity:
        return p4r.Entity.FromString(self.octets)

    @property
    def kind(self) -> str:
        name: str = p4r.Update.Type.Name(self.type)  # type: ignore[arg-type]
        return name

    def encode(self) -> bytes:
        """As P4Runtime's message."""
        return _UPDATES[self.type] + sized(_OF, self.octets)


class Change(NamedTuple):
    """What becomes of an entity; before, after: encoded, None where there is none."""

    key: Key
    before: bytes | None
    after: bytes | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """An update the switch did not accept."""

    update: Update
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
            kept = p4r.TableEntry(action=entry.action, metadata=entry.metadata)
            kept.idle_timeout_ns = kept_timeout(entry.idle_timeout_ns)
            _sort_action(kept.action)
            return p4r.Entity(table_entry=kept).SerializeToString(deterministic=True)
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
        self.schema = schema
        self.changed = asyncio.Event()
        self._wanted: dict[Key, bytes] = {}
        self._encoded: dict[Key, bytes] = {}
        """Of entries that were put as encoded, until the switch holds them: a PE has hundreds of
        thousands, and whoever put them knows them."""
        self._entities: dict[Key, bytes] = {}
        """Encodings of wanted entities that are not key and value together."""
        self._other: dict[Key, bytes | None] = {}
        """What the switch holds where that is not what is wanted; None: nothing."""
        self._dirty: dict[Key, str] = {}
        """The shares of entities that differ, or may differ."""
        self._waiting: dict[str, dict[Key, int]] = {}
        """Keys of `_dirty` by share, in the order of the changes, with the attempts that failed;
        whose turn is next is first."""
        self._taken: deque[list[tuple[Key, bytes | None]]] = deque()
        """Keys and values of updates that are not settled, those taken first before others."""
        self._refused: dict[Key, tuple[GRPCStatusCode, str]] = {}
        """Why, and the share."""

    def __len__(self) -> int:
        """Entries intended, without those that were put as encoded."""
        return len(self._wanted)

    @property
    def pending(self) -> int:
        """Entries that differ, or may differ, from those of the switch."""
        return len(self._dirty)

    @property
    def shares_wait(self) -> bool:
        """Whether a tenant waits for any of them."""
        return len(self._waiting) > ("" in self._waiting)

    @property
    def common_waits(self) -> bool:
        """Whether any of them is of all tenants: others may refer to it."""
        return "" in self._waiting

    def count(self, table: str) -> int:
        """Entries intended of a table."""
        number = self.schema.tables[table].id
        return sum(_table_of(key) == number for key in self._wanted)

    @property
    def refused(self) -> frozenset[Key]:
        """Keys of what the switch will not take."""
        return frozenset(self._refused)

    def digest(self) -> bytes:
        """The same for two intents of the same entities, which are those that `__len__` counts."""
        found = hashlib.sha256()
        for key, wanted in sorted(self._wanted.items()):
            for part in (key, wanted):
                found.update(len(part).to_bytes(4) + part)
        return found.digest()

    def changes(self, other: Self) -> Iterator[Change]:
        """What another intent has of other entities than this one, of those `__len__` counts."""
        for key in other._wanted:
            if self._value(key) != other._value(key):
                yield Change(key, self._entity(key), other._entity(key))
        for key in self._wanted:
            if key not in other._wanted:
                yield Change(key, self._entity(key), None)

    def put(self, entity: P4Entity) -> None:
        """Intend this entity, in place of any with the same key."""
        message = entity.encode(self.schema)
        self._put(entity_key(message), message)

    def _put(self, key: Key, message: p4r.Entity) -> None:
        value = entity_value(message)
        if not message.HasField("table_entry"):
            self._entities[key] = message.SerializeToString()
        if self._value(key) != value:
            held = self._held(key)
            self._wanted[key] = value
            self._hold(key, held)
            self._mark(key, "")

    def put_encoded(self, encoded: Encoded, share: str = "", *, again: bool = False) -> None:
        """Intend this entry of a table, no default one; `share`: the tenant it concerns, if it
        concerns one only; again: one with this key was put before, and may be another."""
        key, value = encoded
        if self._encoded.get(key) == value:
            return
        held = self._other.get(key, _UNKNOWN if again else None)
        self._other[key], self._encoded[key] = held, value
        if held == value and key not in self._dirty:
            self._hold(key, held)
        else:
            self._mark(key, share)

    def drop_encoded(self, key: Key, share: str) -> None:
        """Stop intending what was put as encoded; `share`: the tenant who gets its place, and whose
        turn it is then, or who had it."""
        held = self._other.get(key, _UNKNOWN)
        self._encoded.pop(key, None)
        self._hold(key, held)
        self._mark(key, share)

    def _value(self, key: Key) -> bytes | None:
        found = self._wanted.get(key)
        return self._encoded.get(key) if found is None else found

    def _entity(self, key: Key) -> bytes | None:
        """What is wanted, encoded."""
        value = self._value(key)
        return self._whole(key, value) if value is not None else None

    def _whole(self, key: Key, value: bytes) -> bytes:
        """Messages encoded one after the other are one with the fields of both."""
        return self._entities.get(key) or key + value

    def _held(self, key: Key) -> bytes | None:
        return self._other[key] if key in self._other else self._value(key)

    def _hold(self, key: Key, held: bytes | None) -> None:
        if held == self._value(key):
            self._other.pop(key, None)
            self._encoded.pop(key, None)
        else:
            self._other[key] = held

    def drop(self, entity: P4Entity) -> None:
        """Stop intending an entity with this key."""
        self.drop_key(entity_key(entity.encode(self.schema)))

    def drop_key(self, key: Key) -> None:
        """Stop intending an entity with this key."""
        if key in self._wanted:
            held = self._held(key)
            del self._wanted[key]
            self._entities.pop(key, None)
            self._hold(key, held)
            self._mark(key, "")

    def holds(self, entity: P4Entity) -> bool:
        """Whether an entity with this key is intended."""
        return entity_key(entity.encode(self.schema)) in self._wanted

    def replace_table(self, table: str, entities: Iterable[P4Entity]) -> None:
        """Intend exactly these entries in a table."""
        table_id = self.schema.tables[table].id
        messages = [entity.encode(self.schema) for entity in entities]
        keep = {entity_key(message): message for message in messages}
        for key in list(self._wanted):
            if _table_of(key) == table_id and key not in keep:
                self.drop_key(key)
        for key, message in keep.items():
            self._put(key, message)

    def observe(self, held: dict[Key, bytes]) -> None:
        """Compare the intent with the entities the switch holds, as `entity_key` and
        `entity_value`, of which what is not intended is left in `held`.

        Entries that are put as encoded are put anew afterwards, and `hold` says what the switch
        holds of them."""
        self._other, self._dirty, self._waiting, self._refused = {}, {}, {}, {}
        self._taken.clear()
        self._encoded = {}
        for key in self._wanted:
            self._hold(key, held.pop(key, None))
            if key in self._other:
                self._queue(key, "")
        for encoded in held.items():
            self.hold(*encoded)

    def hold(self, key: Key, value: bytes) -> None:
        """The switch was found to hold this, after `observe`, while nothing is written."""
        self._clean(key)
        self._hold(key, value)
        if key in self._other:
            self._queue(key, "")

    def take_updates(self, limit: int, *, beside: bool = False) -> list[Update]:
        """The next updates, at most `limit`; pass their results to `settle`. Those that were taken
        before are on their way, and are settled before these; not `beside`: are forgotten."""
        if not beside:
            self._taken.clear()
        on_way = {key for taken in self._taken for key, _ in taken}
        updates, taken = list[Update](), list[tuple[Key, bytes | None]]()
        needless: list[Key] = []
        for key in self._in_turn():
            if key in on_way:
                continue
            value = self._value(key)
            update = self._update(key, value)
            if update is None:
                needless.append(key)
            else:
                updates.append(update)
                taken.append((key, value))
            if len(updates) == limit:
                # Before it would be the next one's turn.
                break
        for key in needless:
            self._clean(key)
        self._taken.append(taken)
        return updates

    def settle(
        self, updates: list[Update], failures: dict[int, tuple[GRPCStatusCode, str]]
    ) -> list[Refusal]:
        """Note what the switch accepted of the updates taken first; `failures` are by index.
        Returns what it will not take, each only once for the same reason."""
        refused, taken = list[Refusal](), self._taken.popleft()
        for index, (update, (key, value)) in enumerate(zip(updates, taken, strict=True)):
            failure = failures.get(index)
            if failure is None:
                self._accepted(key, value)
            elif not self._retry(key, update, failure[0]):
                code, (before, _) = failure[0], self._refused.get(key, (None, ""))
                if before != code:
                    refused.append(Refusal(update, *failure))
                self._refused[key] = code, self._dirty.get(key, "")
                self._clean(key)
        if not self._dirty:
            # A dictionary that was emptied keeps its room.
            self._dirty, self._encoded = {}, dict(self._encoded)
            self._other = dict(self._other)
        return refused

    def retry_refused(self) -> None:
        """What the switch would not take is due again: the reason may be gone."""
        for key, (_, share) in list(self._refused.items()):
            if key not in self._other:
                del self._refused[key]
            elif key not in self._dirty:
                self._queue(key, share)

    def _in_turn(self) -> Iterator[Key]:
        """Keys that are due, TURN of each share at a time; whoever had a turn is last next time."""
        turns = deque((share, iter(keys)) for share, keys in self._waiting.items())
        while turns:
            share, keys = turns.popleft()
            self._waiting[share] = self._waiting.pop(share)
            for _ in range(TURN):
                key = next(keys, None)
                if key is None:
                    break
                yield key
            else:
                turns.append((share, keys))

    def _accepted(self, key: Key, value: bytes | None) -> None:
        self._hold(key, value)
        self._refused.pop(key, None)
        if key not in self._other:
            self._clean(key)

    def _retry(self, key: Key, update: Update, code: GRPCStatusCode) -> bool:
        """Whether to retry: the switch held another entry than assumed, which is now corrected."""
        share = self._dirty.get(key)
        if share is None or self._waiting[share][key] + 1 >= MAX_ATTEMPTS:
            return False
        if code == GRPCStatusCode.ALREADY_EXISTS and update.type == p4r.Update.INSERT:
            self._hold(key, _UNKNOWN)
        elif code == GRPCStatusCode.NOT_FOUND and update.type != p4r.Update.INSERT:
            self._hold(key, None)
        else:
            return False
        self._waiting[share][key] += 1
        if key not in self._other:
            self._clean(key)
        return True

    def _mark(self, key: Key, share: str) -> None:
        # Re-insertion keeps the order of the changes.
        if key in self._dirty:
            self._clean(key)
        self._queue(key, share)
        if self._refused:
            self._refused.pop(key, None)
        self.changed.set()

    def _queue(self, key: Key, share: str) -> None:
        self._dirty[key] = share
        waiting = self._waiting.get(share)
        if waiting is None:
            waiting = self._waiting[share] = {}
        waiting[key] = 0

    def _clean(self, key: Key) -> None:
        share = self._dirty.pop(key, None)
        if share is not None:
            waiting = self._waiting[share]
            del waiting[key]
            if not waiting:
                del self._waiting[share]

    def _update(self, key: Key, value: bytes | None) -> Update | None:
        if key not in self._other:
            return None
        if value is not None:
            is_new = self._other[key] is None and (
                key in self._encoded or not _modify_only(p4r.Entity.FromString(key))
            )
            return Update(_INSERT if is_new else _MODIFY, self._whole(key, value))
        entity = p4r.Entity.FromString(key)
        if entity.HasField("meter_entry"):
            # Without a configuration it is reset (P4Runtime 1.3 section 9.4).
            return Update(_MODIFY, key)
        return None if _modify_only(entity) else Update(_DELETE, key)


def _table_of(key: Key) -> int:
    """The number of the table of an entry; 0 for other entities."""
    return p4r.Entity.FromString(key).table_entry.table_id
