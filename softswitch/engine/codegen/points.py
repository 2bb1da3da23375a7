"""Points of a program whose C notes that a packet passed them, where that is asked for.

A point's name has the words of the JSON: `parser/STATE`, `parser/STATE/N` for its transition N,
`PIPELINE/NODE`, `PIPELINE/CONDITION/true`, `PIPELINE/TABLE/hit/ACTION`, and in stories
`counter/NAME` and so on for a cell that an action uses.
"""

from enum import Enum


class Notes(Enum):
    """What is noted: nothing; of each point whether any packet passed it; or what each packet that
    is traced passes, and all that it changes there (native/sw_trace.h)."""

    NONE = 0
    SEEN = 1
    STORIES = 2


SEPARATOR = "\0"
"""Between the words of a point of stories: no name has it."""


class Points:
    """Numbers the points as the code is generated."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self.names: list[str] = []

    def _number(self, *name: str) -> int:
        self.names.append(("/" if self._notes is Notes.SEEN else SEPARATOR).join(name))
        return len(self.names) - 1

    def mark(self, *name: str) -> list[str]:
        """C that notes that a packet came here; nothing where nobody wants to know."""
        if self._notes is Notes.NONE:
            return []
        number = self._number(*name)
        if self._notes is Notes.SEEN:
            return [f"sw_seen[{number}] = 1;"]
        return [f"if (sw_traced(e, p)) sw_trace_point(e, p, {number});"]

    def applied(self, words: int, *name: str) -> list[str]:
        """The same of a table's `action` with its `data`, for the entry `n` of a key of `words`."""
        if self._notes is not Notes.STORIES:
            return self.mark(*name)
        key = "key" if words else "NULL"
        call = f"{key}, {words}, n, hit, action, data"
        return [f"if (sw_traced(e, p)) sw_trace_table(e, p, {self._number(*name)}, {call});"]

    def cell(self, kind: str, array: str, size: int = 0, code: str = "") -> list[str]:
        """C that notes which cell `i` of an array an action uses; code: the cell, where it is told
        what is in it, if `i` is below the array's size."""
        if self._notes is not Notes.STORIES:
            return []
        what = f"i < {size} ? &{code} : NULL, i < {size} ? sizeof {code} : 0" if code else "NULL, 0"
        call = f"sw_trace_cell(e, p, {self._number(kind, array)}, i, {what})"
        return [f"if (sw_traced(e, p)) {call};"]

    def definition(self) -> str:
        """C of the notes, which all engines of the program share."""
        seen = self._notes is Notes.SEEN
        return f"SW_API uint8_t sw_seen[{len(self.names)}];\n" if seen and self.names else ""
