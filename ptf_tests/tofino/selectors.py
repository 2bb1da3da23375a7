"""Action profiles with a selector: members in the action data, groups in the selector's words.

The members of a group are entries side by side, the first at a multiple of the largest group: the
chip puts the number of the one it chooses into the lowest bits of the group's address.
"""

from collections.abc import Sequence

from fcn.ptf_tests.tofino.context import Array, ContextError
from fcn.ptf_tests.tofino.entries import ActionMemory, Outcome
from fcn.ptf_tests.tofino.memories import Access, StageMemory, TwoPort
from fcn.softswitch.api import EngineError

_COUNT_AT = 120
"""Where a selector's word says how many members there are, behind a bit for each."""
_SELECTOR_ENABLED = 1 << 23
_SELECTOR_TYPE = 0x4 << 24
_WORD_SHIFT = 7
_ACTION_DATA_ENABLED = 1 << 22


class Selector:
    """The groups of one profile."""

    def __init__(self, chip: Access, array: Array, data: ActionMemory) -> None:
        self._words = TwoPort(StageMemory(chip, array.stage), array.memory)
        self._data = data
        self._largest = int(array.detail.get("max_port_pool_size") or _COUNT_AT)
        self._stride = 1 << (self._largest - 1).bit_length()
        self._places: dict[int, int] = {}
        self._actions: dict[int, Outcome] = {}

    def set(self, group: int, members: Sequence[Outcome]) -> None:
        """Create a group, or replace its members, each as often as its weight says."""
        if not members:
            raise EngineError("a group without members is not supported")
        if len(members) > self._largest:
            raise EngineError(f"a group has at most {self._largest} members, each by its weight")
        first = members[0].action
        if any(member.action != first for member in members):
            raise EngineError("all members of a group run one action")
        place = self._places.setdefault(group, self._free())
        self._actions[group] = members[0]
        for number, member in enumerate(members):
            self._data.write(place * self._stride + number, member.action, member.parameters)
        word = (1 << len(members)) - 1 | len(members) << _COUNT_AT
        self._words.write(place, word)

    def delete(self, group: int) -> None:
        """Remove a group."""
        self._words.write(self._places.pop(group), 0)
        del self._actions[group]

    def outcome(self, group: int) -> Outcome:
        """What a table's entry says that takes this group."""
        if group not in self._places:
            raise ContextError(f"there is no group {group}")
        place, member = self._places[group], self._actions[group]
        address = self._data.address(place * self._stride, member.action)
        pointers = {
            "adt_ptr": address | _ACTION_DATA_ENABLED,
            "sel_ptr": place << _WORD_SHIFT | _SELECTOR_ENABLED | _SELECTOR_TYPE,
            "selection_length": 1,
            "selection_length_shift": 0,
        }
        return Outcome(member.action, {}, pointers)

    def _free(self) -> int:
        taken = set(self._places.values())
        limit = min(self._words.words, self._data.size // self._stride)
        for place in range(limit):
            if place not in taken:
                return place
        raise EngineError(f"there is no room for more than {limit} groups")
