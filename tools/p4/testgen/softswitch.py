"""Generated tests on the softswitch, in memory: each with a fresh switch, in virtual time."""

import time

from finsy.proto import p4r

from fcn.contract.constants import enum_members
from fcn.contract.targets import V1MODEL
from fcn.softswitch.api import EngineEvents
from fcn.softswitch.engine import MemoryEngine, make_program
from fcn.softswitch.p4rt.pipeline import Pipeline, PipelineConfig
from tools.p4.testgen.stf import Frames, Test

LONGEST_NS = 1_000_000_000
"""Virtual time in which all of a packet has left."""
_LENGTHS = [enum_members("DropReason")[name] for name in ("BAD_LENGTH", "MALFORMED")]


class Softswitch:
    """A v1model program, to run tests with. cpu: the port that tests name the CPU by."""

    def __init__(self, config: p4r.ForwardingPipelineConfig, cpu: int) -> None:
        """Raises P4RuntimeError or EngineError."""
        self._config = PipelineConfig.parse(config)
        self._program = make_program(self._config.program)
        self._cpu = cpu

    def run(self, test: Test) -> Frames | None:
        """What left because of the packets, None where they were dropped for their lengths. Raises
        P4RuntimeError for entries it refuses."""
        engine = MemoryEngine(self._program)
        left: list[tuple[int, bytes]] = []
        try:
            engine.set_events(
                EngineEvents(
                    digest=lambda _name, _data: None,
                    packet_in=lambda frame: left.append((self._cpu, frame)),
                    idle=lambda _table, _handle: None,
                )
            )
            pipeline = Pipeline(self._config, engine, lambda _message: False, time.time_ns)
            for update in test.updates:
                pipeline.write(update, "")
            for port, frame in test.packets:
                engine.inject(V1MODEL.ports.cpu if port == self._cpu else port, frame)
            engine.advance(LONGEST_NS)
            left += [(each.port, each.data) for each in engine.outputs()]
            is_short = any(engine.counter_read("drops", cell).packets for cell in _LENGTHS)
        finally:
            engine.close()
        return None if is_short and not left else left
