"""In-memory ports under a virtual clock: deterministic, for tests and simulation."""

from dataclasses import dataclass

from softswitch.engine.control import EngineBase
from softswitch.engine.program import Program


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
        super().__init__(program, cpu_port=cpu_port, drop_port=drop_port, queues=queues)

    def inject(self, port: int, data: bytes) -> None:
        """Receive a frame on a port now."""
        raise NotImplementedError

    def advance(self, ns: int) -> None:
        """Let virtual time pass; everything due by then happens."""
        raise NotImplementedError

    def now_ns(self) -> int:
        """Virtual nanoseconds since the engine was made."""
        raise NotImplementedError

    def outputs(self) -> list[Output]:
        """Frames that left since the last call, in order of time."""
        raise NotImplementedError
