"""Flow control by priority: PAUSE frames are honoured and sent, and nothing is lost."""

import struct
from dataclasses import replace
from itertools import pairwise

import pytest
from lab_networks import GIGABIT, Rates, Wan, address, host_mac, wan

from fcn.contract.ecn import Ecn
from fcn.lab.balance import balance
from fcn.lab.core import ETHERNET_OVERHEAD, Simulation
from fcn.lab.depths import depths, measure_depth
from fcn.lab.errors import LabError
from fcn.lab.impairment import Impairment, impair
from fcn.lab.pfc import PAUSE_OCTETS, Pfc, headroom_octets
from fcn.lab.roce import RoceOptions, completions
from fcn.ptf_tests.lib import packets

MILLISECOND = 1_000_000
RATES = Rates((100 * GIGABIT, 2_000), (100 * GIGABIT, 50_000), (40 * GIGABIT, 10_000))
LONGEST = 1_200
DEAF = RoceOptions(ecn=Ecn.NOT_ECT, timeout=20 * MILLISECOND)
"""Without congestion control: only PAUSEs slow it down."""
PFC = Pfc(xoff=100_000, xon=50_000, longest_frame=LONGEST)
CORE_PFC = replace(PFC, priorities=frozenset({0}), xoff=700_000, xon=600_000)
"""So that p1 does not run out of packets for the round trip to pe1."""
MEMORY = 2_000_000
"""Octets; those of xoff and headroom of the core link."""
MESSAGE = 6_000_000


def pause(times: dict[int, int]) -> bytes:
    """A PAUSE frame with quanta by priority (IEEE 802.1Qbb)."""
    vector = sum(1 << priority for priority in times)
    quanta = [times.get(priority, 0) for priority in range(8)]
    head = bytes.fromhex("0180c2000001") + bytes.fromhex("020000000009")
    return (head + struct.pack("!HHH8H", 0x8808, 0x0101, vector, *quanta)).ljust(60, b"\0")


def sent_by_two(simulation: Simulation, core: Pfc | None = CORE_PFC, rates: Rates = RATES) -> Wan:
    """Two hosts at 100 Gb/s send through pe1 and p1 to a link of 40 Gb/s. All links on the way have
    flow control, that from pe1 to p1 `core`, or none."""
    network = wan(simulation, rates, None, buffer_octets=MEMORY, hosts=2, features="[]")
    simulation.keep_pauses()
    if core:
        network.links[0].set_pfc(PFC)
        network.links[4].set_pfc(PFC)
        network.links[1].set_pfc(core)
    for number in range(2):
        left = network.roce(1, number, DEAF)
        network.roce(2, number, DEAF)
        left.write(left.connect(address(2, number)), MESSAGE)
    return network


def dropped(simulation: Simulation) -> dict[str, int]:
    """Frames lost in switches, by place and reason."""
    return {what: n for what, n in balance(simulation).ends.items() if n and "drops" in what}


def test_nothing_is_lost_with_flow_control_and_much_without() -> None:
    """The same buffers; go-back-N does not have to send anything again."""
    with Simulation() as simulation:
        sent_by_two(simulation, None)
        simulation.run_until(10 * MILLISECOND)
        assert dropped(simulation).keys() == {"pe1: queue_full_drops", "p1: queue_full_drops"}
    with Simulation() as simulation:
        network = sent_by_two(simulation)
        for _ in range(100):
            simulation.run_until(simulation.now_ns + MILLISECOND // 10)
            balance(simulation)
        assert dropped(simulation) == {}
        done = completions(simulation)
        assert len(done) == 2
        octets = 2 * MESSAGE * (1024 + 16 + 44 + 14 + 40 + ETHERNET_OVERHEAD) / 1024
        round_trips = 2 * 2 * (2_000 + 50_000 + 10_000 + 2_000)  # connecting, and the last ACK
        at_full_rate = octets * 8e9 / (40 * GIGABIT)
        assert max(d.completed_ns for d in done) < 1.01 * at_full_rate + round_trips
        places = [(link, end) for link in (0, 1, 4) for end in (0, 1)]
        for link, end in places:
            seen = network.links[link].pfc_counters(end)
            line = network.links[link]
            assert line.rate_bps is not None
            pfc = CORE_PFC if link == 1 else PFC
            assert seen.peak <= pfc.size(line.rate_bps, line.delay_ns, line.overhead) <= MEMORY
            assert (seen.octets, seen.dropped) == (0, 0)
            if end == 1:
                assert seen.sent > 0
                assert seen.peak > pfc.xoff
            else:
                assert seen.received == network.links[link].pfc_counters(1).sent


@pytest.mark.parametrize(("share", "lossless"), [(1.0, True), (0.95, False)])
def test_the_headroom_is_what_is_needed(share: float, lossless: bool) -> None:
    """When almost nothing leaves meanwhile; with a little less some frames find no room."""
    rate, delay = RATES.core1
    assert rate is not None
    whole = headroom_octets(rate, delay, LONGEST, ETHERNET_OVERHEAD)
    with Simulation() as simulation:
        rates = replace(RATES, core2=(GIGABIT // 10, 1_000))
        network = sent_by_two(simulation, replace(CORE_PFC, headroom=int(share * whole)), rates)
        simulation.run_until(10 * MILLISECOND)
        seen = network.links[1].pfc_counters(1)
        assert seen.peak > CORE_PFC.xoff + 0.93 * whole
        lost = dropped(simulation)
        assert lost == ({} if lossless else {"p1: ingress_full_drops": seen.dropped})


def test_the_headroom_is_enough_where_a_frame_takes_less_than_a_nanosecond() -> None:
    """Times are whole ones: a sender may begin several frames in the one in which a PAUSE comes."""
    for xoff in range(600, 1200, 7):
        with Simulation() as simulation:
            a, b = simulation.add_host("a"), simulation.add_host("b")
            link = simulation.connect(a, 0, b, 0, rate_bps=4 * 10**12, delay_ns=0)
            pfc = Pfc(frozenset({0}), xoff, xoff // 2, longest_frame=64, drain_bps=GIGABIT)
            link.set_pfc(pfc)
            for number in range(400):
                a.send(bytes(60 + number % 5))
                b.send(bytes(60 + number % 3))
            simulation.run_until(MILLISECOND)
            seen = link.pfc_counters(1)
            assert seen.sent > 0
            assert (seen.octets, seen.dropped) == (0, 0), xoff


def test_the_headroom_is_enough_where_frames_take_longer_at_random() -> None:
    """On the way there and back."""
    with Simulation() as simulation:
        rates = replace(RATES, core2=(GIGABIT // 10, 1_000))
        network = sent_by_two(simulation, None, rates)
        impair(simulation, network.links[1], Impairment(jitter_ns=100_000))
        for number in (0, 1, 4):
            network.links[number].set_pfc(CORE_PFC if number == 1 else PFC)
        simulation.run_until(10 * MILLISECOND)
        assert network.links[1].pfc_counters(1).peak > CORE_PFC.xoff
        assert dropped(simulation) == {}


@pytest.mark.parametrize("step", [20, pytest.param(4, marks=pytest.mark.exhaustive)])
def test_the_headroom_is_enough_where_all_priorities_are_paused_at_once(step: int) -> None:
    """The last PAUSE waits for a frame and for all others."""
    rate, delay_ns, all_of_them = 100 * GIGABIT, 15, frozenset(range(8))
    slow = Pfc(all_of_them, 5_000, 5_000, longest_frame=1000, drain_bps=10**6)
    for ahead in range(60, 1060, step):
        with Simulation() as simulation:
            a, b = simulation.add_host("a"), simulation.add_host("b")
            link = simulation.connect(a, 0, b, 0, rate_bps=rate, delay_ns=delay_ns)
            link.set_pfc(replace(slow, drain_bps=None), end=0)
            link.set_pfc(slow, end=1)
            b.send(bytes(ahead))
            for frame in frames_of(*[7 << 3] * 30):
                a.send(frame)
                b.send(bytes(1000))
            simulation.run_until(MILLISECOND)
            assert link.pfc_counters(1).peak > slow.xoff
            assert link.pfc_counters(1).dropped == 0, ahead


def test_a_switch_holds_no_more_than_its_memory() -> None:
    """What its flow control has promised is not for other traffic: the first host's is paused, the
    second one's is lost beyond the rest."""
    memory, rates = 600_000, replace(RATES, core1=(GIGABIT, 50_000))
    with Simulation() as simulation:
        network = wan(simulation, rates, 10_000, hosts=2, features="[]", memory=memory)
        network.links[0].set_pfc(PFC)
        left, pe1 = network.roce(1, 0, DEAF), simulation.switches["pe1"]
        network.roce(2, 0, DEAF)
        measure_depth(simulation, pe1, 2)
        flood = packets.udp(str(address(1, 1)), str(address(2, 1)), 1, 2, bytes(958))
        frame = packets.ethernet(flood, src=host_mac(1, 1), dst=network.gateway(1, 1))
        network.lefts[1].send_series([frame], per_second=1e7, count=2_000, start_ns=MILLISECOND)
        left.write(left.connect(address(2)), MESSAGE // 4, start_ns=MILLISECOND * 11 // 10)
        simulation.run_until(10 * MILLISECOND)
        promised = PFC.size(100 * GIGABIT, 2_000, ETHERNET_OVERHEAD)
        seen = network.links[0].pfc_counters(1)
        assert PFC.xoff < seen.peak <= promised
        assert left.sender(0).retransmitted == 0
        assert dropped(simulation).keys() == {"pe1: buffer_full_drops"}
        most = depths(simulation, pe1, 2).most_octets
        # What was promised is counted as it came, the queue with the headers of tunnels.
        assert memory - promised < most < 1.01 * memory


def frames_of(*dscps: int) -> list[bytes]:
    """Frames of 1000 octets with these DSCPs."""
    return [
        packets.ethernet(
            packets.udp("10.0.0.1", "10.0.0.2", 1, 2, bytes(958), traffic_class=dscp << 2),
            src=host_mac(1),
            dst=host_mac(2),
        )
        for dscp in dscps
    ]


def test_a_host_pauses_one_priority_for_the_time_it_is_told() -> None:
    """To the nanosecond; frames of another one overtake, those of the same one keep their order."""
    rate, took = 100 * GIGABIT, (1000 + ETHERNET_OVERHEAD) * 8 // 100 + 1
    with Simulation() as simulation:
        a, b = simulation.add_host("a"), simulation.add_host("b")
        link = simulation.connect(a, 0, b, 0, rate_bps=rate, delay_ns=100)
        link.set_pfc(Pfc())
        simulation.keep_pauses()
        b.send(pause({3: 1_000, 5: 200}))
        arrived = 100 + (PAUSE_OCTETS + ETHERNET_OVERHEAD) * 8 * GIGABIT // rate
        simulation.run_until(200)
        (told,) = [p for p in simulation.pauses() if not p.sent]
        assert (told.time_ns, told.node, told.priority, told.duration_ns) == (arrived, "a", 3, 5120)
        link.tap(0)
        for frame in frames_of(26, 0, 26, 46):
            a.send(frame)
        simulation.run_until(5_000)
        assert [frame.data[15] >> 2 for frame in simulation.tapped()] == [0, 46]
        balance(simulation)
        simulation.run_until(10_000)
        after = simulation.tapped()
        assert [frame.data[15] >> 2 for frame in after] == [26, 26]
        assert after[0].time_ns in (arrived + 5120 + took + 100, arrived + 5120 + took + 99)
        b.send(pause({3: 65_535}))
        simulation.run_until(12_000)
        a.send(frames_of(26)[0])
        simulation.run_until(13_000)
        assert simulation.tapped() == []
        b.send(pause({3: 0}))
        simulation.run_until(14_000)
        assert len(simulation.tapped()) == 1, "told to go on"
        balance(simulation)


def test_a_slow_host_pauses_the_whole_path() -> None:
    """It takes 10 Gb/s: so does the sender, and nothing is lost on the way."""
    with Simulation() as simulation:
        network = wan(simulation, RATES, None, buffer_octets=300_000, features="[]")
        for number in range(4):
            network.links[number].set_pfc(CORE_PFC if number in (1, 2) else PFC)
        network.links[3].set_pfc(replace(PFC, drain_bps=10 * GIGABIT), end=1)
        left, right = network.roce(1, 0, DEAF), network.roce(2, 0, DEAF)
        left.write(left.connect(address(2)), MESSAGE)
        simulation.run_until(2 * MILLISECOND)
        before = right.receiver(0).octets
        simulation.run_until(4 * MILLISECOND)
        packet = 1024 + 44
        octets = (right.receiver(0).octets - before) * (packet + 14) / packet
        assert octets * 8 / 2e-3 == pytest.approx(10 * GIGABIT, rel=0.05)
        simulation.run_until(10 * MILLISECOND)
        assert len(completions(simulation)) == 1
        assert left.sender(0).retransmitted == 0
        assert dropped(simulation) == {}
        for number in range(4):
            assert network.links[number].pfc_counters(1).sent > 0
        assert network.links[3].pfc_counters(1).dropped == 0


def test_what_a_host_has_no_room_for_is_lost_and_counted() -> None:
    """Its sender does not honour PAUSEs."""
    with Simulation() as simulation:
        a, b = simulation.add_host("a"), simulation.add_host("b")
        link = simulation.connect(a, 0, b, 0, rate_bps=100 * GIGABIT, delay_ns=100)
        link.set_pfc(replace(PFC, headroom=0, drain_bps=GIGABIT), end=1)
        a.send_series(frames_of(26), per_second=1e7, count=1000)
        simulation.run_until(10 * MILLISECOND)
        seen = link.pfc_counters(1)
        assert 100_000 - 1000 < seen.peak <= 100_000
        drained = 1000 * 1e-7 * GIGABIT / 8 / 1000
        assert seen.dropped == pytest.approx(1000 - 100 - drained, abs=2)
        assert seen.octets == 0
        assert b.counters().received == 1000
        assert b.counters().overflowed == seen.dropped
        balance(simulation)


def test_a_pause_is_repeated_while_it_lasts() -> None:
    """Half its time apart, so that the sender never goes on by itself; also when some are lost."""
    short = replace(CORE_PFC, quanta=2_000)
    with Simulation() as simulation:
        network = sent_by_two(simulation, short)
        simulation.run_until(MILLISECOND)
        network.links[1].set_up(False)
        simulation.run_until(2 * MILLISECOND)
        network.links[1].set_up(True)
        simulation.run_until(4 * MILLISECOND)
        pauses = simulation.pauses()
        assert simulation.pauses_lost == 0
        sent = [p for p in pauses if p.sent and (p.node, p.port) == ("p1", 1)]
        got = [p for p in pauses if not p.sent and (p.node, p.port) == ("pe1", 2)]
        gaps = {b.time_ns - a.time_ns for a, b in pairwise(sent) if b.duration_ns}
        assert 2_000 * 512 // 100 // 2 in gaps
        on_the_way = RATES.core1[1] + (PAUSE_OCTETS + ETHERNET_OVERHEAD) * 8 // 100
        for one in got:
            ways = [one.time_ns - p.time_ns - on_the_way for p in sent]
            assert any(0 <= waited <= 100 for waited in ways), "and at most behind an ACK"
        assert len(got) < len(sent)
        assert pauses == sorted(pauses, key=lambda p: p.time_ns)
        balance(simulation)


def test_impossible_flow_control_is_refused() -> None:
    with Simulation() as simulation:
        a, b = simulation.add_host("a"), simulation.add_host("b")
        link = simulation.connect(a, 0, b, 0, rate_bps=GIGABIT, delay_ns=10)
        for pfc, reason in (
            (Pfc(frozenset()), "priorities"),
            (Pfc(frozenset({8})), "priorities"),
            (Pfc(xoff=1, xon=2), "pauses at 1 octets and goes on at 2"),
            (Pfc(headroom=-1), "headroom of -1"),
            (Pfc(quanta=1), "1 quanta"),
            (Pfc(queue=8), "no queue 8"),
            (Pfc(drain_bps=0), "drains 0 bit/s"),
        ):
            with pytest.raises(LabError, match=reason):
                link.set_pfc(pfc)
        with pytest.raises(LabError, match="no such port"):
            link.pfc_counters(0)
        c, d = simulation.add_host("c"), simulation.add_host("d")
        fast = simulation.connect(c, 0, d, 0, rate_bps=10**12, delay_ns=1)
        with pytest.raises(LabError, match="a PAUSE of 3 quanta lasts less than 2 ns"):
            fast.set_pfc(Pfc(quanta=3))
        fast.set_pfc(Pfc(quanta=4))
        c, d = simulation.add_host("e"), simulation.add_host("f")
        with pytest.raises(LabError, match="needs a link with a rate"):
            simulation.connect(c, 0, d, 0, rate_bps=None, delay_ns=1).set_pfc(Pfc())
