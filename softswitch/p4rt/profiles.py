"""ActionProfileMember and ActionProfileGroup, and one-shot action sets built from them.

A selector is programmed either with members and groups or with one-shot sets, never both
(P4Runtime 1.4, One Shot Action Selector Programming). One-shot sets become members and groups of
the engine with internal identifiers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from finsy.proto import p4r

from fcn.softswitch.api import ActionCall, Engine, EngineError, GroupMember, GroupRef, MemberRef
from fcn.softswitch.p4rt.actions import decode_action, encode_action
from fcn.softswitch.p4rt.errors import (
    already_exists,
    failed_precondition,
    invalid_argument,
    not_found,
    resource_exhausted,
    unimplemented,
)
from fcn.softswitch.p4rt.schema import Profile, Schema
from fcn.softswitch.p4rt.values import encode_uint


@dataclass(slots=True)
class _Member:
    call: ActionCall
    users: int = 0


@dataclass(slots=True)
class _Group:
    members: tuple[GroupMember, ...]
    max_size: int
    entries: int = 0


@dataclass(frozen=True, slots=True)
class OneShot:
    """The engine's objects behind a one-shot action set, and the set as the client wrote it."""

    group_id: int
    member_ids: tuple[int, ...]
    message: p4r.ActionProfileActionSet
    size: int


@dataclass(slots=True)
class _State:
    profile: Profile
    members: dict[int, _Member] = field(default_factory=dict)
    groups: dict[int, _Group] = field(default_factory=dict)
    one_shots: set[int] = field(default_factory=set)
    used: int = 0


class ProfileStore:
    """All action profiles of a pipeline."""

    def __init__(self, schema: Schema, engine: Engine) -> None:
        self._schema = schema
        self._engine = engine
        self._states = {p.id: _State(p) for p in schema.profiles.values()}
        self._one_shot_ids = count(1)

    def write_member(self, kind: int, message: p4r.ActionProfileMember) -> None:
        """INSERT, MODIFY or DELETE a member."""
        state = self._state(message.action_profile_id)
        name, number = state.profile.name, message.member_id
        if number == 0:
            raise invalid_argument(f"{name}: member_id must not be 0")
        member = state.members.get(number)
        if kind == p4r.Update.INSERT:
            self._refuse_one_shot(state)
            if member is not None:
                raise already_exists(f"{name}: member {number} exists")
            call = self._call(state.profile, message)
            if not state.profile.selector and 0 < state.profile.size <= len(state.members):
                raise resource_exhausted(f"{name} is full ({state.profile.size} members)")
            self._engine.member_insert(name, number, call)
            state.members[number] = _Member(call)
            return
        if member is None:
            raise not_found(f"{name}: there is no member {number}")
        if kind == p4r.Update.MODIFY:
            call = self._call(state.profile, message)
            self._engine.member_modify(name, number, call)
            member.call = call
            return
        if member.users:
            raise failed_precondition(
                f"{name}: member {number} is still used by {member.users} groups or entries"
            )
        self._engine.member_delete(name, number)
        del state.members[number]

    def write_group(self, kind: int, message: p4r.ActionProfileGroup) -> None:
        """INSERT, MODIFY or DELETE a group."""
        state = self._state(message.action_profile_id)
        name, number = state.profile.name, message.group_id
        if not state.profile.selector:
            raise invalid_argument(f"{name} has no selector, so it has no groups")
        if number == 0:
            raise invalid_argument(f"{name}: group_id must not be 0")
        group = state.groups.get(number)
        if kind == p4r.Update.INSERT:
            self._refuse_one_shot(state)
            if group is not None:
                raise already_exists(f"{name}: group {number} exists")
            self._set_group(
                state, number, _Group((), self._max_size(state.profile, message)), message
            )
            return
        if group is None:
            raise not_found(f"{name}: there is no group {number}")
        if kind == p4r.Update.MODIFY:
            if message.max_size != group.max_size:
                raise invalid_argument(
                    f"{name}: max_size of group {number} was {group.max_size} and cannot change"
                )
            self._set_group(state, number, group, message)
            return
        if group.entries:
            raise failed_precondition(
                f"{name}: group {number} is still used by {group.entries} table entries"
            )
        self._engine.group_delete(name, number)
        state.used -= _size(state.profile, group.members)
        self._count_users(state, group.members, -1)
        del state.groups[number]

    def read_members(self, query: p4r.ActionProfileMember) -> Iterator[p4r.ActionProfileMember]:
        """Members of a profile or, with identifiers 0, of all."""
        for state in self._selected(query.action_profile_id):
            for number, member in state.members.items():
                if query.member_id in (0, number):
                    yield p4r.ActionProfileMember(
                        action_profile_id=state.profile.id,
                        member_id=number,
                        action=encode_action(self._schema.action_names, member.call),
                    )

    def read_groups(self, query: p4r.ActionProfileGroup) -> Iterator[p4r.ActionProfileGroup]:
        """Groups of a profile or, with identifiers 0, of all."""
        for state in self._selected(query.action_profile_id):
            for number, group in state.groups.items():
                if query.group_id in (0, number):
                    yield p4r.ActionProfileGroup(
                        action_profile_id=state.profile.id,
                        group_id=number,
                        max_size=group.max_size,
                        members=[_member_message(member) for member in group.members],
                    )

    def use_member(self, profile_id: int, member_id: int) -> MemberRef:
        """Count a table entry that refers to a member; NOT_FOUND without it."""
        state = self._state(profile_id)
        self._refuse_one_shot(state)
        if member_id not in state.members:
            raise not_found(f"{state.profile.name}: there is no member {member_id}")
        state.members[member_id].users += 1
        return MemberRef(member_id)

    def use_group(self, profile_id: int, group_id: int) -> GroupRef:
        """Count a table entry that refers to a group; NOT_FOUND without it."""
        state = self._state(profile_id)
        if not state.profile.selector:
            raise invalid_argument(f"{state.profile.name} has no selector, so it has no groups")
        self._refuse_one_shot(state)
        if group_id not in state.groups:
            raise not_found(f"{state.profile.name}: there is no group {group_id}")
        state.groups[group_id].entries += 1
        return GroupRef(group_id)

    def release(self, profile_id: int, ref: MemberRef | GroupRef) -> None:
        """Forget a reference counted by use_member or use_group."""
        state = self._states[profile_id]
        if isinstance(ref, MemberRef):
            state.members[ref.member_id].users -= 1
        else:
            state.groups[ref.group_id].entries -= 1

    def create_one_shot(
        self, profile_id: int, calls: Sequence[ActionCall], message: p4r.ActionProfileActionSet
    ) -> OneShot:
        """Make the members and the group of a one-shot set; all or nothing."""
        state = self._state(profile_id)
        profile = state.profile
        if not profile.selector:
            raise invalid_argument(f"{profile.name} has no selector, so no one-shot action sets")
        if state.members or state.groups:
            raise invalid_argument(
                f"{profile.name} is programmed with members and groups; delete them before "
                "using one-shot action sets"
            )
        if message.action_selection_mode or message.size_semantics:
            raise unimplemented("action selection mode and size semantics cannot be chosen")
        weights = [(a.weight, self._watch_port(a)) for a in message.action_profile_actions]
        size = self._check_one_shot(state, [GroupMember(0, *weight) for weight in weights])
        # As in BMv2, an action of weight n is n consecutive members: a hash selects the same member
        # on both switches.
        copies = [
            (call, port)
            for call, (weight, port) in zip(calls, weights, strict=True)
            for _ in range(weight)
        ]
        numbers = tuple(next(self._one_shot_ids) for _ in copies)
        members = tuple(
            GroupMember(number, watch_port=port)
            for number, (_, port) in zip(numbers, copies, strict=True)
        )
        inserted: list[int] = []
        group_id = next(self._one_shot_ids)
        try:
            for number, (call, _) in zip(numbers, copies, strict=True):
                self._engine.member_insert(profile.name, number, call)
                inserted.append(number)
            self._engine.group_set(profile.name, group_id, members)
        except EngineError:
            for number in inserted:
                self._engine.member_delete(profile.name, number)
            raise
        state.one_shots.add(group_id)
        state.used += size
        return OneShot(group_id, numbers, message, size)

    def delete_one_shot(self, profile_id: int, one_shot: OneShot) -> None:
        """Undo create_one_shot once no entry refers to the group."""
        state = self._states[profile_id]
        self._engine.group_delete(state.profile.name, one_shot.group_id)
        for number in one_shot.member_ids:
            self._engine.member_delete(state.profile.name, number)
        state.one_shots.discard(one_shot.group_id)
        state.used -= one_shot.size

    def _state(self, profile_id: int) -> _State:
        state = self._states.get(profile_id)
        if state is None:
            raise invalid_argument(f"there is no action profile {profile_id:#x}")
        return state

    def _selected(self, profile_id: int) -> list[_State]:
        return [self._state(profile_id)] if profile_id else list(self._states.values())

    def _call(self, profile: Profile, message: p4r.ActionProfileMember) -> ActionCall:
        if not message.HasField("action"):
            raise invalid_argument(f"{profile.name}: a member needs an action")
        tables = [self._schema.tables[i] for i in profile.table_ids if i in self._schema.tables]
        if not tables:
            raise invalid_argument(f"{profile.name} implements no table")
        return decode_action(tables[0], message.action)

    def _refuse_one_shot(self, state: _State) -> None:
        if state.one_shots:
            raise invalid_argument(
                f"{state.profile.name} is programmed with one-shot action sets; delete their "
                "table entries before using members and groups"
            )

    def _max_size(self, profile: Profile, message: p4r.ActionProfileGroup) -> int:
        if message.max_size < 0 or 0 < profile.max_group_size < message.max_size:
            raise invalid_argument(
                f"{profile.name}: max_size {message.max_size} is not within "
                f"0..{profile.max_group_size or 'any'}"
            )
        return message.max_size

    def _set_group(
        self, state: _State, number: int, group: _Group, message: p4r.ActionProfileGroup
    ) -> None:
        name = state.profile.name
        members: dict[int, GroupMember] = {}
        for member in message.members:
            if member.member_id in members:
                raise invalid_argument(f"{name}: member {member.member_id} is in the group twice")
            if member.member_id not in state.members:
                raise not_found(f"{name}: there is no member {member.member_id}")
            members[member.member_id] = GroupMember(
                member.member_id, member.weight, self._watch_port(member)
            )
        new = tuple(members.values())
        _check_weights(state.profile, new)
        size = _size(state.profile, new)
        limit = group.max_size or state.profile.max_group_size
        if 0 < limit < size:
            raise resource_exhausted(f"{name}: group {number} of size {size} exceeds {limit}")
        self._check_total(state, size - _size(state.profile, group.members))
        self._engine.group_set(name, number, new)
        self._count_users(state, group.members, -1)
        self._count_users(state, new, 1)
        state.used += size - _size(state.profile, group.members)
        group.members = new
        state.groups[number] = group

    def _check_one_shot(self, state: _State, members: Sequence[GroupMember]) -> int:
        _check_weights(state.profile, members)
        size = _size(state.profile, members)
        if 0 < state.profile.max_group_size < size:
            raise invalid_argument(
                f"{state.profile.name}: an action set of size {size} exceeds "
                f"{state.profile.max_group_size}"
            )
        self._check_total(state, size)
        return size

    def _check_total(self, state: _State, more: int) -> None:
        if 0 < state.profile.size < state.used + more:
            raise resource_exhausted(
                f"{state.profile.name} is full: {state.used} of {state.profile.size} used, "
                f"{more} more wanted"
            )

    def _count_users(self, state: _State, members: Sequence[GroupMember], step: int) -> None:
        for member in members:
            state.members[member.member_id].users += step

    def _watch_port(
        self, message: p4r.ActionProfileAction | p4r.ActionProfileGroup.Member
    ) -> int | None:
        if message.WhichOneof("watch_kind") is None:
            return None
        if message.WhichOneof("watch_kind") == "watch_port":
            if not message.watch_port:
                return None
            port = int.from_bytes(message.watch_port, "big")
        else:
            port = message.watch
        try:
            self._engine.port_counters(port)
        except EngineError as error:
            raise invalid_argument(f"watch port {port}: {error}") from error
        return port


def _check_weights(profile: Profile, members: Sequence[GroupMember]) -> None:
    for member in members:
        if member.weight <= 0:
            raise invalid_argument(f"{profile.name}: weight {member.weight} is not positive")
        if 0 < profile.max_member_weight < member.weight:
            raise invalid_argument(
                f"{profile.name}: weight {member.weight} exceeds {profile.max_member_weight}"
            )


def _size(profile: Profile, members: Sequence[GroupMember]) -> int:
    return len(members) if profile.sum_of_members else sum(member.weight for member in members)


def _member_message(member: GroupMember) -> p4r.ActionProfileGroup.Member:
    message = p4r.ActionProfileGroup.Member(member_id=member.member_id, weight=member.weight)
    if member.watch_port is not None:
        message.watch_port = encode_uint(member.watch_port)
    return message
