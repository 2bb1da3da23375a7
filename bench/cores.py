"""Which cores the switches of a benchmark run on."""

import os
import shlex
import shutil
from collections.abc import Iterable
from pathlib import Path

from fcn.ptf_tests.targets import Target


def switch_cores() -> list[int]:
    """Every core this process may use but the first, which is the traffic source's.

    The only core there is where there is only one.
    """
    cores = sorted(os.sched_getaffinity(0))
    return cores[1:] or cores


def _on(cores: Iterable[int]) -> list[str]:
    return ["taskset", "--cpu-list", ",".join(map(str, cores))]


def pinned(kind: type[Target], cores: Iterable[int]) -> type[Target]:
    """The target, with its switch on these cores only."""
    prefix = _on(cores)

    class Pinned(kind):  # type: ignore[misc, valid-type]
        def program(self) -> list[str]:
            return [*prefix, *super().program()]

    return Pinned


def wrappers(folder: Path, programs: Iterable[str], cores: Iterable[int]) -> Path:
    """A folder for PATH, whose programs are those of PATH on these cores only.

    Programs that are not installed have none.
    """
    prefix = shlex.join(_on(cores))
    target = folder / "on-cores"
    target.mkdir()
    for program in programs:
        path = shutil.which(program)
        if path is not None:
            wrapper = target / program
            wrapper.write_text(f'#!/bin/sh\nexec {prefix} {shlex.quote(path)} "$@"\n')
            wrapper.chmod(0o755)
    return target
