"""Headers and metadata of a packet, as the switch has them, and which fields change."""

import sys
from collections.abc import Iterator
from struct import Struct

from fcn.softswitch.engine.bmv2json import limits
from fcn.softswitch.engine.program import Program
from fcn.softswitch.engine.tracing import PlacedField, placed_fields
from fcn.softswitch.stories.story import Change
from fcn.softswitch.stories.words import flattened, value

_WORD = Struct("=QQ")


class Layout:
    """Which fields are in which word, and their names."""

    def __init__(self, program: Program) -> None:
        self.fields = placed_fields(program)
        headers = program.model.headers
        names = flattened(headers)
        members = flattened(
            f"{f.header}/{f.field.name}" for f in self.fields if "._" in f.field.name
        )
        self.names = {
            (f.header, f.field.name): self._name(names[f.header], f, members) for f in self.fields
        }
        self.headers = names
        self.sent = frozenset(program.model.deparse_order)
        self.of_header: dict[str, list[PlacedField]] = {}
        self.of_word: dict[int, list[PlacedField]] = {}
        self.valid_of_word: dict[int, list[tuple[int, str]]] = {}
        for field in self.fields:
            if field.field.name.startswith(("$", "_padding")):
                continue
            self.of_header.setdefault(field.header, []).append(field)
            for word in range(field.at // 8, (field.at + field.size - 1) // 8 + 1):
                self.of_word.setdefault(word, []).append(field)
        slots = {f.header: f.valid for f in self.fields}
        for header, slot in slots.items():
            if slot is not None:
                self.valid_of_word.setdefault(slot // 8, []).append((slot, header))
        # A stack has an element more, which is no field.
        last = max((f.at + f.size for f in self.fields), default=0)
        self.size = last + limits.HEADER_OCTETS + len(headers)

    @staticmethod
    def _name(header: str, field: PlacedField, members: dict[str, str]) -> str:
        plain = members.get(f"{field.header}/{field.field.name}")
        if plain is not None:
            return plain.rpartition("/")[2]
        return field.field.name if header.startswith("scalars") else f"{header}.{field.field.name}"

    def of_changed(self, changed: set[int]) -> Iterator[PlacedField]:
        """Fields that have a part in one of these words, once each."""
        seen: set[tuple[str, str]] = set()
        for word in sorted(changed):
            for field in self.of_word.get(word, ()):
                if (field.header, field.field.name) not in seen:
                    seen.add((field.header, field.field.name))
                    yield field


class Image:
    """Of one packet."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._now = bytearray(layout.size)

    def copy(self) -> "Image":
        other = Image(self._layout)
        other._now[:] = self._now
        return other

    def set(self, pairs: bytes) -> None:
        """Take all words that are not 0."""
        self._now = bytearray(self._layout.size)
        for word, bits in _WORD.iter_unpack(pairs):
            self._now[word * 8 : word * 8 + 8] = bits.to_bytes(8, sys.byteorder)

    def change(self, pairs: bytes) -> list[Change]:
        """Take words that are others now; returns the fields that are."""
        before = bytes(self._now)
        changed = set()
        for word, bits in _WORD.iter_unpack(pairs):
            self._now[word * 8 : word * 8 + 8] = bits.to_bytes(8, sys.byteorder)
            changed.add(word)
        found: list[Change] = []
        turned = set()
        for word in sorted(changed):
            for slot, header in self._layout.valid_of_word.get(word, ()):
                if before[slot] != self._now[slot]:
                    turned.add(header)
                    change = self._turned(header, before, bool(self._now[slot]))
                    found += [] if change is None else [change]
        for field in self._layout.of_changed(changed):
            place = slice(field.at, field.at + field.size)
            is_valid = field.valid is None or self._now[field.valid]
            if before[place] == self._now[place] or not is_valid or field.header in turned:
                continue
            name = self._layout.names[field.header, field.field.name]
            found.append(Change(name, self._value(field, before), self._value(field, self._now)))
        return found

    def _turned(self, header: str, before: bytes, valid: bool) -> Change | None:
        state = self._now if valid else before
        fields = self._layout.of_header.get(header, ())
        # p4c keeps local variables in a header that is in no packet.
        is_sent = header in self._layout.sent
        if not is_sent and not any(any(state[f.at : f.at + f.size]) for f in fields):
            return None
        members = ", ".join(f"{field.field.name}={self._value(field, state)}" for field in fields)
        name, text = self._layout.headers[header], f"{{{members}}}"
        return Change(name, "", text) if valid else Change(name, text, "")

    @staticmethod
    def _value(field: PlacedField, state: bytes | bytearray) -> str:
        data = bytes(state[field.at : field.at + field.size])
        if field.field.varbit:
            octets = int.from_bytes(data[:4], sys.byteorder) // 8
            return f"0x{data[4 : 4 + octets].hex()}"
        order = "big" if field.field.width > 128 else sys.byteorder
        return value(field.field.name, int.from_bytes(data, order), field.field.width)
