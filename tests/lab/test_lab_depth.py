"""Depths of queues over all time, against closed forms."""

import pytest
from lab_networks import GIGABIT, Rates, wan

from fcn.lab.core import ETHERNET_OVERHEAD, Simulation
from fcn.lab.depths import depths, measure_depth
from fcn.lab.errors import LabError

TUNNEL = 40
COUNT = 200
SLOW = Rates((100 * GIGABIT, 500), (400 * GIGABIT, 1_000), (10 * GIGABIT, 1_000))


def test_the_mean_is_what_all_packets_waited_and_the_most_what_a_burst_leaves() -> None:
    """Little's law: the integral of the depth is the sum of the waits. Packets come at 100 Gb/s and
    leave at 10; when the last one comes those wait that have not begun to leave."""
    with Simulation() as simulation:
        network = wan(simulation, SLOW)
        p1 = simulation.switches["p1"]
        measure_depth(simulation, p1, 2)
        measure_depth(simulation, p1, 2)
        frame = network.frame()
        network.left.send_series([frame], per_second=1e9, count=COUNT)
        simulation.run_until(1_000_000)
        found, seen = depths(simulation, p1, 2), network.right.counters()
        assert seen.timed == COUNT
        waited = seen.delay_sum_ns - COUNT * seen.delay_min_ns
        # The first one waits for the line of its host, too: not at all; the others come from there.
        sent_ns = (len(frame) + ETHERNET_OVERHEAD) * 8 / 100
        served_ns = (len(frame) + TUNNEL + ETHERNET_OVERHEAD) * 8 / 10
        at_host = sum(number * (sent_ns - 1) for number in range(COUNT))
        assert found.mean_packets * 1_000_000 == pytest.approx(waited - at_host, rel=0.001)
        begun = int((COUNT - 1) * sent_ns / served_ns) + 1
        assert found.most_packets == COUNT - begun
        octets = len(frame) + TUNNEL
        assert found.most_octets == found.most_packets * octets
        assert found.mean_octets == pytest.approx(found.mean_packets * octets)


def test_a_switch_that_goes_off_has_empty_queues() -> None:
    with Simulation() as simulation:
        network = wan(simulation, SLOW)
        p1 = simulation.switches["p1"]
        measure_depth(simulation, p1, 2)
        network.left.send_series([network.frame()], per_second=1e7)
        simulation.run_until(100_000)
        before = depths(simulation, p1, 2)
        assert before.most_packets > 50
        p1.close(p1.engine)
        simulation.run_until(10_000_000)
        after = depths(simulation, p1, 2)
        assert after.most_packets == before.most_packets
        assert after.mean_packets == pytest.approx(before.mean_packets / 100)


def test_what_is_not_measured_has_no_depth() -> None:
    with Simulation() as simulation:
        network = wan(simulation)
        p1 = simulation.switches["p1"]
        for port in (2, 9999):
            with pytest.raises(LabError, match="no such port"):
                depths(simulation, p1, port)
        with pytest.raises(LabError, match="no such port"):
            measure_depth(simulation, p1, 9999)
        assert network.left.counters().sent == 0
