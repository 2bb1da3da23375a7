"""What stories of packets cost: packets a second of the engine in memory, on one core.

`python -m fcn.bench.tracing` gives PE and P (profile `fcn`) the same packets one after the other,
in one run: to the code that forwards; to the code that can tell of packets, while it tells of none,
while a filter wants none, and while it tells of all; the last also with the stories made of it, as
JSON.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import cycle, islice

from rich.console import Console
from rich.table import Table

from fcn.bench.forwarding import PROGRAMS, Program
from fcn.bench.harness import machine, options_of, positive, write_results
from fcn.hosts.scratch import scratch_folder
from fcn.ptf_tests.lib.p4runtime import P4RuntimeClient
from fcn.ptf_tests.lib.ports import DC_PORT
from fcn.softswitch.api import Engine
from fcn.softswitch.engine import MemoryEngine, make_program
from fcn.softswitch.engine.program import traced
from fcn.softswitch.engine.tracing import Bounds, PortTest
from fcn.softswitch.p4rt.device import Device
from fcn.softswitch.p4rt.ports import Ports
from fcn.softswitch.p4rt.server import start_server
from fcn.softswitch.p4rt.transport import Transport
from fcn.softswitch.stories.story import to_json
from fcn.softswitch.stories.teller import Teller

SECONDS = 1.0
"""Of each measurement, about."""
ROUND = 500
"""Packets of which at most 4096 stories are taken at once."""
NAMES = ("pe", "p")
NOBODY = 500
"""A port by which no packet comes."""


@dataclass(frozen=True)
class Sample:
    """Packets a second of one program in each state of the engine."""

    program: str
    rates: Mapping[str, float]


class MemoryBackend:
    """Engines with ports in memory; softswitch.p4rt.device.Backend."""

    def build(self, device_config: bytes) -> None:
        """It is built when it is opened."""

    def open(self, device_config: bytes) -> Engine:
        return MemoryEngine(make_program(device_config))

    def start(self, engine: Engine) -> None:
        """It runs when it is given a packet."""

    def pause(self, engine: Engine) -> None:
        """Likewise."""

    def close(self, engine: Engine) -> None:
        engine.close()

    def statistics(self, engine: Engine) -> Mapping[str, int]:
        return {}


async def measure(program: Program, seconds: float) -> Sample:
    """All states of the engine, with the entries of bench/forwarding.py."""
    ports = Ports({}, {})
    device = Device(1, MemoryBackend(), ports.attach, ports.on_status)
    server, number = await start_server(device, ports, Transport("127.0.0.1:0"))
    try:
        await asyncio.to_thread(_configure, program, f"127.0.0.1:{number}")
        engine = device.forwarding()
        assert isinstance(engine, MemoryEngine)
        return Sample(program.name, dict(_rates(engine, program.frames(), seconds)))
    finally:
        await server.stop(None)
        await device.close()


def _configure(program: Program, address: str) -> None:
    with scratch_folder("fcn-bench-") as work, P4RuntimeClient(address, 1) as client:
        client.set_pipeline(program.load(work))
        program.configure(client)


def _rates(
    engine: MemoryEngine, frames: list[bytes], seconds: float
) -> Iterator[tuple[str, float]]:
    plain = engine.program
    telling = traced(plain)
    teller = Teller(telling)

    def send() -> None:
        for frame in islice(cycle(frames), ROUND):
            engine.inject(DC_PORT, frame)
        engine.advance(1_000_000)
        assert engine.outputs(), "no packet is forwarded"

    def told() -> bytes:
        engine.start_trace([], Bounds(stories=ROUND, octets=256 << 20))
        send()
        records = engine.trace_records()
        engine.stop_trace()
        return records

    def stories() -> None:
        made = [to_json(story) for story in teller.tell(told())]
        assert len(made) == ROUND

    yield "forwards", _rate(send, seconds)
    engine.use(telling)
    yield "can tell", _rate(send, seconds)
    engine.start_trace([[PortTest(NOBODY)]], Bounds(stories=1))
    yield "tells of none", _rate(send, seconds)
    engine.stop_trace()
    yield "tells of all", _rate(told, seconds)
    yield "stories as JSON", _rate(stories, seconds)
    engine.use(plain)
    yield "forwards again", _rate(send, seconds)


def _rate(work: Callable[[], object], seconds: float) -> float:
    """Processor time counts: other programs may be busy."""
    work()
    began, rounds = time.thread_time(), 0
    while time.thread_time() - began < seconds:
        work()
        rounds += 1
    return rounds * ROUND / (time.thread_time() - began)


def main() -> None:
    parser = options_of("tracing", __doc__)
    parser.add_argument("--seconds", type=positive, default=SECONDS, help="of each measurement")
    parser.add_argument("--program", choices=NAMES, action="append", help="default: both")
    options = parser.parse_args()
    chosen = [program for program in PROGRAMS if program.name in (options.program or NAMES)]
    samples = [asyncio.run(measure(program, options.seconds)) for program in chosen]
    table = Table("program", *samples[0].rates)
    for sample in samples:
        table.add_row(sample.program, *(f"{rate:,.0f}" for rate in sample.rates.values()))
    Console().print(table)
    for sample in samples:
        ratio = sample.rates["forwards"] / sample.rates["tells of all"]
        print(f"{sample.program}: a packet that is told of takes {ratio:.1f} times as long")
    write_results(options.results, {"machine": machine(), "samples": [asdict(s) for s in samples]})


if __name__ == "__main__":
    main()
