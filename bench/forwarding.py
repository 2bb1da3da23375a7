"""Packets per second of the compiled PE and P programs, softswitch against BMv2, in one run.

`python -m fcn.bench.forwarding` loads the same program with the same entries into each installed
target, offers the same frames over veth at increasing rates, and reports the highest delivered
rate. Switches run on all cores except the first, which is reserved for the traffic source: sharing
a core with it would reduce the rate of the switch.
It prints the ratios and writes the raw numbers to bench/results/forwarding.json.
PE and P have the fewest modes (profile fcn), and once more all of them (`full`).
Where p4c is installed, BMv2 also runs a plain IPv6 router (bench/router.p4) as a reference.
What an earlier commit's programs cost is in fcn.bench.instructions.
"""

import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import finsy as fy
from rich.console import Console

from fcn.bench.cores import pinned, switch_cores
from fcn.bench.harness import RESULTS, machine, options_of, positive, table_of, write_results
from fcn.contract.constants import FCN_LABEL_BIT
from fcn.contract.pipeline import Pipeline, load_pipeline
from fcn.contract.profiles import LEAST
from fcn.hosts.scratch import scratch_folder
from fcn.ptf_tests.lib import beds, packets
from fcn.ptf_tests.lib.entries import Writer
from fcn.ptf_tests.lib.p4runtime import P4RuntimeClient
from fcn.ptf_tests.lib.p_entries import PTables
from fcn.ptf_tests.lib.pe_entries import PeTables
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT, INTERFACES, make_interfaces
from fcn.ptf_tests.targets import TARGETS, TargetUnavailableError
from fcn.topologies.isolation import IsolationError, enter

HERE = Path(__file__).parent
GRPC_ADDRESS = "127.0.0.1:9559"
FLOWS = 1024
PAYLOAD = 256
RATE_STEP = 1.1
LOSS_LIMIT = 0.9
"""A target that delivers less than this share of the offered rate is overloaded."""
PAST_LIMIT = 3
"""Rates with overload that end a target's sweep; a single one can be caused by other load."""
DRAIN_POLL = 0.05


@dataclass(frozen=True, slots=True)
class Sample:
    """Offered and delivered frames per second at one rate."""

    offered: float
    delivered: float


@dataclass(frozen=True, slots=True)
class Sweep:
    """All rates offered to one program on one target."""

    program: str
    target: str
    samples: tuple[Sample, ...]

    @property
    def best(self) -> float:
        """Highest delivered rate in frames per second."""
        return max(sample.delivered for sample in self.samples)


def flow(number: int) -> tuple[int, int]:
    """DestQP and flow label of the flow with this number."""
    return 0x100 + number, FCN_LABEL_BIT | number


def pe_frames() -> list[bytes]:
    """RoCEv2 frames of labelled flows from a host, half IPv4, half IPv6."""
    frames = []
    for number in range(FLOWS):
        src, dst = (beds.HOST_V4, beds.REMOTE_V4) if number % 2 else (beds.HOST_V6, beds.REMOTE_V6)
        datagram = packets.roce(
            src, dst, flow(number)[0], payload=bytes(PAYLOAD), ecn=packets.Ecn.ECT0
        )
        frames.append(beds.host_frame_in(datagram))
    return frames


def configure_pe(client: Writer) -> None:
    """Ports, routes, one SRv6 tunnel, the flows with their labels."""
    pe = PeTables(client)
    pe.dc_port(DC_PORT, beds.RED)
    pe.core_port(CORE_PORT)
    pe.own_mac(DC_PORT, beds.NODE_MAC[DC_PORT])
    pe.recirculation()
    pe.enable_cnp()
    for remote in ("10.2.0.0/16", "2001:db8:2::/64"):
        pe.route(beds.RED, remote, "to_tunnel", tunnel=beds.RED_TUNNEL)
    pe.tunnel(beds.RED_TUNNEL, "encap_srv6", src=beds.PE_ADDRESS, dst=beds.REMOTE_RED_SID)
    pe.underlay(beds.DOMAIN, (CORE_PORT, beds.NODE_MAC[CORE_PORT], beds.NEIGHBOUR_MAC[CORE_PORT]))
    for number in range(FLOWS):
        dest_qp, label = flow(number)
        if number % 2:
            pe.flow(beds.RED, beds.HOST_V4, beds.REMOTE_V4, dest_qp, label)
        else:
            pe.flow(beds.RED, beds.HOST_V6, beds.REMOTE_V6, dest_qp, label)


def p_frames() -> list[bytes]:
    """The frames of `pe_frames` as the PE would send them into the WAN."""
    frames = []
    for number in range(FLOWS):
        inner = packets.roce(
            beds.HOST_V4,
            beds.REMOTE_V4,
            flow(number)[0],
            payload=bytes(PAYLOAD),
            ecn=packets.Ecn.ECT0,
        )
        outer = packets.ip(
            beds.PE_ADDRESS,
            beds.REMOTE_RED_SID,
            inner,
            nh=4,
            flow_label=flow(number)[1],
            traffic_class=packets.Ecn.ECT0,
        )
        frames.append(beds.core_frame_in(outer, DC_PORT))
    return frames


def configure_p(client: Writer) -> None:
    """Ports, a route, levels with default thresholds, Fast CNPs enabled."""
    p = PTables(client)
    p.core_port(DC_PORT)
    p.core_port(CORE_PORT)
    p.own_mac(DC_PORT, beds.NODE_MAC[DC_PORT])
    p.recirculation()
    p.notification_port()
    p.enable_fast_cnp(beds.P_ADDRESS)
    p.underlay(
        beds.REMOTE_PE_PREFIX, (CORE_PORT, beds.NODE_MAC[CORE_PORT], beds.NEIGHBOUR_MAC[CORE_PORT])
    )


@dataclass(frozen=True, slots=True)
class Program:
    """A program with its entries and its traffic. `load` gets a folder for compiled files."""

    name: str
    frames: Callable[[], list[bytes]]
    configure: Callable[[P4RuntimeClient], None]
    load: Callable[[Path], Pipeline]
    targets: tuple[str, ...] = ("bmv2", "softswitch")


def configure_router(client: P4RuntimeClient) -> None:
    """The same route as the P's."""
    action = fy.P4TableAction(
        "forward",
        port=CORE_PORT,
        src_mac=beds.NODE_MAC[CORE_PORT],
        dst_mac=beds.NEIGHBOUR_MAC[CORE_PORT],
    )
    match = fy.P4TableMatch(dst=beds.REMOTE_PE_PREFIX)
    client.write(+fy.P4TableEntry("route", match=match, action=action))


def compile_router(folder: Path) -> Pipeline:
    """Compile bench/router.p4. Raises TargetUnavailableError without p4c."""
    compiler = shutil.which("p4c-bm2-ss")
    if compiler is None:
        raise TargetUnavailableError("p4c-bm2-ss is not on PATH, so there is no router")
    p4info, blob = folder / "router.p4info.txtpb", folder / "router.json"
    command: list[str | Path] = [compiler, "--p4runtime-files", p4info, "-o", blob]
    subprocess.run([*command, HERE / "router.p4"], check=True)
    return load_pipeline("router", folder)


PROGRAMS = (
    Program("pe", pe_frames, configure_pe, lambda _: load_pipeline("pe", profile=LEAST)),
    Program("p", p_frames, configure_p, lambda _: load_pipeline("p", profile=LEAST)),
    Program("pe full", pe_frames, configure_pe, lambda _: load_pipeline("pe")),
    Program("p full", p_frames, configure_p, lambda _: load_pipeline("p")),
    Program("router", p_frames, configure_router, compile_router, ("bmv2",)),
)
FCN_PROGRAMS = tuple(program.name for program in PROGRAMS if program.name != "router")
"""Those of profile fcn, and with every mode."""


def received(port: int) -> int:
    """Frames received at the other end of a switch port's veth pair."""
    return int(Path(f"/sys/class/net/ptf{port}/statistics/rx_packets").read_text())


def offer(blaster: Path, frames: Path, seconds: float, pps: float) -> Sample:
    """Offer a rate and count the delivered frames until no more arrive."""
    before = received(CORE_PORT)
    run = subprocess.run(
        [blaster, f"ptf{DC_PORT}", frames, str(seconds), str(pps)],
        capture_output=True,
        text=True,
        check=True,
    )
    sent, nanoseconds, _ = (int(word) for word in run.stdout.split())
    # Frames still queued in the switch are counted, and the time until they arrive is included.
    started = time.monotonic()
    last = received(CORE_PORT)
    quiet_since = started
    while time.monotonic() - quiet_since < 2 * DRAIN_POLL:
        time.sleep(DRAIN_POLL)
        current = received(CORE_PORT)
        if current != last:
            last, quiet_since = current, time.monotonic()
    elapsed = nanoseconds / 1e9 + (quiet_since - started)
    return Sample(offered=sent * 1e9 / nanoseconds, delivered=(last - before) / elapsed)


def write_frames(file: Path, frames: Iterable[bytes]) -> None:
    """Write what the traffic source sends: a length of 16 bits before each frame."""
    file.write_bytes(b"".join(struct.pack("!H", len(frame)) + frame for frame in frames))


def sweep(
    program: Program, target: str, blaster: Path, work: Path, seconds: float, start: float
) -> Iterator[Sample]:
    """Offer increasing rates until the target is overloaded."""
    frames = work / f"{program.name}.frames"
    write_frames(frames, program.frames())
    log = work / f"{program.name}-{target}.log"
    pipeline = program.load(work)
    with (
        pinned(TARGETS[target], switch_cores())(INTERFACES, GRPC_ADDRESS, 1, log),
        P4RuntimeClient(GRPC_ADDRESS, 1) as client,
    ):
        client.set_pipeline(pipeline)
        program.configure(client)
        offer(blaster, frames, 0.2, start)
        rate = start
        past_limit = 0
        while past_limit < PAST_LIMIT:
            sample = offer(blaster, frames, seconds, rate)
            yield sample
            saturated = sample.delivered < LOSS_LIMIT * sample.offered
            generator_limit = sample.offered < 0.8 * rate
            past_limit += saturated or generator_limit
            rate *= RATE_STEP


@contextmanager
def workspace() -> Iterator[tuple[Path, Path]]:
    """A directory with the compiled traffic source."""
    with scratch_folder("fcn-bench-") as folder:
        blaster = folder / "blaster"
        command = ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o"]
        try:
            subprocess.run([*command, blaster, HERE / "blaster.c"], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise TargetUnavailableError(f"the traffic source cannot be built: {error}") from None
        yield blaster, folder


def report(console: Console, sweeps: list[Sweep]) -> None:
    title = f"RoCEv2 forwarding over veth, {FLOWS} flows, {PAYLOAD}-octet payload"
    columns = "BMv2, pps", "softswitch, pps", "softswitch / BMv2"
    table = table_of(title, ["program"], columns)
    for program in PROGRAMS:
        best = {s.target: s.best for s in sweeps if s.program == program.name}
        bmv2, soft = best.get("bmv2"), best.get("softswitch")
        table.add_row(
            program.name,
            f"{bmv2:,.0f}" if bmv2 else "not installed",
            f"{soft:,.0f}" if soft else "-",
            f"{soft / bmv2:.1f}" if bmv2 and soft else "-",
        )
    console.print(table)
    best = {s.program: s.best for s in sweeps if s.target == "bmv2"}
    for name in FCN_PROGRAMS:
        if name in best and "router" in best:
            ratio = best[name] / best["router"]
            console.print(f"{name} on BMv2 is {ratio:.2f} of a plain IPv6 router")


def main() -> None:
    parser = options_of("forwarding", __doc__, results=False)
    parser.add_argument("--seconds", type=positive, default=2.0, help="per offered rate")
    parser.add_argument("--start", type=positive, default=8_000.0, help="first rate, frames/s")
    parser.add_argument(
        "--targets", nargs="+", choices=sorted(TARGETS), default=["bmv2", "softswitch"]
    )
    options = parser.parse_args()
    try:
        enter("fcn.bench.forwarding", sys.argv[1:])
        measured = run(options.targets, options.seconds, options.start)
    except (IsolationError, TargetUnavailableError) as error:
        parser.exit(2, f"{error}\n")
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    if not measured:
        parser.exit(1, f"nothing was measured; {RESULTS} is as it was\n")


def run(targets: Sequence[str], seconds: float, start: float) -> bool:
    """Measure, show and write; whether anything was measured."""
    console = Console()
    sweeps: list[Sweep] = []
    make_interfaces()
    with workspace() as (blaster, work):
        for program in PROGRAMS:
            for target in (each for each in targets if each in program.targets):
                samples = []
                try:
                    for sample in sweep(program, target, blaster, work, seconds, start):
                        samples.append(sample)
                        console.print(
                            f"{program.name} on {target}: offered {sample.offered:>11,.0f}  "
                            f"delivered {sample.delivered:>11,.0f} pps"
                        )
                except TargetUnavailableError as error:
                    console.print(f"{target}: {error}")
                    continue
                sweeps.append(Sweep(program.name, target, tuple(samples)))
    if not sweeps:
        return False
    report(console, sweeps)
    write_results(RESULTS / "forwarding.json", {"machine": machine(), "sweeps": sweeps})
    console.print(f"raw numbers: {RESULTS}/forwarding.json")
    return True


if __name__ == "__main__":
    main()
