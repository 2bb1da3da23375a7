"""The P4 programs and what both build tools know of them: where they are, their sources, and when
two compilers are the same."""

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
    """Whether "VERSION [COMMIT]" means the same twice.

    git abbreviates a commit to as many digits as the repository it was cloned to needs, so commits
    are the same when one begins with the other.
    """
    (version, _, commit), (other_version, _, other_commit) = (
        one.partition(" "),
        other.partition(" "),
    )
    if version != other_version or bool(commit) != bool(other_commit):
        return False
    return commit.startswith(other_commit) or other_commit.startswith(commit)
