"""CPU cores on which the switches of a benchmark run."""

import os
from collections.abc import Iterable, Sequence

from fcn.ptf_tests.targets import Target


def switch_cores() -> list[int]:
    """Every core this process may use except the first, on which the traffic source runs.

    The same core when there is only one.
    """
    cores = sorted(os.sched_getaffinity(0))
    return cores[1:] or cores


def behind(kind: type[Target], command: Sequence[str]) -> type[Target]:
    """The target class with its switch run by this command."""

    class Behind(kind):  # type: ignore[misc, valid-type]
        def program(self) -> list[str]:
            return [*command, *super().program()]

    return Behind


def pinned(kind: type[Target], cores: Iterable[int]) -> type[Target]:
    """The target class with its switch pinned to these cores."""
    return behind(kind, ["taskset", "--cpu-list", ",".join(map(str, cores))])
