"""What other traffic through a port sees while one flow is held there (SRF-7), in real time.

`python -m fcn.bench.held_realtime` runs the P program on a switch with veth ports. In each pair it
looks twice at the other flow, in turn with the held one before and after it: while the flow that
its neighbour names passes, and while that flow waits, some packets and those that still come. A
look is PACED packets per second, of which the kernel stamps each where it enters and where it has
left the switch, and then as many as the traffic source can send, of which the delivered ones count.
Between the looks all that waited has left. The traffic source has the first core, the switch the
others. It writes every look to bench/results/held_realtime.json.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from fcn.bench.cores import pinned, switch_cores
from fcn.bench.forwarding import GRPC_ADDRESS, workspace, write_frames
from fcn.bench.harness import machine, options_of, write_results
from fcn.bench.held_traffic import (
    OCTETS_BEFORE_PACKET,
    PORTS,
    SEQUENCE,
    arn_frame,
    data_frame,
    entries,
    flow_of,
    number_of,
)
from fcn.contract.parking import RATE, depth_for
from fcn.contract.pipeline import load_pipeline
from fcn.contract.targets import V1MODEL
from fcn.controller.config.holding import Holding
from fcn.packets.arn import ArnType
from fcn.ptf_tests.lib.p4runtime import P4RuntimeClient
from fcn.ptf_tests.runner import make_interfaces
from fcn.ptf_tests.targets import TARGETS, Target, TargetUnavailableError
from fcn.topologies.arrival_stamps import arrivals, stamp_arrivals
from fcn.topologies.isolation import IsolationError, enter

PACED = 2_000
"""Packets per second of the other flow, while delays are measured."""


@dataclass(frozen=True, slots=True)
class HeldFlow:
    """waiting: packets that wait when a look begins; per_second: those that still come."""

    waiting: int
    per_second: int


HELD = {"softswitch": HeldFlow(500, 500), "bmv2": HeldFlow(40, 20)}
"""By target: on BMv2 a hold of n packets leaves in up to n/2 rounds (docs/adr/0017)."""
HOLDING = Holding.model_validate(
    {"packets": 4_000, "octets": "20MB", "time": "9s", "longest": "10s"}
)
HOLD_US = 9_000_000
DRAIN_TIMEOUT_S = 60.0
POLL_S = 0.05
ETH_P_IPV6 = 0x86DD
_RECEIVE_BUFFER = 1 << 26
_HEAD = OCTETS_BEFORE_PACKET + SEQUENCE


@dataclass(frozen=True, slots=True)
class Look:
    """What the other flow saw: median and 99th percentile of its time in the switch in ns, packets
    lost; packets per second delivered when as many as possible are sent. left: packets of the held
    flow that left meanwhile."""

    median_ns: int
    p99_ns: int
    lost: int
    most_per_second: float
    left: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Two looks next to each other; in every other pair the one while held comes first."""

    target: str
    held_first: bool
    never_held: Look
    held: Look
    in_order: bool


class Watch:
    """Notes when which packet passes an interface, as the kernel stamps it."""

    def __init__(self, interface: str) -> None:
        self.seen: list[tuple[str | None, int, int]] = []
        """Flow, number, nanoseconds."""
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
        stamp_arrivals(self._socket)
        self._socket.bind((interface, ETH_P_IPV6))
        self._socket.settimeout(POLL_S)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        for data, stamp in arrivals(self._socket, _HEAD, self._ending.is_set):
            self.seen.append((flow_of(data), number_of(data), stamp))

    def of(self, flow: str) -> dict[int, int]:
        """Nanoseconds by number, of the packets of a flow, in the order in which they passed."""
        return {number: stamp for each, number, stamp in list(self.seen) if each == flow}

    def stop(self) -> None:
        """End it when nothing more comes."""
        self._ending.set()
        self._thread.join()
        self._socket.close()


class Bed:
    """A running switch between the traffic source and the sink.

    sent: packets of each flow so far, whose numbers rise from 0.
    """

    def __init__(self, blaster: Path, folder: Path) -> None:
        self._blaster = blaster
        self._folder = folder
        self.sent = dict.fromkeys(("held", "other"), 0)

    def ask(self, kind: ArnType) -> None:
        """Let the sink ask to hold the flow, or to let it go."""
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as out:
            out.bind((f"ptf{PORTS['sink']}", 0))
            out.send(arn_frame(kind, HOLD_US if kind is ArnType.DETECTED else 0))

    @contextmanager
    def sending(self, flow: str, per_second: float, seconds: float) -> Iterator[None]:
        """Send new packets of a flow meanwhile."""
        count = round(per_second * seconds)
        file = self._folder / f"{flow}.frames"
        first = self.sent[flow]
        frames = (data_frame(flow, PORTS[flow], first + number) for number in range(count))
        write_frames(file, frames)
        # Not the last one: it would begin again with the first.
        command = self._command(flow, file, (count - 0.5) / per_second, per_second)
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            yield
            said, _ = process.communicate()
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        self.sent[flow] += int(said.split()[0])

    def most(self, seconds: float) -> float:
        """Packets per second of the other flow that reach the sink when it sends all it can."""
        file = self._folder / "most.frames"
        frames = [data_frame("unwatched", PORTS["other"], number) for number in range(64)]
        write_frames(file, frames)
        before, begun = _received(), time.monotonic()
        subprocess.run(
            self._command("other", file, seconds, 0), check=True, stdout=subprocess.DEVNULL
        )
        return (_received() - before) / (time.monotonic() - begun)

    def _command(
        self, flow: str, file: Path, seconds: float, per_second: float
    ) -> list[str | Path]:
        return [self._blaster, f"ptf{PORTS[flow]}", file, str(seconds), str(per_second)]


def _received() -> int:
    return int(Path(f"/sys/class/net/ptf{PORTS['sink']}/statistics/rx_packets").read_text())


def _wait(until: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + DRAIN_TIMEOUT_S
    while not until():
        if time.monotonic() > end:
            raise TargetUnavailableError(f"the switch did not do it in time: {what}")
        time.sleep(POLL_S)


def look(bed: Bed, flow: HeldFlow, seconds: float) -> Look:
    """Both measurements, of `seconds` each."""
    into, out = Watch(f"sw{PORTS['other']}"), Watch(f"ptf{PORTS['sink']}")
    with bed.sending("held", flow.per_second, seconds), bed.sending("other", PACED, seconds):
        pass
    # Each is followed by its last packet, which has no packet of the other flow behind it.
    time.sleep(10 * POLL_S)
    for watch in (into, out):
        watch.stop()
    entered, left = into.of("other"), out.of("other")
    times = sorted(stamp - entered[number] for number, stamp in left.items())
    if not times:
        raise TargetUnavailableError("no packet of the other flow left the switch")
    return Look(
        median_ns=times[len(times) // 2],
        p99_ns=times[len(times) * 99 // 100],
        lost=len(entered) - len(left),
        most_per_second=bed.most(seconds),
        left=len(out.of("held")),
    )


def measure_pair(bed: Bed, target: str, seconds: float, held_first: bool) -> Pair:
    """One pair. Raises TargetUnavailableError when what was held does not leave."""
    flow = HELD[target]
    never = None if held_first else look(bed, flow, seconds)
    before = bed.sent["held"]
    bed.ask(ArnType.DETECTED)
    with bed.sending("held", flow.waiting, 1.0):
        pass
    held = look(bed, flow, seconds)
    waits = bed.sent["held"] - before - held.left
    sink = Watch(f"ptf{PORTS['sink']}")
    try:
        bed.ask(ArnType.ELIMINATED)
        _wait(lambda: len(sink.of("held")) >= waits, "what was held leaves")
    finally:
        sink.stop()
    order = list(sink.of("held"))
    return Pair(
        target=target,
        held_first=held_first,
        never_held=look(bed, flow, seconds) if never is None else never,
        held=held,
        in_order=order == sorted(order),
    )


def _switch(target: str, log: Path) -> Target:
    interfaces = {port: f"sw{port}" for port in PORTS.values()}
    return pinned(TARGETS[target], switch_cores())(interfaces, GRPC_ADDRESS, 1, log)


def measure(target: str, pairs: int, seconds: float) -> Iterator[Pair]:
    """Pairs on one target. Raises TargetUnavailableError."""
    pipeline = load_pipeline("p")
    with (
        workspace() as (blaster, folder),
        _switch(target, folder / f"{target}.log") as switch,
        P4RuntimeClient(GRPC_ADDRESS, 1) as client,
    ):
        client.set_pipeline(pipeline)
        intent = entries(HOLDING)
        client.write(*intent.take_updates(1_000))
        parking = V1MODEL.ports.parking
        if target == "bmv2" and parking is not None:
            switch.limit_port(parking, RATE, depth_for(HOLDING.packets))
        bed = Bed(blaster, folder)
        # The first packets pay for what is set up then.
        look(bed, HELD[target], min(seconds, 1.0))
        for number in range(pairs):
            yield measure_pair(bed, target, seconds, held_first=bool(number % 2))


def spread(values: Sequence[float], form: str) -> str:
    """Least, median and greatest."""
    return " / ".join(f"{each:{form}}" for each in (min(values), median(values), max(values)))


def table(target: str, pairs: Sequence[Pair]) -> Table:
    """What the other flow saw, least / median / greatest of the pairs; ratios are of one pair."""
    made = Table("other flow", "never held", "held", "held ÷ never held", title=target)
    rows: tuple[tuple[str, Callable[[Look], float], str], ...] = (
        ("packets/s at most", lambda each: each.most_per_second, ",.0f"),
        ("median, µs", lambda each: each.median_ns / 1000, ",.0f"),
        ("p99, µs", lambda each: each.p99_ns / 1000, ",.0f"),
        ("lost", lambda each: each.lost, ",.0f"),
        ("of the held flow left", lambda each: each.left, ",.0f"),
    )
    for name, value, form in rows:
        never, held = ([value(getattr(pair, which)) for pair in pairs] for which in _LOOKS)
        ratios = [b / a for a, b in zip(never, held, strict=True) if a]
        ratio = spread(ratios, ".2f") if name not in ("lost", "of the held flow left") else ""
        made.add_row(name, spread(never, form), spread(held, form), ratio)
    return made


_LOOKS = ("never_held", "held")


def main() -> None:
    parser = options_of("held_realtime", __doc__)
    parser.add_argument("--pairs", type=int, default=10, help="of looks on each target")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each measurement")
    parser.add_argument(
        "--targets", nargs="+", choices=sorted(TARGETS), default=["bmv2", "softswitch"]
    )
    options = parser.parse_args()
    if options.pairs < 1 or not 0 < options.seconds <= 3:
        parser.error("at least one pair, and up to 3 seconds, so that holds outlast them")
    try:
        enter("fcn.bench.held_realtime", sys.argv[1:])
    except IsolationError as error:
        parser.exit(2, f"{error}\n")
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    console = Console()
    make_interfaces()
    found: list[Pair] = []
    for target in options.targets:
        try:
            pairs = list(measure(target, options.pairs, options.seconds))
        except TargetUnavailableError as error:
            console.print(f"{target}: {error}")
            continue
        console.print(table(target, pairs))
        found += pairs
    if not found:
        parser.exit(1, f"nothing was measured; {options.results} is as it was\n")
    # What else runs makes these figures; it is part of them.
    result = {"machine": machine(), "load": os.getloadavg()[1], "pairs": found}
    write_results(options.results, result)


if __name__ == "__main__":
    main()
