"""The P4 programs: locations, sources and their hash, and comparison of compiler versions."""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

P4SRC = Path(__file__).resolve().parents[2] / "p4src"
COMPILED = P4SRC / "compiled"
PROFILE_SOURCES = P4SRC / "v1model" / "profiles"
PROGRAMS = ("pe", "p")
FULL = "full"
PROFILES = (FULL, "fantel", "fcn", "flow-control", "two-threshold")
"""Which modes a program has (p4src/v1model/profiles). What is compiled of FULL is in COMPILED, of
each other in a folder of its name there."""
CHIP_PROGRAMS = {
    "pe": (1, 2),
    "p": (1, 2),
    "two-threshold/pe": (2,),
    "two-threshold/p": (1, 2),
    "flow-control/p": (1, 2),
    "fantel/p": (2, 1),
}
"""Programs for chips, as files in a folder with all, and the generations of Tofino each is for; the
P4Info kept is of the first. Those of a profile are in a folder of its name, those of LEAST not."""
LEAST = "fcn"
MANIFEST = "manifest.json"
TARGET_FOLDERS = frozenset({"v1model", "tna"})
INCLUDE = re.compile(r'^#include "([^"]+)"\n', re.MULTILINE)


def sources(target: str) -> list[Path]:
    """The P4 files of the programs for `target` (v1model or tna), in a stable order: all but those
    in a folder of the other target."""
    (other,) = TARGET_FOLDERS - {target}
    files = P4SRC.glob("**/*.p4")
    return sorted(file for file in files if other not in file.relative_to(P4SRC).parts)


def profile_folder(directory: Path, profile: str) -> Path:
    """Where the compiled programs of a profile are, below the folder of all."""
    return directory if profile == FULL else directory / profile


def included(file: Path) -> set[Path]:
    """The file and all it includes."""
    found: set[Path] = set()
    waiting = [file.resolve()]
    while waiting:
        if (each := waiting.pop()) not in found:
            found.add(each)
            waiting += [
                (each.parent / name).resolve() for name in INCLUDE.findall(each.read_text())
            ]
    return found


def chip_source(program: str) -> str:
    """The top file of a program for chips, below P4SRC."""
    profile, _, role = program.rpartition("/")
    return f"tna/profiles/{profile or LEAST}/{role}.p4"


def chip_sources() -> dict[str, str]:
    """SHA-256 of every file that the programs for chips are made of, by its name below P4SRC."""
    files = set().union(*(included(P4SRC / chip_source(each)) for each in CHIP_PROGRAMS))
    return {
        str(file.relative_to(P4SRC)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(files)
    }


def digest(paths: Iterable[Path], base: Path) -> str:
    """SHA-256 over names, relative to `base`, and contents."""
    total = hashlib.sha256()
    for path in paths:
        total.update(f"{path.relative_to(base)}\0".encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def same_compiler(one: str, other: str) -> bool:
    """Whether two strings "VERSION [COMMIT]" identify the same compiler.

    git abbreviates commits to a length that depends on the repository, so commits are equal when
    one is a prefix of the other.
    """
    (version, _, commit), (other_version, _, other_commit) = (
        one.partition(" "),
        other.partition(" "),
    )
    if version != other_version or bool(commit) != bool(other_commit):
        return False
    return commit.startswith(other_commit) or other_commit.startswith(commit)
