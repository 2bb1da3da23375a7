"""Measures an earlier commit of this repository with its own benchmark."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fcn.bench.cores import switch_cores, wrappers

ROOT = Path(__file__).resolve().parents[1]


class BaselineError(Exception):
    """The commit cannot be measured; the message says why."""


def commit_named(name: str) -> str:
    """The commit of that name in this checkout, which has a benchmark. Raises BaselineError."""
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
    commit = done.stdout.strip()
    has = ["git", "-C", str(ROOT), "cat-file", "-e", f"{commit}:bench/forwarding.py"]
    if subprocess.run(has, capture_output=True, check=False).returncode:
        raise BaselineError(f"{name!r} has no bench/forwarding.py; choose a later commit")
    return commit


STEP = re.compile(r"^RATE_STEP = [\d.]+$", re.MULTILINE)


def measure(commit: str, seconds: float, start: float, step: float) -> list[dict[str, Any]]:
    """Sweeps of a commit's programs on BMv2, in the format of its bench/results/forwarding.json.

    seconds: per offered rate. start: first rate in frames per second; step: factor to the next.
    BMv2 runs on the same cores as in the sweeps of this commit. Needs git and a checkout.
    Raises BaselineError.
    """
    with checked_out(commit) as tree:
        source = tree / "bench" / "forwarding.py"
        text, found = STEP.subn(f"RATE_STEP = {step}", source.read_text())
        if not found:
            raise BaselineError(f"bench/forwarding.py of {commit} has no RATE_STEP to set")
        source.write_text(text)
        module = "fcn.bench.forwarding" if (tree / "fcn").exists() else "bench.forwarding"
        options = ["--targets", "bmv2", "--seconds", str(seconds), "--start", str(start)]
        folder = wrappers(tree.parent, ("simple_switch_grpc",), switch_cores())
        _run([sys.executable, "-m", module, *options], tree, f"{folder}:{os.environ['PATH']}")
        results = json.loads((tree / "bench" / "results" / "forwarding.json").read_text())
    sweeps: list[dict[str, Any]] = results["sweeps"]
    return sweeps


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A worktree of a commit, in a folder of its own. Raises BaselineError."""
    with tempfile.TemporaryDirectory(prefix="fcn-baseline-") as name:
        tree = Path(name) / "tree"
        _run(["git", "-C", str(ROOT), "worktree", "add", "--detach", str(tree), commit], ROOT)
        try:
            yield tree
        finally:
            _run(["git", "-C", str(ROOT), "worktree", "remove", "--force", str(tree)], ROOT)


def _run(command: list[str], folder: Path, path: str = os.environ["PATH"]) -> None:
    environment = {**os.environ, "PYTHONPATH": str(folder), "PATH": path}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise BaselineError(f"{' '.join(command)} failed:\n{done.stderr or done.stdout}")
