"""How fast flows are learned, from the first packet to the entries in the switches.

`python -m fcn.bench.learning` runs two provider edges on softswitches and the controller, offers
connection set-ups and new flows, and measures in the switches when each takes effect: 1,000 new
flows a second, 1,000 and 4,000 handshakes a second, and 50 handshakes a second of one tenant while
another offers 10,000. A handshake counts from the time its second half (the REP) was due to be
sent until both directions can be notified; what is never learned counts as later than all others.
`--baseline COMMIT` also measures the controller of an earlier commit with the same switches and
traffic; `--page` this one alone, at 4,000 handshakes a second, with and without somebody who looks
at the live page. Prints the figures and ratios, and writes them to bench/results/learning.json,
with `--page` to learning_page.json.
"""

import math
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.console import Console

from fcn.bench.baseline import ROOT, BaselineError, checked_out, commit_named
from fcn.bench.forwarding import workspace, write_frames
from fcn.bench.handshakes import INITIATOR_QP, RESPONDER_QP, first_packets, replies, requests
from fcn.bench.harness import RESULTS, machine, options_of, table_of, write_results
from fcn.bench.network import (
    NODES,
    TENANTS,
    Installed,
    Network,
    outer,
    pairs,
    running_network,
)
from fcn.hosts.processes import ProcessError
from fcn.ptf_tests.lib.ports import make_interfaces
from fcn.ptf_tests.targets import TargetUnavailableError
from fcn.topologies.isolation import IsolationError, enter

QUIET = 3.0
"""Seconds without a new flow after which no more are expected."""

PATIENCE = 30.0
"""Seconds after the last frame after which what is not learned is never."""

ROUNDS = 3
"""With `--page`: it changes less than a run differs from the next."""

PAUSE = 0.001
"""Seconds from one look of a traffic source at what is due to the next: it shares the cores with
what is measured, and would take an eighth of them with a frame at a time."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a tenant offers: `count` handshakes, or new flows without, at `rate` per second."""

    tenant: str
    rate: int
    count: int
    handshakes: bool = True


@dataclass(frozen=True, slots=True)
class Scenario:
    """A load that is measured, and another tenant's beside it."""

    name: str
    load: Load
    beside: Load | None = None


BUSIEST = Scenario("4,000 handshakes/s", Load("blue", 4_000, 16_000))
SCENARIOS = (
    Scenario("1,000 new flows/s", Load("blue", 1_000, 10_000, handshakes=False)),
    Scenario("1,000 handshakes/s", Load("blue", 1_000, 10_000)),
    BUSIEST,
    Scenario("beside 10,000 handshakes/s", Load("blue", 50, 1_000), Load("red", 10_000, 200_000)),
)


@dataclass(frozen=True, slots=True)
class Result:
    """Milliseconds until a flow or connection was learned, None where that many never were;
    `rate`: learned per second; `cpu`: share of a core the controller used meanwhile."""

    scenario: str
    offered: int
    learned: int
    p50: float | None
    p99: float | None
    rate: float
    cpu: float


class Sender:
    """A running traffic source."""

    def __init__(self, blaster: Path, interface: str, frames: Path, load: Load) -> None:
        seconds = load.count / load.rate
        command = [str(blaster), interface, str(frames), str(seconds), str(load.rate)]
        command.append(str(PAUSE))
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def began(self) -> int:
        """Wait for the end; when it began, in nanoseconds of the monotonic clock."""
        said, _ = self._process.communicate()
        if self._process.returncode:
            raise ProcessError("a traffic source failed; what it says is above")
        return int(said.split()[2])


def _offer(network: Network, blaster: Path, load: Load) -> list[Sender]:
    """Start the traffic of a load: at the initiators' edge, and for handshakes at the other."""
    here, there = (network.site(node, load.tenant) for node in NODES)
    kinds: list[Callable[..., Iterator[bytes]]] = (
        [requests, replies] if load.handshakes else [first_packets]
    )
    senders = []
    for node, kind in zip(NODES, kinds, strict=False):
        file = network.folder / f"{load.tenant}-{node}.frames"
        write_frames(file, kind(here, there, load.count))
        senders.append((node, file))
    interface = TENANTS[load.tenant]
    return [Sender(blaster, outer(node, interface), file, load) for node, file in senders]


def _learned(network: Network, load: Load, began: int) -> list[float]:
    """When what was offered was learned, in seconds since it was due; infinity: never."""
    vrf = TENANTS[load.tenant]
    here, there = (network.site(node, load.tenant) for node in NODES)
    forth, back = (Installed.read(network.record(node)) for node in NODES)

    def known(at: Installed, flow: tuple[int, int, int, int], source_qp: int) -> float:
        labelled, label = at.labels.get(flow, (math.inf, 0))
        if not load.handshakes:
            return labelled
        when, found = at.senders.get(label, (math.inf, source_qp))
        if found != source_qp:
            raise ProcessError(f"{flow} is sent by {source_qp:#x}, and learned was {found:#x}")
        return max(labelled, when)

    latencies = []
    for number in range(load.count):
        a, b = int(here.host(number)), int(there.host(number))
        initiator, responder = INITIATOR_QP + number, RESPONDER_QP + number
        when = known(forth, (vrf, a, b, responder), initiator)
        if load.handshakes:
            when = max(when, known(back, (vrf, b, a, initiator), responder))
        latencies.append((when - began) / 1e9 - number / load.rate)
    return latencies


def measure(network: Network, blaster: Path, scenario: Scenario) -> Result:
    """Offer the loads of a scenario, and wait until nothing more is learned."""
    load = scenario.load
    started, used = time.monotonic(), network.controller_seconds()
    beside = _offer(network, blaster, scenario.beside) if scenario.beside else []
    senders = _offer(network, blaster, load)
    began = max(sender.began() for sender in senders)
    for sender in beside:
        sender.began()
    elapsed = time.monotonic() - started
    cpu = (network.controller_seconds() - used) / elapsed
    network.wait_until_quiet(QUIET, PATIENCE)
    latencies = _learned(network, load, began)
    due = [number / load.rate for number in range(load.count)]
    ends = [at + late for at, late in zip(due, latencies, strict=True) if late < math.inf]
    return Result(
        scenario.name,
        load.count,
        len(ends),
        percentile(latencies, 0.50),
        percentile(latencies, 0.99),
        len(ends) / max(ends) if ends else 0.0,
        cpu,
    )


def percentile(values: list[float], share: float) -> float | None:
    """In milliseconds; None for infinity."""
    found = sorted(values)[math.ceil(share * len(values)) - 1]
    return found * 1e3 if found < math.inf else None


@contextmanager
def looked_at(api: str) -> Iterator[None]:
    """The live page of a controller, and one who takes what it says."""
    command = [sys.executable, "-m", "fcn.page", "--api", api, "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as page:
        assert page.stdout is not None
        stream = page.stdout.readline().split()[-1] + "stream"

        def look() -> None:
            with suppress(OSError), urllib.request.urlopen(stream) as answer:
                for _ in answer:
                    pass

        threading.Thread(target=look).start()
        try:
            yield
        finally:
            page.terminate()


def run(tree: Path, blaster: Path, work: Path, scenario: Scenario, *, page: bool = False) -> Result:
    """A scenario with the controller of a checkout, with empty tables."""
    with (
        tempfile.TemporaryDirectory(dir=work) as folder,
        running_network(Path(folder), tree) as network,
        looked_at(str(network.config.api)) if page else nullcontext(),
    ):
        return measure(network, blaster, scenario)


def report(console: Console, now: list[Result], before: list[Result], other: str) -> None:
    """other: what was different before."""
    title = "Learning; milliseconds, per second, share of a core"
    numbers_of = ("offered", "learned", "p50", "p99", "per second", "controller")
    table = table_of(title, ["load"], numbers_of)
    for results, suffix in ((now, ""), (before, f", {other}")):
        for each in results:
            p50, p99 = (f"{x:,.1f}" if x is not None else "never" for x in (each.p50, each.p99))
            numbers = (f"{each.offered:,}", f"{each.learned:,}", p50, p99, f"{each.rate:,.0f}")
            table.add_row(each.scenario + suffix, *numbers, f"{each.cpu:.0%}")
    console.print(table)
    for name in dict.fromkeys(each.scenario for each in before):
        pairs = [pair for pair in zip(now, before, strict=True) if pair[0].scenario == name]
        late = median((one.p99 or math.inf) / (last.p99 or math.inf) for one, last in pairs)
        rate = median(one.rate / last.rate if last.rate else math.inf for one, last in pairs)
        console.print(f"{name}: p99 is {late:.3f} of that {other}, the rate {rate:.3f} times")


def main() -> None:
    parser = options_of("learning", __doc__, results=False)
    compared = parser.add_mutually_exclusive_group()
    compared.add_argument("--baseline", metavar="COMMIT", help="compare with its controller")
    compared.add_argument("--page", action="store_true", help="compare with nobody at the page")
    options = parser.parse_args()
    try:
        commit = commit_named(options.baseline) if options.baseline is not None else None
        enter("fcn.bench.learning", sys.argv[1:])
        _main(commit, options.page)
    except (BaselineError, IsolationError, ProcessError, TargetUnavailableError) as error:
        parser.exit(2, f"{error}\n")
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


def _main(commit: str | None, page: bool) -> None:
    console = Console()
    make_interfaces(pairs())
    with ExitStack() as stack:
        blaster, work = stack.enter_context(workspace())
        tree = ROOT if commit is None else stack.enter_context(checked_out(commit))
        now, before = [], []
        # In turn: what else the machine does is as much of one as of the other.
        for scenario in [BUSIEST] * ROUNDS if page else SCENARIOS:
            now.append(run(ROOT, blaster, work, scenario, page=page))
            console.print(now[-1])
            if commit is not None or page:
                before.append(run(tree, blaster, work, scenario))
                console.print(before[-1])
    report(console, now, before, "without the page" if page else "before")
    data = {"machine": machine(), "results": now, "before": before}
    write_results(RESULTS / ("learning_page.json" if page else "learning.json"), data)


if __name__ == "__main__":
    main()
