"""Network interfaces as ports under the wall clock."""

from collections.abc import Mapping

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
        try:
            for port, ifname in ports.items():
                self.add_port(port, ifname)
        except Exception:
            self.close()
            raise

    def start(self) -> None:
        """Begin forwarding, or continue after pause(); idempotent."""
        self._done(self._lib.sw_ctl_start(self._handle), "packet thread")

    def pause(self) -> None:
        """Stop forwarding until start(); frames that arrive wait in the ports' receive rings."""
        self._lib.sw_ctl_pause(self._handle)

    def add_port(self, port: int, ifname: str) -> None:
        """Attach an interface, before or after start()."""
        result = self._lib.sw_ctl_port_attach(self._handle, port, ifname.encode())
        self._done(result, f"port {port} ({ifname})")
        self._port_changed(port, self.port_up(port))

    def keep_frames(self, port: int, received: int, sent: int) -> None:
        """Write the frames of a port to two files in libpcap's format, whose headers are written;
        they are descriptors that stay open as long as the engine."""
        self._done(self._lib.sw_ctl_port_keep(self._handle, port, received, sent), f"port {port}")

    def remove_port(self, port: int) -> None:
        """Detach an interface."""
        self._done(self._lib.sw_ctl_port_detach(self._handle, port), f"port {port}")
        self._port_changed(port, False)

    def port_up(self, port: int) -> bool:
        """Whether the port's interface is up and has a carrier."""
        return bool(self._lib.sw_ctl_port_up(self._handle, port))
