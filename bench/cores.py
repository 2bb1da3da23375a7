"""CPU cores on which the switches of a benchmark run."""

import os
import shlex
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from fcn.ptf_tests.targets import Target


def switch_cores() -> list[int]:
    """Every core this process may use except the first, on which the traffic source runs.

    The same core when there is only one.
    """
    cores = sorted(os.sched_getaffinity(0))
    return cores[1:] or cores


def _on(cores: Iterable[int]) -> list[str]:
    return ["taskset", "--cpu-list", ",".join(map(str, cores))]


def behind(kind: type[Target], command: Sequence[str]) -> type[Target]:
    """The target class with its switch run by this command."""

    class Behind(kind):  # type: ignore[misc, valid-type]
        def program(self) -> list[str]:
            return [*command, *super().program()]

    return Behind


def pinned(kind: type[Target], cores: Iterable[int]) -> type[Target]:
    """The target class with its switch pinned to these cores."""
    return behind(kind, _on(cores))


def wrappers(folder: Path, programs: Iterable[str], cores: Iterable[int]) -> Path:
    """A folder to prepend to PATH, with wrappers that pin programs of PATH to these cores.

    There is no wrapper for a program that is not installed.
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
