"""A softswitch that notes when flows take effect: `python -m fcn.bench.recorder FILE OPTIONS...`.

OPTIONS are those of fcn-softswitch. FILE gets a line for each entry of the flow tables:
nanoseconds of the monotonic clock, and `label VRF SOURCE DESTINATION QP LABEL` (a flow got its
label) or `sender LABEL QP` (notifications of a label become CNPs), all as decimal numbers.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from fcn.contract.names import FLOW_TABLES, LABEL_TABLES
from fcn.softswitch.__main__ import main
from fcn.softswitch.api import ActionCall, Exact, MatchKey, TableAction
from fcn.softswitch.engine import RealEngine
from fcn.softswitch.p4rt import backend

_SOURCE_QP = 3
"""Place of the queue pair among the arguments of cnp_ipv4 and cnp_ipv6."""


class RecordingEngine(RealEngine):
    """Notes entries in the process that applies them."""

    record: BinaryIO
    """Without a buffer, so that a note is a system call and no more."""

    def table_insert(
        self,
        table: str,
        match: Sequence[MatchKey],
        priority: int,
        action: TableAction,
        idle_timeout_ns: int = 0,
    ) -> int:
        handle = super().table_insert(table, match, priority, action, idle_timeout_ns)
        name = table.rpartition(".")[2]
        if not isinstance(action, ActionCall):
            return handle
        keys = [key.value for key in match if isinstance(key, Exact)]
        verb = action.name.rpartition(".")[2]
        if name in FLOW_TABLES.values() and action.args:
            self._note("label", *keys, action.args[0])
        elif name in LABEL_TABLES.values() and verb.startswith("cnp_"):
            self._note("sender", *keys, action.args[_SOURCE_QP])
        return handle

    def _note(self, kind: str, *values: int) -> None:
        numbers = " ".join(map(str, values))
        self.record.write(f"{time.monotonic_ns()} {kind} {numbers}\n".encode())


def _record() -> None:
    with Path(sys.argv.pop(1)).open("wb", buffering=0) as RecordingEngine.record:
        setattr(backend, "RealEngine", RecordingEngine)  # noqa: B010 (mypy: a type is no variable)
        main()


if __name__ == "__main__":
    _record()
