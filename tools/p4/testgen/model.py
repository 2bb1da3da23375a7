"""Generated tests on the model of a chip, each after the program has been loaded again."""

import asyncio
import time

from finsy.proto import p4r

from fcn.ptf_tests.tofino.backend import check_chip
from fcn.ptf_tests.tofino.chip import Chip
from fcn.ptf_tests.tofino.engine import ChipEngine
from fcn.ptf_tests.tofino.program import parse, read_program
from fcn.softswitch.api import EngineEvents
from fcn.softswitch.p4rt.pipeline import Pipeline
from tools.p4.testgen.stf import Frames, Test

DEADLINE_S = 30.0
"""For a marker to come out, also on a busy machine."""
_PASSES = 3
"""Markers one after the other: a copy goes through the chip twice."""
_MARKER_PORT = 0
_MARKER = bytes(12) + b"\x88\xb5"
"""Ethernet with IEEE 802's local experimental EtherType 1."""


class Model:
    """A program for the chip, to run tests with."""

    def __init__(self, chip: Chip, config: p4r.ForwardingPipelineConfig) -> None:
        """Raises P4RuntimeError or EngineError."""
        self._chip = chip
        self._config = parse(config)
        self._program = read_program(self._config.program)
        check_chip(self._program, chip)
        self._serial = 0

    def run(self, test: Test) -> Frames:
        """What left because of the packets. Raises P4RuntimeError for entries it refuses, and
        TimeoutError where a marker behind them does not come out."""
        return asyncio.run(self._run(test))

    async def _run(self, test: Test) -> Frames:
        left: asyncio.Queue[tuple[int, bytes]] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def sent(port: int, frame: bytes) -> None:
            loop.call_soon_threadsafe(left.put_nowait, (port, frame))

        engine = ChipEngine(self._chip, self._program, sent)
        try:
            engine.set_events(
                EngineEvents(
                    digest=lambda _name, _data: None,
                    packet_in=lambda frame: left.put_nowait((self._chip.layout.cpu, frame)),
                    idle=lambda _table, _handle: None,
                )
            )
            self._chip.say_nothing()
            engine.start()
            pipeline = Pipeline(self._config, engine, lambda _message: False, time.time_ns)
            for update in test.updates:
                pipeline.write(update, "")
            for port, frame in test.packets:
                engine.received(port, frame)
            return await asyncio.wait_for(self._all(engine, left), DEADLINE_S)
        finally:
            engine.close()
            self._chip.stop()

    async def _all(
        self, engine: ChipEngine, left: asyncio.Queue[tuple[int, bytes]]
    ) -> list[tuple[int, bytes]]:
        """What leaves before packets of the controller that follow."""
        found = []
        for _ in range(_PASSES):
            self._serial += 1
            marker = _MARKER + self._serial.to_bytes(46, "big")
            engine.packet_out(_MARKER_PORT.to_bytes(2, "big") + marker)
            while (each := await left.get()) != (_MARKER_PORT, marker):
                found.append(each)
        return found
