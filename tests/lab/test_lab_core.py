"""Order, time, determinism, cut links and conservation in the core, on the real programs."""

import asyncio

import pytest
from lab_networks import CORE_PORT, GIGABIT, Rates, Wan, provision_with_flows, wan

from fcn.contract.constants import compiled_programs
from fcn.lab.balance import balance
from fcn.lab.core import ETHERNET_OVERHEAD, Simulation
from fcn.lab.entries import write_entries
from fcn.lab.errors import LabError
from fcn.softswitch.api import EngineEvents
from fcn.softswitch.engine import load_program

MILLISECOND = 1_000_000
FOREVER = 10**12
ARP = b"\xff" * 6 + bytes.fromhex("020000000101") + bytes.fromhex("0806") + bytes(46)
"""What a PE sends to its control plane."""


def serialisation_ns(octets: int, rate_bps: int) -> int:
    """Rounded down, as for a frame that finds the line idle."""
    return (octets + ETHERNET_OVERHEAD) * 8 * 10**9 // rate_bps


def loaded(simulation: Simulation) -> Wan:
    """A network whose narrow link is overloaded by a Poisson stream each way."""
    network = wan(simulation, Rates(core2=(8 * GIGABIT, MILLISECOND)), buffer=40)
    for host, back in ((network.left, False), (network.right, True)):
        frames = [network.frame(size, back=back) for size in (64, 512, 1024)]
        host.send_series(frames, per_second=3_000_000, count=5_000, poisson=True)
    return network


def test_one_packet_takes_serialisation_and_propagation() -> None:
    rates = Rates((100 * GIGABIT, 500), (400 * GIGABIT, 7_777), (25 * GIGABIT, 1_234_567))
    with Simulation() as simulation:
        network = wan(simulation, rates)
        tunnel = 40
        for sent, payload in enumerate((64, 1024, 4096), 1):
            frame = network.frame(payload)
            network.left.send(frame)
            network.right.reset_delays()
            simulation.run_until(simulation.now_ns + 10 * MILLISECOND)
            expected = sum(delay for _, delay in (rates.core1, rates.core2, *2 * (rates.access,)))
            expected += 2 * serialisation_ns(len(frame), 100 * GIGABIT)
            for rate, _ in (rates.core1, rates.core2):
                assert rate is not None
                expected += serialisation_ns(len(frame) + tunnel, rate)
            counters = network.right.counters()
            assert counters.received == sent
            assert (counters.delay_min_ns, counters.delay_max_ns) == (expected, expected)


def test_back_to_back_frames_leave_at_the_exact_rate() -> None:
    """1000 frames of 22.12 ns each take 22,120 ns, not 22,000."""
    with Simulation() as simulation:
        a, b = simulation.add_host("a"), simulation.add_host("b")
        link = simulation.connect(a, 0, b, 0, rate_bps=400 * GIGABIT, delay_ns=0)
        link.tap(0)
        for _ in range(1000):
            a.send(bytes(1082))
        simulation.run_until(FOREVER)
        times = [frame.time_ns for frame in simulation.tapped()]
        assert times == [(n * (1082 + 24) * 8) // 400 for n in range(1, 1001)]


def test_ties_follow_the_order_of_construction() -> None:
    with Simulation() as simulation:
        program = load_program(compiled_programs() / "p.json")
        node = simulation.add_switch("p", program)
        hosts = [simulation.add_host(f"h{n}") for n in range(100)]
        links = [
            simulation.connect(host, 0, node, n, rate_bps=None, delay_ns=5)
            for n, host in enumerate(hosts)
        ]
        for link in links:
            link.tap(0)
        for host in reversed(hosts):
            host.send(bytes(60))
        simulation.run_until(4)
        assert simulation.tapped() == []
        simulation.run_until(5)
        assert [frame.link for frame in simulation.tapped()] == list(range(100))


@pytest.mark.parametrize("pieces", [1, 7])
def test_the_same_seed_gives_the_same_run(pieces: int) -> None:
    """Also when the run is cut in pieces; another seed gives another."""

    def run(seed: int) -> tuple[int, int]:
        with Simulation(seed) as simulation:
            loaded(simulation)
            simulation.keep_digest()
            for piece in range(1, pieces + 1):
                simulation.run_until(10 * MILLISECOND * piece // pieces)
            return simulation.digest, simulation.hops

    whole = run(5)
    assert run(5) == whole
    assert run(6) != whole
    assert whole == reference_run()


_REFERENCE: list[tuple[int, int]] = []


def reference_run() -> tuple[int, int]:
    """Seed 5 in one piece."""
    if not _REFERENCE:
        with Simulation(5) as simulation:
            loaded(simulation)
            simulation.keep_digest()
            simulation.run_until(10 * MILLISECOND)
            _REFERENCE.append((simulation.digest, simulation.hops))
    return _REFERENCE[0]


def digest_of(*frames: tuple[bytes, int]) -> int:
    """Of a link on which these are sent at these times."""
    with Simulation() as simulation:
        a, b = simulation.add_host("a"), simulation.add_host("b")
        simulation.connect(a, 0, b, 0, rate_bps=None, delay_ns=5)
        simulation.keep_digest()
        for frame, time in frames:
            simulation.run_until(time)
            a.send(frame)
        simulation.run_until(MILLISECOND)
        return simulation.digest


@pytest.mark.parametrize("length", [60, 64, 127, 1500, 4209, 10_240])
def test_any_octet_of_a_frame_changes_the_digest(length: int) -> None:
    whole = bytes(n * 37 % 251 for n in range(length))
    places = {*range(0, length, max(1, length // 97)), length - 2, length - 1}
    changed = {digest_of((whole, 1))}
    for place in places:
        for bit in (0x01, 0x80):
            octets = bytearray(whole)
            octets[place] ^= bit
            changed.add(digest_of((bytes(octets), 1)))
    assert len(changed) == 1 + 2 * len(places)


def test_length_time_and_order_change_the_digest() -> None:
    """Also the order of words in a frame, and the same change of two of them."""
    one, other = bytes(100), bytes([*range(100)])
    swapped = bytearray(other)
    swapped[0:8], swapped[64:72] = other[64:72], other[0:8]
    twice = bytearray(other)
    twice[7] ^= 0x80
    twice[71] ^= 0x80
    runs = [
        digest_of((one, 1), (other, 2)),
        digest_of((other, 1), (one, 2)),
        digest_of((one, 1), (other, 3)),
        digest_of((one, 2), (other, 2)),
        digest_of((bytes(101), 1), (other, 2)),
        digest_of((one, 1)),
        digest_of((one, 1), (bytes(swapped), 2)),
        digest_of((one, 1), (bytes(twice), 2)),
        digest_of(),
    ]
    assert len(set(runs)) == len(runs)
    assert runs[0] == digest_of((one, 1), (other, 2))


def test_every_frame_is_accounted_for() -> None:
    """At any time: in flight, in queues, dropped by full queues, by the program, by a cut link."""
    with Simulation(3) as simulation:
        network = loaded(simulation)
        seen: set[str] = set()
        for step in range(1, 40):
            simulation.run_until(step * 100_000)
            if step == 20:
                network.links[1].set_up(False)
            if step == 30:
                network.links[1].set_up(True)
            state = balance(simulation)
            seen |= {name for name, n in {**state.ends, **state.places}.items() if n}
        simulation.run_until(FOREVER)
        final = balance(simulation)
        assert {name: n for name, n in final.places.items() if n} == {}
        assert simulation.frames_in_use == 0
        assert final.ends["p1: queue_full_drops"] > 0
        assert final.ends["pe1:2 to p1:1: link down"] > 0
        assert final.ends["p1: replaced"] > 0, "congestion makes clones"
        assert {"p1:2 to pe2:2: in flight", "p1: in queues"} <= seen


def test_a_lost_frame_is_noticed() -> None:
    """The accounting itself: a counter that is off by one is an error that names the place."""
    with Simulation() as simulation:
        network = wan(simulation)
        network.left.send(network.frame())
        simulation.run_until(FOREVER)
        balance(simulation)
        engine = simulation.switches["p1"].engine
        true = engine.balance()
        engine.balance = lambda: {**true, "sent": true["sent"] - 1}  # type: ignore[method-assign]
        with pytest.raises(LabError, match="p1 does not keep count of its frames: 0 are not 1"):
            balance(simulation)


def test_memory_is_bounded_by_what_is_in_flight() -> None:
    with Simulation() as simulation:
        network = wan(simulation)
        network.left.send_series([network.frame()], per_second=5_000_000)
        most = 0
        for step in range(1, 50):
            simulation.run_until(step * MILLISECOND)
            most = max(most, simulation.frames_in_use)
        # 1.5 ms at 25 ns a frame on the narrow link, and its queue of 1000.
        assert 6_000 < most < 9_000


def test_a_switch_changes_its_program_and_is_switched_off() -> None:
    """What waited in it is lost and counted; its ports keep their rates."""
    with Simulation() as simulation:
        network = loaded(simulation)
        node = simulation.switches["p1"]
        simulation.run_until(1_200_000)
        old, waited = node.engine, node.engine.balance()["held"]
        assert waited > 0
        node.start(node.open(old.program))
        node.close(old)
        assert balance(simulation).ends["p1: lost"] == waited
        write_entries(provision_with_flows(network.config, "p1"), node.engine)
        simulation.run_until(1_800_000)
        assert node.engine.balance()["queue_full_drops"] > 0, "the narrow link has its rate"
        node.close(node.engine)
        simulation.run_until(FOREVER)
        final = balance(simulation)
        assert final.ends["p1: off_drops"] > 0
        assert simulation.frames_in_use == 0
        with pytest.raises(LabError, match="p1 has no program"):
            _ = node.engine


def test_a_cut_link_loses_what_is_on_it_and_tells_the_control_plane() -> None:
    with Simulation() as simulation:
        network = wan(simulation)
        told: list[tuple[int, bool]] = []
        node = simulation.switches["pe1"]
        node.engine.set_events(
            EngineEvents(
                digest=lambda *_: None,
                packet_in=lambda _: None,
                idle=lambda *_: None,
                port_status=lambda port, up: told.append((port, up)),
            )
        )
        node.engine.dispatch_events()
        assert told == [(1, True), (2, True)]
        network.left.send(network.frame())
        simulation.run_until(100_000)
        assert network.links[1].counters(0).in_flight == 1
        network.links[1].set_up(False)
        assert simulation.run_until(FOREVER) == 100_000, "the event comes first"
        node.engine.dispatch_events()
        assert told[2:] == [(2, False)]
        simulation.run_until(FOREVER)
        assert network.right.counters().received == 0
        assert network.links[1].counters(0).cut == 1


def test_a_packet_in_stops_the_run_at_its_time() -> None:
    """An unknown destination is punted; without anybody who listens the run goes on."""
    with Simulation() as simulation:
        network = wan(simulation)
        network.left.send(ARP)
        simulation.run_until(MILLISECOND)
        heard: list[bytes] = []
        engine = simulation.switches["pe1"].engine
        engine.set_events(
            EngineEvents(
                digest=lambda *_: None,
                packet_in=heard.append,
                idle=lambda *_: None,
                port_status=lambda *_: None,
            )
        )
        engine.dispatch_events()
        assert len(heard) == 1
        network.left.send(ARP)
        reached = simulation.run_until(FOREVER)
        assert reached == MILLISECOND + 500 + serialisation_ns(len(ARP), 100 * GIGABIT)
        assert simulation.switches["pe1"].has_event
        engine.dispatch_events()
        assert len(heard) == 2
        assert simulation.run_until(FOREVER) == FOREVER


async def test_events_reach_an_event_loop_by_its_next_turn() -> None:
    with Simulation() as simulation:
        network = wan(simulation)
        heard = asyncio.Event()
        engine = simulation.switches["pe1"].engine
        engine.set_events(
            EngineEvents(
                digest=lambda *_: None,
                packet_in=lambda _: heard.set(),
                idle=lambda *_: None,
                port_status=lambda *_: None,
            )
        )
        engine.dispatch_events()
        network.left.send(ARP)
        assert simulation.run_until(MILLISECOND) < MILLISECOND
        assert not heard.is_set()
        await asyncio.wait_for(heard.wait(), 60)
        assert simulation.run_until(MILLISECOND) == MILLISECOND


@pytest.mark.parametrize("ns", [-1, (1 << 64) - 1, 1 << 64])
def test_impossible_times_are_refused(ns: int) -> None:
    """The last of 64 bits is that of what never happens: a run until then would not end."""
    with Simulation() as simulation:
        simulation.add_host("a")
        with pytest.raises(LabError, match="is no virtual time"):
            simulation.run_until(ns)
        assert simulation.run_until((1 << 64) - 2) == (1 << 64) - 2


def test_impossible_networks_are_refused() -> None:
    with Simulation() as simulation:
        a, b = simulation.add_host("a"), simulation.add_host("b")
        for options, reason in (
            ({"rate_bps": 0, "delay_ns": 1}, "carries nothing"),
            ({"rate_bps": 1, "delay_ns": -1}, "delay of -1 ns"),
            ({"rate_bps": 1, "delay_ns": 1, "buffer": 0}, "buffer of 0 packets"),
        ):
            with pytest.raises(LabError, match=reason):
                simulation.connect(a, 0, b, 0, **options)
        with pytest.raises(LabError, match="a has no port 1"):
            simulation.connect(a, 1, b, 0, rate_bps=None, delay_ns=0)
        simulation.connect(a, 0, b, 0, rate_bps=None, delay_ns=0)
        with pytest.raises(LabError, match="port 0 of a has a link already"):
            simulation.connect(a, 0, b, 0, rate_bps=None, delay_ns=0)
        with pytest.raises(LabError, match="there is a node 'a' already"):
            simulation.add_host("a")
        with pytest.raises(LabError, match="10241 octets is longer"):
            a.send(bytes(10241))
    with pytest.raises(LabError, match="the simulation is closed"):
        simulation.run_until(1)


def test_a_queue_is_limited_in_octets() -> None:
    """A burst from 100 Gb/s into 10: what fits 20,000 octets waits, the rest is dropped."""
    with Simulation() as simulation:
        rates = Rates((100 * GIGABIT, 0), (10 * GIGABIT, 0), (100 * GIGABIT, 0))
        network = wan(simulation, rates, buffer=None, buffer_octets=20_000)
        frame = network.frame(1000)
        for _ in range(100):
            network.left.send(frame)
        simulation.run_until(10_000)
        counters = simulation.switches["pe1"].engine.port_counters(CORE_PORT)
        outer = len(frame) + 40
        assert counters.queue_octets_peak == 20_000 // outer * outer
        simulation.run_until(FOREVER)
        dropped = balance(simulation).ends["pe1: queue_full_drops"]
        assert dropped > 0
        assert network.right.counters().received == 100 - dropped
