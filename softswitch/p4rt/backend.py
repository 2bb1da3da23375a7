"""The backend of the P4Runtime device that uses the packet engine."""

import hashlib
import shutil
from collections.abc import Mapping

from fcn.softswitch.api import Engine
from fcn.softswitch.engine import BuildError, MemoryEngine, Program, RealEngine, make_program
from fcn.softswitch.p4rt.captures import Capture


class RealBackend:
    """Runs programs on network interfaces; softswitch.p4rt.device.Backend."""

    def __init__(
        self,
        interfaces: Mapping[int, str],
        *,
        cpu_port: int,
        drop_port: int,
        queues: int,
        captures: Mapping[int, Capture],
        points: bool = False,
    ) -> None:
        self._interfaces = dict(interfaces)
        self._cpu_port = cpu_port
        self._drop_port = drop_port
        self._queues = queues
        self._captures = dict(captures)
        self._points = points
        self._programs: dict[str, Program] = {}

    def build(self, device_config: bytes) -> None:
        """Compile, and make an engine of it once; the compiled program stays in the cache."""
        MemoryEngine(
            self._load(device_config),
            cpu_port=self._cpu_port,
            drop_port=self._drop_port,
            queues=self._queues,
        ).close()

    def open(self, device_config: bytes) -> Engine:
        engine = RealEngine(
            self._load(device_config),
            self._interfaces,
            cpu_port=self._cpu_port,
            drop_port=self._drop_port,
            queues=self._queues,
        )
        for port, capture in self._captures.items():
            engine.keep_frames(port, capture.received, capture.sent)
        return engine

    def _load(self, device_config: bytes) -> Program:
        program = load_config(device_config, self._points)
        if self._points:
            self._programs[hashlib.sha256(device_config).hexdigest()] = program
        return program

    def reached(self) -> dict[str, list[str]]:
        """Of each program, by the SHA-256 of its JSON, the points that packets passed."""
        return {name: program.reached() for name, program in self._programs.items()}

    def start(self, engine: Engine) -> None:
        """Start the packet thread."""
        _real(engine).start()

    def close(self, engine: Engine) -> None:
        """Stop the packet thread and close the interfaces."""
        engine.close()

    def pause(self, engine: Engine) -> None:
        """Stop the packet thread; frames wait in the ports' rings."""
        _real(engine).pause()

    def statistics(self, engine: Engine) -> Mapping[str, int]:
        """Drops of the engine, by reason."""
        return _real(engine).statistics()


def _real(engine: Engine) -> RealEngine:
    if not isinstance(engine, RealEngine):
        raise TypeError("an engine of another backend")
    return engine


def load_config(device_config: bytes, points: bool = False) -> Program:
    """The program of a device config, compiled. Raises EngineError."""
    try:
        return make_program(device_config, points=points)
    except BuildError as error:
        if shutil.which("gcc") is None and shutil.which("cc") is None:
            raise BuildError(
                "there is no C compiler to build the program with: apt-get install gcc"
            ) from error
        raise
