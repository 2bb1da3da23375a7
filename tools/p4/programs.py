"""The P4 programs: locations, sources and their hash, and comparison of compiler versions."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

P4SRC = Path(__file__).resolve().parents[2] / "p4src"
COMPILED = P4SRC / "compiled"
PROGRAMS = ("pe", "p")
MANIFEST = "manifest.json"


def sources(target: str) -> list[Path]:
    """The P4 files of the programs for `target` (v1model or tna), in a stable order."""
    return sorted([*P4SRC.glob("common/**/*.p4"), *P4SRC.glob(f"{target}/**/*.p4")])


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
