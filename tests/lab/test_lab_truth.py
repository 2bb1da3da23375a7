"""What the laboratory computes, against theory and against the softswitch in real time."""

import math
import random
import statistics
from collections import Counter

from lab_networks import DEST_QP, GIGABIT, Rates, host_mac, provision_with_flows, wan

from fcn.lab.balance import balance
from fcn.lab.core import ETHERNET_OVERHEAD, Simulation
from fcn.lab.entries import write_entries
from fcn.ptf_tests.lib import packets
from fcn.softswitch.api import PortQueue
from fcn.softswitch.engine import MemoryEngine

BATCHES = 30
T_30 = 2.756
"""Student's t for a confidence of 99 % and 29 degrees of freedom."""


def test_poisson_arrivals_wait_as_in_m_d_1() -> None:
    """Pollaczek and Khinchine: the mean wait is rho / (2 (1 - rho)) service times.

    Batch means: the waits of one batch depend on each other, those of distant batches hardly do.
    """
    rate = 10 * GIGABIT
    for load in (0.5, 0.8):
        with Simulation(int(load * 10)) as simulation:
            network = wan(simulation, Rates((None, 0), (rate, 0), (None, 0)), buffer=100_000)
            frame = network.frame()
            service = (len(frame) + 40 + ETHERNET_OVERHEAD) * 8 * 10**9 / rate
            network.left.send_series([frame], per_second=load * 1e9 / service, poisson=True)
            simulation.run_until(20_000_000)
            means = []
            for _ in range(BATCHES):
                network.right.reset_delays()
                simulation.run_until(simulation.now_ns + 20_000_000)
                seen = network.right.counters()
                means.append(seen.delay_sum_ns / seen.timed - service)
        expected = load / (2 * (1 - load)) * service
        half = T_30 * statistics.stdev(means) / math.sqrt(BATCHES)
        assert abs(statistics.mean(means) - expected) < half
        assert half < 0.05 * expected, "an interval wide enough for anything shows nothing"


def test_the_same_packets_as_the_softswitch() -> None:
    """Octet for octet and at the same times: PE1 alone, given what the laboratory gave it."""
    with Simulation(4) as simulation:
        network = wan(simulation, Rates(core1=(9 * GIGABIT, 2_000)))
        for link in network.links[:2]:
            link.tap(0)
            link.tap(1)
        for host, back in ((network.left, False), (network.right, True)):
            frames = [network.frame(size, back=back, psn=size) for size in (64, 256, 1024, 4096)]
            host.send_series(frames, per_second=1_500_000, count=2_000, poisson=True)
        simulation.run_until(100_000_000)
        tapped = simulation.tapped()
        program = simulation.switches["pe1"].engine.program
    alone = MemoryEngine(program)
    try:
        write_entries(provision_with_flows(network.config, "pe1"), alone)
        alone.port_queue_set(1, PortQueue(depth=1000, rate_bps=100 * GIGABIT, delay_ns=500))
        alone.port_queue_set(2, PortQueue(depth=1000, rate_bps=9 * GIGABIT, delay_ns=2_000))
        for port in (1, 2):
            alone.port_overhead_set(port, ETHERNET_OVERHEAD)
        for frame in tapped:
            if (frame.link, frame.direction) in ((0, 0), (1, 1)):
                alone.advance(frame.time_ns - alone.now_ns())
                alone.inject(1 if frame.link == 0 else 2, frame.data)
        alone.advance(1_000_000_000)
        outputs = alone.outputs()
        for port, delivered, what in ((1, (0, 1), "CNPs"), (2, (1, 0), "data")):
            expected = [(f.time_ns, f.data) for f in tapped if (f.link, f.direction) == delivered]
            assert len(expected) > 1_000, what
            assert [(o.time_ns, o.data) for o in outputs if o.port == port] == expected
    finally:
        alone.close()


def test_payloads_of_frames_that_come_back() -> None:
    """A frame's memory is used again without copying its payload where it still has it: every frame
    that arrives has its own, also when others took the memory meanwhile."""
    rng = random.Random(9)
    rates = Rates((100 * GIGABIT, 100), (100 * GIGABIT, 1_000), (100 * GIGABIT, 1_000))
    with Simulation(6) as simulation:
        network = wan(simulation, rates)
        sent: dict[bytes, bytes] = {}
        for psn, size in enumerate((64, 512, 512, 1024, 1024, 4000, 4000)):
            datagram = packets.roce(
                "10.1.0.10", "10.2.0.10", DEST_QP, payload=rng.randbytes(size), psn=psn
            )
            frame = packets.ethernet(datagram, src=host_mac(1), dst=network.gateway(1))
            sent[frame[-32:]] = frame
        back = [network.frame(size, back=True) for size in (100, 1024, 2000)]
        network.links[3].tap(0)
        arrived: Counter[bytes] = Counter()
        for number in range(1, len(sent) + 1):
            chosen = list(sent.values())[:number]
            network.left.send_series(
                chosen, per_second=2e6, count=300, start_ns=simulation.now_ns, poisson=True
            )
            network.right.send_series(
                back, per_second=1e6, count=100, start_ns=simulation.now_ns, poisson=True
            )
            simulation.run_until(simulation.now_ns + 1_000_000)
            for tapped in simulation.tapped():
                original = sent[tapped.data[-32:]]
                # Ethernet, TTL and checksum of IPv4 are others; both PEs have counted.
                assert tapped.data[26:] == original[26:]
                assert original[22] - tapped.data[22] == 2
                arrived[original] += 1
            balance(simulation)
        assert sum(arrived.values()) == 300 * len(sent)
        assert min(arrived.values()) > 0
