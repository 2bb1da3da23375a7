"""An earlier commit of this repository, to compare with."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


class BaselineError(Exception):
    """The commit cannot be measured; the message says why."""


def commit_named(name: str) -> str:
    """The commit of that name in this checkout. Raises BaselineError."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--verify", "--quiet", "--end-of-options"]
    if not (ROOT / ".git").exists():
        raise BaselineError(f"a baseline needs a checkout, and {ROOT} is none")
    try:
        done = subprocess.run(
            [*command, f"{name}^{{commit}}"], capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise BaselineError(f"a baseline needs git: {error.strerror}") from None
    if done.returncode:
        raise BaselineError(f"{name!r} is not a commit of {ROOT}; `git log` lists them")
    return done.stdout.strip()


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A worktree of a commit, in a folder of its own. Raises BaselineError."""
    with tempfile.TemporaryDirectory(prefix="fcn-baseline-") as name:
        tree = Path(name) / "tree"
        _git("worktree", "add", "--detach", str(tree), commit)
        try:
            yield tree
        finally:
            _git("worktree", "remove", "--force", str(tree))


def _git(*arguments: str) -> None:
    command = ["git", "-C", str(ROOT), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BaselineError(f"{' '.join(command)} failed:\n{done.stderr or done.stdout}")
