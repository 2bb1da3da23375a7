"""Action profiles: members and groups numbered and ordered as in simple_switch.

simple_switch selects the n-th member of a group in ascending order of its internal handles, assigns
the lowest free handle, and represents a weight by that many members. With the same rules both
switches select the same member for the same hash.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from fcn.softswitch.api import ActionCall, EngineError, GroupMember


@dataclass
class _Member:
    action: ActionCall
    copies: list[int]  # handles; the first is the member itself, others stand for weights


@dataclass
class _Group:
    slot: int
    members: dict[int, GroupMember] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NativeProfile:
    """A profile's calls of the native engine."""

    set_member: Callable[[int, ActionCall], None]
    drop_member: Callable[[int], None]
    set_group: Callable[[int, Sequence[int]], None]
    drop_group: Callable[[int], None]


class Profile:
    """Members and groups of one action profile; slots are numbers in the native engine."""

    def __init__(
        self,
        name: str,
        native: NativeProfile,
        new_slot: Callable[[], int],
        is_down: Callable[[int], bool],
    ) -> None:
        self.name = name
        self._native = native
        self._new_slot = new_slot
        self._members: dict[int, _Member] = {}
        self._groups: dict[int, _Group] = {}
        self._slots: dict[int, int] = {}  # handle -> slot
        self._is_down = is_down

    def _take_handle(self, action: ActionCall) -> int:
        handle = 0
        while handle in self._slots:
            handle += 1
        slot = self._new_slot()
        self._native.set_member(slot, action)
        self._slots[handle] = slot
        return handle

    def _free_handle(self, handle: int) -> None:
        self._native.drop_member(self._slots.pop(handle))

    def _member(self, member_id: int) -> _Member:
        if member_id not in self._members:
            raise EngineError(f"action profile {self.name} has no member {member_id}")
        return self._members[member_id]

    def _group(self, group_id: int) -> _Group:
        if group_id not in self._groups:
            raise EngineError(f"action profile {self.name} has no group {group_id}")
        return self._groups[group_id]

    def member_slot(self, member_id: int) -> int:
        return self._slots[self._member(member_id).copies[0]]

    def group_slot(self, group_id: int) -> int:
        return self._group(group_id).slot

    def insert(self, member_id: int, action: ActionCall) -> None:
        if member_id in self._members:
            raise EngineError(f"action profile {self.name} has a member {member_id} already")
        self._members[member_id] = _Member(action, [self._take_handle(action)])

    def modify(self, member_id: int, action: ActionCall) -> None:
        """Change a member's action, for all that use it."""
        member = self._member(member_id)
        for handle in member.copies:
            self._native.set_member(self._slots[handle], action)
        member.action = action

    def delete(self, member_id: int) -> None:
        """Remove a member no group holds."""
        member = self._member(member_id)
        for group_id, group in self._groups.items():
            if member_id in group.members:
                raise EngineError(
                    f"member {member_id} of {self.name} is in group {group_id}: remove it there"
                )
        for handle in member.copies:
            self._free_handle(handle)
        del self._members[member_id]

    def set_group(self, group_id: int, members: Sequence[GroupMember]) -> None:
        """Create a group or replace its members."""
        if len({x.member_id for x in members}) != len(members):
            raise EngineError(f"a member occurs twice in group {group_id}: use weights")
        for x in members:
            self._member(x.member_id)
            if x.weight < 1:
                raise EngineError(f"weight of member {x.member_id} must be positive")
        group = self._groups.get(group_id)
        if group is None:
            group = self._groups[group_id] = _Group(self._new_slot())
        group.members = {x.member_id: x for x in sorted(members, key=lambda x: x.member_id)}
        for x in group.members.values():
            member = self._members[x.member_id]
            while len(member.copies) < x.weight:
                member.copies.append(self._take_handle(member.action))
        self._write(group)
        self._drop_unused_copies()

    def delete_group(self, group_id: int) -> None:
        self._native.drop_group(self._group(group_id).slot)
        del self._groups[group_id]
        self._drop_unused_copies()

    def port_changed(self, port: int) -> None:
        """Skip, or use again, the members that watch a port."""
        for group in self._groups.values():
            if any(x.watch_port == port for x in group.members.values()):
                self._write(group)

    def _write(self, group: _Group) -> None:
        handles = [
            handle
            for x in group.members.values()
            if x.watch_port is None or not self._is_down(x.watch_port)
            for handle in self._members[x.member_id].copies[: x.weight]
        ]
        self._native.set_group(group.slot, [self._slots[h] for h in sorted(handles)])

    def _drop_unused_copies(self) -> None:
        for member_id, member in self._members.items():
            used = max(
                [1]
                + [
                    g.members[member_id].weight
                    for g in self._groups.values()
                    if member_id in g.members
                ]
            )
            while len(member.copies) > used:
                self._free_handle(member.copies.pop())
