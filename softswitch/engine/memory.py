"""In-memory ports under a virtual clock: deterministic, for tests and simulation."""

import struct
from dataclasses import dataclass

from fcn.softswitch.engine.control import EngineBase
from fcn.softswitch.engine.program import Program

_RECORD = struct.Struct("=QII")
NEVER = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Output:
    """A frame that left a port: when its last bit was received at the far end, and its bytes."""

    port: int
    time_ns: int
    data: bytes


class MemoryEngine(EngineBase):
    """Runs a program on in-memory ports; time moves only by advance()."""

    def __init__(
        self,
        program: Program,
        *,
        cpu_port: int = 510,
        drop_port: int = 511,
        queues: int = 8,
    ) -> None:
        super().__init__(
            program, cpu_port=cpu_port, drop_port=drop_port, queues=queues, memory=True
        )

    def inject(self, port: int, data: bytes) -> None:
        """Receive a frame on a port now."""
        self._call("", "inject", port, data, len(data))
        self._deliver_now()

    def advance(self, ns: int) -> None:
        """Advance virtual time by `ns` and process everything due until then."""
        self._call("", "advance", ns)
        self._deliver_now()

    def next_due_ns(self) -> int | None:
        """The virtual time of the engine's next action without input; None when there is none."""
        due = self._call("", "next_due")
        return None if due == NEVER else due

    def outputs(self) -> list[Output]:
        """Frames that left since the last call, in order of time."""
        size = self._call("", "out_size")
        if not size:
            return []
        buffer = self._ffi.new("uint8_t[]", size)
        got = self._call("", "out_take", buffer, size)
        data = bytes(self._ffi.buffer(buffer, got))
        out = []
        at = 0
        while at < len(data):
            time_ns, port, length = _RECORD.unpack_from(data, at)
            at += _RECORD.size
            out.append(Output(port, time_ns, data[at : at + length]))
            at += (length + 7) & ~7
        return out
