"""An earlier commit of this repository, measured by its own benchmark."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


class BaselineError(Exception):
    """The commit cannot be measured; the message says why."""


def measure(commit: str, target: str, seconds: float, start: float) -> list[dict[str, Any]]:
    """Sweeps of a commit's programs on one target, as its bench/results/forwarding.json has them.

    seconds: per offered rate. start: first rate in frames per second. Needs git and a checkout.
    Raises BaselineError.
    """
    with tempfile.TemporaryDirectory(prefix="fcn-baseline-") as name:
        tree = Path(name) / "tree"
        _run(["git", "-C", str(ROOT), "worktree", "add", "--detach", str(tree), commit], ROOT)
        try:
            module = "fcn.bench.forwarding" if (tree / "fcn").exists() else "bench.forwarding"
            options = ["--targets", target, "--seconds", str(seconds), "--start", str(start)]
            _run([sys.executable, "-m", module, *options], tree)
            results = json.loads((tree / "bench" / "results" / "forwarding.json").read_text())
        finally:
            _run(["git", "-C", str(ROOT), "worktree", "remove", "--force", str(tree)], ROOT)
    sweeps: list[dict[str, Any]] = results["sweeps"]
    return sweeps


def _run(command: list[str], folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise BaselineError(f"{' '.join(command)} failed:\n{done.stderr or done.stdout}")
