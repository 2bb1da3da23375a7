"""Network interfaces as ports under the wall clock."""

from collections.abc import Mapping

from fcn.softswitch.api import EngineError
from fcn.softswitch.engine.build import load_library
from fcn.softswitch.engine.control import EngineBase
from fcn.softswitch.engine.program import Program


class RealEngine(EngineBase):
    """Runs a program on network interfaces (AF_PACKET) in a thread of its own.

    Interfaces belong to the network namespace of the caller; they receive from start() on.
    Raises EngineError, naming port and interface, when one cannot be opened.
    """

    def __init__(
        self,
        program: Program,
        ports: Mapping[int, str],
        *,
        cpu_port: int = 510,
        drop_port: int = 511,
        queues: int = 8,
    ) -> None:
        super().__init__(
            program, cpu_port=cpu_port, drop_port=drop_port, queues=queues, memory=False
        )
        self._forwards = False
        try:
            for port, ifname in ports.items():
                self.add_port(port, ifname)
        except Exception:
            self.close()
            raise

    def start(self) -> None:
        """Begin forwarding, or continue after pause(); idempotent."""
        self._call("packet thread", "start")
        self._forwards = True

    def pause(self) -> None:
        """Stop forwarding until start(); frames that arrive wait in the ports' receive rings."""
        self._call("", "pause")
        self._forwards = False

    def use(self, program: Program) -> None:
        """Go on with other code of the same program, what waits included; where that cannot be,
        with the code before. Raises EngineError."""
        load_library(program.library)
        before, forwards = self.program, self._forwards
        if forwards:
            self.pause()
        super().use(program)
        if not forwards:
            return
        try:
            self.start()
        except EngineError:
            super().use(before)
            self.start()
            raise

    def add_port(self, port: int, ifname: str) -> None:
        """Attach an interface, before or after start()."""
        self._call(f"port {port} ({ifname})", "port_attach", port, ifname.encode())
        self._port_changed(port, self.port_up(port))

    def keep_frames(self, port: int, received: int, sent: int) -> None:
        """Write the frames of a port to two files in libpcap's format, whose headers are written;
        they are descriptors that stay open as long as the engine."""
        self._call(f"port {port}", "port_keep", port, received, sent)

    def port_up(self, port: int) -> bool:
        """Whether the port's interface is up and has a carrier."""
        return bool(self._call("", "port_up", port))
