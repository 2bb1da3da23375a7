"""Headers and metadata of a packet, as the switch has them, and which fields change."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from struct import Struct

from fcn.softswitch.engine.bmv2json import limits
from fcn.softswitch.engine.program import Program
from fcn.softswitch.engine.tracing import PlacedField, placed_fields
from fcn.softswitch.stories.story import Change
from fcn.softswitch.stories.words import flattened, value

_PLACE = Struct("=Q8x")


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

    @lru_cache(maxsize=1 << 14)  # noqa: B019 - there is one for each trace
    def of_changed(self, words: tuple[int, ...]) -> "_Changed":
        """What has a part in these words, once each."""
        fields = {
            (field.header, field.field.name): field
            for word in words
            for field in self.of_word.get(word, ())
        }
        return _Changed(
            [each for word in words for each in self.valid_of_word.get(word, ())],
            [
                (field, slice(field.at, field.at + field.size), self.names[key])
                for key, field in fields.items()
            ],
        )

    @lru_cache(maxsize=1 << 14)  # noqa: B019 - there is one for each trace
    def text(self, header: str, values: tuple[bytes, ...]) -> str | None:
        """All fields of a header, which have these octets."""
        # p4c keeps local variables in a header that is in no packet.
        if header not in self.sent and not any(map(any, values)):
            return None
        fields = self.of_header.get(header, ())
        members = (
            f"{each.field.name}={Image._value(each, octets)}"
            for each, octets in zip(fields, values, strict=True)
        )
        return f"{{{', '.join(members)}}}"


@dataclass(frozen=True, slots=True)
class _Changed:
    """Validities with their places, and fields with theirs and their names."""

    valid: Sequence[tuple[int, str]]
    fields: Sequence[tuple[PlacedField, slice, str]]


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
        self._take(pairs)

    def change(self, pairs: bytes) -> list[Change]:
        """Take words that are others now; returns the fields that are."""
        now, before = self._now, bytes(self._now)
        words = self._take(pairs)
        found: list[Change] = []
        turned = set()
        changed = self._layout.of_changed(words)
        for slot, header in changed.valid:
            if before[slot] != now[slot]:
                turned.add(header)
                change = self._turned(header, before, bool(now[slot]))
                found += [] if change is None else [change]
        for field, place, name in changed.fields:
            is_valid = field.valid is None or now[field.valid]
            if before[place] != now[place] and is_valid and field.header not in turned:
                was, is_now = self._value(field, before[place]), self._value(field, now[place])
                found.append(Change(name, was, is_now))
        return found

    def _take(self, pairs: bytes) -> tuple[int, ...]:
        """Take words, which come in their order; returns where they are."""
        words = tuple(word for (word,) in _PLACE.iter_unpack(pairs))
        for at, word in enumerate(words):
            self._now[word * 8 : word * 8 + 8] = pairs[at * 16 + 8 : at * 16 + 16]
        return words

    def _turned(self, header: str, before: bytes, valid: bool) -> Change | None:
        state = self._now if valid else before
        fields = self._layout.of_header.get(header, ())
        text = self._layout.text(
            header, tuple(bytes(state[each.at : each.at + each.size]) for each in fields)
        )
        if text is None:
            return None
        name = self._layout.headers[header]
        return Change(name, "", text) if valid else Change(name, text, "")

    @staticmethod
    def _value(field: PlacedField, data: bytes | bytearray) -> str:
        if field.field.varbit:
            octets = int.from_bytes(data[:4], sys.byteorder) // 8
            return f"0x{bytes(data[4 : 4 + octets]).hex()}"
        order = "big" if field.field.width > 128 else sys.byteorder
        return value(field.field.name, int.from_bytes(data, order), field.field.width)
