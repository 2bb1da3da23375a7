"""A program ready to run: the checked JSON and the native library made from it."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Program:
    """A compiled program; any number of engines may run it.

    json_path is where it was read from, library the shared object holding its native code.
    """

    json_path: Path
    library: Path


def load_program(json_path: str | Path) -> Program:
    """Read p4c-bm2-ss JSON, generate C, build it (or take it from the cache) and return it.

    Raises ProgramError for a JSON that cannot be understood, UnsupportedError (naming the
    construct) for one outside the documented subset, BuildError when the compiler fails.
    """
    raise NotImplementedError
