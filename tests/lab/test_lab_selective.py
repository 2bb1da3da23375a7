"""Selective repeat of hosts in virtual time: what is lost is sent again, and nothing else."""

from collections import Counter

import pytest
from lab_networks import GIGABIT, Rates, Wan, address, wan
from test_lab_roce import AETH, MILLISECOND, connected, on_the_way

from fcn.lab.balance import balance
from fcn.lab.controls import CONTROLS, ControlName, Swift, Timely
from fcn.lab.core import Simulation
from fcn.lab.impairment import Impairment, impair
from fcn.lab.roce import RoceOptions, completions

SACK = 4
MTU = 1024
RATES = Rates((40 * GIGABIT, 500), (400 * GIGABIT, 10), (100 * GIGABIT, 200_000))
"""Nothing queues: hosts are the slowest. Of the first core link a packet is alone on it."""

FRAME_BITS = (MTU + 20 + 8 + 12 + 4 + 14 + 24) * 8
FIRST_LINKS = FRAME_BITS // 40 + 500 + (FRAME_BITS + 40 * 8) // 400 + 10
"""From a packet's first bit at the host until it is at p1."""

START = 20 * MILLISECOND


def passes(options: RoceOptions, size: int) -> list[int]:
    """When the packets of a message arrive at p1."""
    with Simulation() as simulation:
        network = wan(simulation, RATES)
        left, _, connection = connected(network, options)
        network.links[1].tap(0)
        left.write(connection, size, start_ns=START)
        simulation.run_until(2 * START)
        return [frame.time_ns for frame in simulation.tapped()]


def lose(network: Wan, arrival_ns: int) -> None:
    """Cut the first core link shortly before that packet arrives."""
    simulation, link = network.simulation, network.links[1]
    simulation.run_until(arrival_ns - 5)
    link.set_up(False)
    simulation.run_until(arrival_ns + 5)
    link.set_up(True)


def psns(network: Wan, first: int) -> Counter[int]:
    """How often each data packet left the sender, by number."""
    frames = network.simulation.tapped()
    return Counter((int.from_bytes(f.data[51:54], "big") - first) % (1 << 24) for f in frames)


def dropped(simulation: Simulation) -> int:
    return sum(n for name, n in balance(simulation).ends.items() if "drop" in name)


@pytest.mark.parametrize("first_psn", [1_000, (1 << 24) - 30])
def test_a_packet_that_is_lost_is_sent_again_after_a_round_trip(first_psn: int) -> None:
    """Closed form: the packet behind the lost one brings the NAK, the lost one goes next, and its
    ACK is of all that was kept. PSNs wrap or not."""
    options = RoceOptions(retransmission="selective-repeat", first_psn=first_psn)
    size = 40 * MTU
    arrivals = passes(options, size)
    with Simulation() as simulation:
        network = wan(simulation, RATES)
        left, right, connection = connected(network, options)
        network.links[0].tap(0)
        left.write(connection, size, start_ns=START)
        lose(network, arrivals[3])
        simulation.run_until(START + 10 * MILLISECOND)
        (done,) = completions(simulation)
        sent, seen = left.sender(connection), right.receiver(0)
        assert psns(network, first_psn) == Counter(range(40)) + Counter([3])
        assert (sent.retransmitted, sent.timeouts, seen.beyond_gap, seen.repeated) == (1, 0, 0, 0)
        assert seen.naks == sent.naks == 36
        assert (seen.packets, seen.payload, seen.messages) == (40, size, 1)
        # The whole message is sent long before the first NAK comes.
        way, back = on_the_way(MTU, RATES), on_the_way(AETH, RATES)
        left_host = arrivals[4] - FIRST_LINKS
        told = left_host + way + on_the_way(AETH + SACK, RATES)
        expected = told + way + back
        assert done.completed_ns == pytest.approx(expected, abs=3)


@pytest.mark.parametrize("control", CONTROLS)
def test_what_a_full_queue_drops_is_sent_again_and_nothing_else(control: ControlName) -> None:
    """100 Gb/s meet 40, with any congestion control; the last packets are lost, too, of which
    a time-out tells."""
    options = RoceOptions(
        retransmission="selective-repeat", control=control, timeout=20 * MILLISECOND,
        swift=Swift.model_construct(base_target=4 * MILLISECOND),
        timely=Timely.model_construct(high=4 * MILLISECOND),
    )  # fmt: skip
    with Simulation() as simulation:
        network = wan(simulation, buffer=500, features="[]")
        left, right, connection = connected(network, options)
        for number in range(20):
            left.write(connection, 200_000, start_ns=simulation.now_ns, message_id=number)
        simulation.run_until(300 * MILLISECOND)
        sent, seen = left.sender(connection), right.receiver(0)
        assert sent.retransmitted == dropped(simulation) > 0
        assert (seen.beyond_gap, seen.repeated) == (0, 0)
        assert seen.payload == 20 * 200_000
        assert [done.id for done in completions(simulation)] == list(range(20))
        assert sent.acknowledged == sent.highest == seen.packets == 20 * 196


@pytest.mark.parametrize("seed", range(4))
def test_everything_arrives_once_over_links_with_errors(seed: int) -> None:
    """Data, NAKs, ACKs and what is sent again are lost, both ways: of data every 30th packet."""
    with Simulation(seed) as simulation:
        network = wan(simulation, RATES)
        options = RoceOptions(
            retransmission="selective-repeat", timeout=4 * MILLISECOND, retries=100, window=300
        )
        left, right, connection = connected(network, options)
        impair(simulation, network.links[1], Impairment(bit_errors=4e-6))
        for number in range(50):
            left.write(connection, 100_000, start_ns=simulation.now_ns, message_id=number)
        simulation.run_until(3_000 * MILLISECOND)
        sent, seen = left.sender(connection), right.receiver(0)
        assert [done.id for done in completions(simulation)] == list(range(50))
        assert (seen.payload, seen.messages, seen.packets) == (5_000_000, 50, 50 * 98)
        assert sent.acknowledged == sent.highest == seen.packets
        lost = sent.packets - seen.packets - seen.repeated - seen.beyond_gap
        assert 0 < lost <= sent.retransmitted
        assert sent.timeouts > 0, "a repeat that is lost is found by no NAK"
        balance(simulation)


def test_a_receiver_keeps_as_many_packets_as_its_window() -> None:
    """The rest comes when the gap is filled, at the latest by the time-out."""
    with Simulation() as simulation:
        network = wan(simulation, RATES)
        sender = RoceOptions(retransmission="selective-repeat", timeout=4 * MILLISECOND)
        receiver = RoceOptions(retransmission="selective-repeat", window=5)
        left, right = network.roce(1, options=sender), network.roce(2, options=receiver)
        connection = left.connect(address(2))
        left.write(connection, 40 * MTU, start_ns=START)
        lose(network, passes(sender, 40 * MTU)[3])
        simulation.run_until(START + 100 * MILLISECOND)
        seen = right.receiver(0)
        assert (seen.naks, seen.packets, seen.messages) == (5, 40, 1)
        assert seen.beyond_gap == 40 - 3 - 1 - 5
        assert len(completions(simulation)) == 1


def test_hosts_without_losses_are_as_with_go_back_n() -> None:
    digests = []
    for options in (RoceOptions(), RoceOptions(retransmission="selective-repeat")):
        with Simulation() as simulation:
            network = wan(simulation, buffer=10_000, features="[]")
            simulation.keep_digest()
            left, _, connection = connected(network, options)
            left.write(connection, 5_000_000, start_ns=simulation.now_ns)
            simulation.run_until(60 * MILLISECOND)
            assert left.sender(connection).cuts > 0
            assert dropped(simulation) == 0
            digests.append(simulation.digest)
    assert digests[0] == digests[1]
