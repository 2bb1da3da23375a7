"""Lines of the files of other simulators, and what is wrong with them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import NoReturn

from fcn.controller.config.document import DocumentError, read_text
from fcn.lab.errors import LabError
from fcn.topologies.units import MAX_TIME_NS

MAX_FLOWS = 10_000
"""Of a file. Each has a connection of its own, set up before hosts send."""

MAX_NODES = 10_000
MAX_LINKS = 100_000

MAX_QUOTED = 60
"""Characters of a line in a message."""

_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]{1,3})?")


class ImportedError(LabError):
    """A file that cannot be imported; the message has its name, the line and the reason."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line that is not empty: its words, and where it is."""

    file: Path
    number: int
    words: tuple[str, ...]

    def refuse(self, reason: str) -> NoReturn:
        """Raises ImportedError."""
        text = " ".join(self.words)
        shown = text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]}…"
        raise ImportedError(f"{self.file}:{self.number}: {reason}: {shown!r}")

    def whole(self, place: int, name: str, most: int, least: int = 0) -> int:
        """The number at this place. Raises ImportedError when it is none, or not in the range."""
        word = self._word(place, name)
        if not (word.isascii() and word.isdecimal()) or len(word) > len(str(most)):
            self.refuse(f"{name} {_shown(word)} is no number from {least} to {most}")
        if not least <= int(word) <= most:
            self.refuse(f"{name} {word} is no number from {least} to {most}")
        return int(word)

    def ends(self, words: int) -> None:
        """Raises ImportedError when more words follow than these."""
        if len(self.words) > words:
            self.refuse(f"{_shown(self.words[words])} is not expected there")

    def number_of(self, place: int, name: str) -> Decimal:
        """The same of a number with a fraction, as `2.5` or `1e6`, of 0 or more."""
        word = self._word(place, name)
        found = Decimal(word) if _NUMBER.fullmatch(word) else None
        if found is None or found.adjusted() > MAX_QUOTED:
            self.refuse(f"{name} {_shown(word)} is no number of 0 or more")
        return found

    def time_ns(self, place: int, name: str, ns: Decimal) -> int:
        """The same of a time in units of `ns` nanoseconds, no longer than a run can be."""
        found = round(self.number_of(place, name) * ns)
        if found >= MAX_TIME_NS:
            self.refuse(f"{name} is not before {MAX_TIME_NS // 10**9} s, the longest time")
        return found

    def amount(self, place: int, name: str, units: Mapping[str, int]) -> int:
        """A number with a unit, as `100Gbps`."""
        word = self._word(place, name)
        found = _AMOUNT.fullmatch(word)
        if found is None or found[2] not in units:
            example = ", ".join(f"1{unit}" for unit in units)
            self.refuse(f"{name} {_shown(word)} is not as one of {example}")
        return round(Decimal(found[1]) * units[found[2]])

    def _word(self, place: int, name: str) -> str:
        if place >= len(self.words):
            self.refuse(f"{name} is missing")
        return self.words[place]


def _shown(word: str) -> str:
    return repr(word if len(word) <= MAX_QUOTED else f"{word[:MAX_QUOTED]}…")


def read_lines(file: Path) -> list[Line]:
    """The lines of a file with something in them. Raises ImportedError."""
    try:
        if file.exists() and not file.is_file():
            raise ImportedError(f"{file}: is no file")
        text = read_text(file)
    except OSError as error:
        raise ImportedError(f"{file}: cannot be read: {error.strerror}") from None
    except DocumentError as error:
        raise ImportedError(str(error)) from None
    return [
        Line(file, number, tuple(words))
        for number, line in enumerate(text.splitlines(), 1)
        if (words := line.split())
    ]
