"""Network interfaces as ports under the wall clock."""

from collections.abc import Mapping

from softswitch.engine.control import EngineBase
from softswitch.engine.program import Program


class RealEngine(EngineBase):
    """Runs a program on network interfaces (AF_PACKET) in a thread of its own."""

    def __init__(
        self,
        program: Program,
        ports: Mapping[int, str],
        *,
        cpu_port: int = 510,
        drop_port: int = 511,
        queues: int = 8,
    ) -> None:
        super().__init__(program, cpu_port=cpu_port, drop_port=drop_port, queues=queues)
        self._ports = dict(ports)

    def start(self) -> None:
        """Begin forwarding; call once the pipeline is configured."""
        raise NotImplementedError

    def add_port(self, port: int, ifname: str) -> None:
        """Attach an interface while running."""
        raise NotImplementedError

    def remove_port(self, port: int) -> None:
        """Detach an interface."""
        raise NotImplementedError
