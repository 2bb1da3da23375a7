"""What a switch counts of each priority, and when it says PAUSE, against a model of both that sees
nothing but the frames on its links."""

import random

import pytest
from lab_networks import GIGABIT, Rates, address, host_mac, wan

from fcn.lab.balance import balance
from fcn.lab.core import ETHERNET_OVERHEAD, Simulation
from fcn.lab.pfc import Pfc
from fcn.ptf_tests.lib import packets

FRAMES = 400
PORT_AT, INNER = 14 + 20 + 2, 40
"""The UDP destination port, which numbers a frame: where it is as hosts send it, and how much
further back in the tunnel."""


def number_of(frame: bytes, at: int) -> int:
    return int.from_bytes(frame[at : at + 2])


@pytest.mark.parametrize("seed", range(8))
def test_pauses_begin_and_end_with_the_octet_that_crosses_a_threshold(seed: int) -> None:
    """Frames of all priorities and sizes at random times, of which one leaves after another."""
    rng = random.Random(seed)
    out_bps = rng.choice((1, 3, 5)) * GIGABIT
    rates = Rates((10 * GIGABIT, rng.randrange(5_000)), (out_bps, 2_000), (40 * GIGABIT, 1_000))
    xoff = rng.randrange(2_000, 15_000)
    pfc = Pfc(
        frozenset(rng.sample(range(8), rng.randint(1, 8))),
        xoff, rng.randrange(xoff), longest_frame=1_500,
    )  # fmt: skip
    with Simulation(seed) as simulation:
        network = wan(simulation, rates, 100_000, hosts=1, features="[]")
        simulation.keep_pauses()
        host_link, core_link = network.links[:2]
        host_link.set_pfc(pfc)
        host_link.tap(0)
        core_link.tap(0)
        frames = []
        for number in range(FRAMES):
            datagram = packets.udp(
                str(address(1)), str(address(2)), 1, number, bytes(rng.randint(20, 1_400)),
                traffic_class=rng.randrange(8) << 5,
            )  # fmt: skip
            frames.append(packets.ethernet(datagram, src=host_mac(1), dst=network.gateway(1)))
        network.left.send_series(frames, per_second=3e6, count=FRAMES, poisson=True)
        simulation.run_until(10_000_000)
        balance(simulation)
        tapped = simulation.tapped()
        pauses = [each for each in simulation.pauses() if each.sent and each.node == "pe1"]
        seen = host_link.pfc_counters(1)

    events = []
    for each in tapped:
        if each.link == host_link.number:
            number, time = number_of(each.data, PORT_AT), float(each.time_ns)
        else:
            number = number_of(each.data, PORT_AT + INNER)
            octets = len(each.data) + ETHERNET_OVERHEAD
            time = each.time_ns - core_link.delay_ns - octets * 8e9 / out_bps
        events.append((time, each.link == host_link.number, number))
    assert len(events) == 2 * FRAMES
    octets_of = dict.fromkeys(pfc.priorities, 0)
    paused: set[int] = set()
    expected = []
    peak = 0
    for time, arrives, number in sorted(events):
        priority = frames[number][15] >> 5
        if priority not in octets_of:
            continue
        octets_of[priority] += len(frames[number]) * (1 if arrives else -1)
        peak = max(peak, octets_of[priority])
        if arrives and octets_of[priority] > pfc.xoff and priority not in paused:
            paused.add(priority)
            expected.append((time, priority, True))
        elif not arrives and octets_of[priority] <= pfc.xon and priority in paused:
            paused.remove(priority)
            expected.append((time, priority, False))
    told = []
    for pause in pauses:
        begins = pause.duration_ns > 0
        if begins != (pause.priority in paused):  # otherwise one is repeated while it lasts
            (paused.add if begins else paused.remove)(pause.priority)
            told.append((pause.time_ns, pause.priority, begins))
    assert expected
    assert [each[1:] for each in told] == [each[1:] for each in expected]
    assert all(abs(a[0] - b[0]) <= 2 for a, b in zip(told, expected, strict=True))
    assert seen.dropped == seen.octets == sum(octets_of.values()) == 0
    assert peak == seen.peak <= pfc.size(10 * GIGABIT, host_link.delay_ns, ETHERNET_OVERHEAD)
