"""The backend of the P4Runtime device: programs on the one chip of this process."""

from collections.abc import Mapping
from pathlib import Path

from fcn.ptf_tests.tofino.chip import Chip
from fcn.ptf_tests.tofino.engine import ChipEngine
from fcn.ptf_tests.tofino.image import ImageError, writes
from fcn.ptf_tests.tofino.program import ChipProgram, read_program
from fcn.ptf_tests.tofino.wires import Wires
from fcn.softswitch.api import Engine, EngineError


class ChipBackend:
    """Loads programs; softswitch.p4rt.device.Backend.

    The chip is loaded when an engine is opened, which ends what ran before: there is no second one
    to try a program on. log: where the model says what it does.
    """

    def __init__(self, chip: Chip, interfaces: Mapping[int, str], log: Path | None = None) -> None:
        self._chip = chip
        self._log = log
        self._engine: ChipEngine | None = None
        self._wires = Wires(interfaces, self._received)

    def build(self, device_config: bytes) -> None:
        """Check the program."""
        check_chip(read_program(device_config), self._chip)

    def open(self, device_config: bytes) -> Engine:
        """Load the chip."""
        before, self._engine = self._engine, None
        if before is not None:
            before.close()
        program = read_program(device_config)
        engine = ChipEngine(self._chip, program, self._wires.send)
        if self._log is not None:
            self._chip.log(self._log, program.names)
        return engine

    def start(self, engine: Engine) -> None:
        """Process packets."""
        if isinstance(engine, ChipEngine):
            engine.start()
            self._engine = engine

    def pause(self, engine: Engine) -> None:
        """Nothing: it ended when the next was opened."""

    def close(self, engine: Engine) -> None:
        """Forget an engine."""
        engine.close()
        if engine is self._engine:
            self._engine = None
            self._chip.stop()

    def statistics(self, engine: Engine) -> Mapping[str, int]:
        """None."""
        return {}

    def end(self) -> None:
        """Let go of the interfaces."""
        self._wires.close()

    def _received(self, port: int, frame: bytes) -> None:
        engine = self._engine
        if engine is not None:
            engine.received(port, frame)


def check_chip(program: ChipProgram, chip: Chip) -> None:
    """Raises EngineError where the chip cannot be loaded with the program."""
    if program.context.target != chip.layout.target:
        raise EngineError(f"the program is for {program.context.target}, not {chip.layout.name}")
    try:
        for _ in writes(program.binary, chip.layout):
            pass
    except ImageError as error:
        raise EngineError(str(error)) from error
