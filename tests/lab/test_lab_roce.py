"""RoCEv2 hosts in virtual time: connections, loss recovery, pacing and DCQCN."""

from itertools import pairwise

import pytest
from lab_networks import DEST_QP, GIGABIT, SOURCE_QP, Rates, Wan, address, wan

from fcn.lab.balance import balance
from fcn.lab.controls import Dcqcn
from fcn.lab.core import ETHERNET_OVERHEAD, Simulation
from fcn.lab.errors import LabError
from fcn.lab.roce import RetransmissionName, RoceHost, RoceOptions, State, completions
from fcn.packets.icrc import icrc
from fcn.softswitch.api import EngineEvents

MILLISECOND = 1_000_000
IP_HEADERS = 20 + 8 + 12 + 4
RETH, AETH = 16, 4
TUNNEL = 40
ETHERNET = 14


def connected(
    network: Wan, options: RoceOptions | None = None, by_ns: int = 10 * MILLISECOND
) -> tuple[RoceHost, RoceHost, int]:
    """The first pair of hosts, connected by the connection manager."""
    left, right = network.roce(1, options=options), network.roce(2, options=options)
    connection = left.connect(address(2))
    network.simulation.run_until(by_ns)
    assert left.sender(connection).state == State.CONNECTED
    return left, right, connection


def on_the_way(octets: int, rates: Rates) -> int:
    """Time of one packet from host to host, in a network without other load."""
    total = 0
    for (rate, delay), tunnel in (
        (rates.access, 0), (rates.core1, TUNNEL), (rates.core2, TUNNEL), (rates.access, 0),
    ):  # fmt: skip
        assert rate is not None
        bits = (ETHERNET + IP_HEADERS + octets + tunnel + ETHERNET_OVERHEAD) * 8
        total += bits * 10**9 // rate + delay
    return total


def test_connection_manager_sets_up_and_ends_a_connection() -> None:
    """Three messages, with the queue pairs that PEs see."""
    with Simulation() as simulation:
        network = wan(simulation)
        left, right, connection = connected(network)
        sender, receiver = left.sender(connection), right.receiver(0)
        assert (sender.local_qp, sender.remote_qp) == (SOURCE_QP, DEST_QP)
        assert (receiver.local_qp, receiver.remote_qp) == (DEST_QP, SOURCE_QP)
        assert simulation.hops == 3 * 4
        left.disconnect(connection)
        simulation.run_until(20 * MILLISECOND)
        assert left.sender(connection).state == State.CLOSED
        assert not any(left.refused().values())


def test_a_switch_reports_the_connection_to_its_control_plane() -> None:
    with Simulation() as simulation:
        network = wan(simulation)
        digests: list[str] = []
        engine = simulation.switches["pe1"].engine
        engine.set_events(
            EngineEvents(
                digest=lambda name, values: digests.extend([name] * len(values)),
                packet_in=lambda _: None,
                idle=lambda *_: None,
                port_status=lambda *_: None,
            )
        )
        engine.dispatch_events()
        network.roce(1).connect(address(2))
        network.roce(2)
        while simulation.run_until(10 * MILLISECOND) < 10 * MILLISECOND:
            engine.dispatch_events()
        assert len(digests) >= 2, "REQ and REP at least"


def test_a_message_completes_after_one_round_trip_to_the_nanosecond() -> None:
    rates = Rates((100 * GIGABIT, 777), (400 * GIGABIT, 123_456), (50 * GIGABIT, 654_321))
    with Simulation() as simulation:
        network = wan(simulation, rates)
        left, right, connection = connected(network)
        start = 20 * MILLISECOND
        left.write(connection, 1000, start_ns=start, message_id=5)
        simulation.run_until(30 * MILLISECOND)
        (done,) = completions(simulation)
        assert (done.host, done.id, done.size) == ("left", 5, 1000)
        expected = on_the_way(RETH + 1000, rates) + on_the_way(AETH, rates)
        assert done.completed_ns - done.start_ns == expected
        assert right.receiver(0).payload == 1000


@pytest.mark.parametrize("size", [1, 4, 1024, 1025, 3 * 1024, 1_000_001])
def test_all_of_a_message_arrives(size: int) -> None:
    """Rounded up to words of four octets."""
    with Simulation() as simulation:
        network = wan(simulation)
        left, right, connection = connected(network)
        left.write(connection, size, start_ns=simulation.now_ns)
        left.write(connection, 8, start_ns=simulation.now_ns)
        simulation.run_until(50 * MILLISECOND)
        seen = right.receiver(0)
        assert seen.payload == (size + 3) // 4 * 4 + 8
        assert (seen.messages, len(completions(simulation))) == (2, 2)


def test_every_packet_has_its_icrc() -> None:
    """Of any length: long ones are computed in another way than short ones."""
    with Simulation() as simulation:
        network = wan(simulation)
        left, _, connection = connected(network)
        network.links[0].tap(0)
        sizes = [*range(4, 260, 4), 1020, 1024]
        for size in sizes:
            left.write(connection, size, start_ns=simulation.now_ns)
        simulation.run_until(50 * MILLISECOND)
        frames = [frame.data[ETHERNET:] for frame in simulation.tapped()]
        assert len(frames) == len(sizes)
        assert [d[-4:] for d in frames] == [icrc(d[:-4]) for d in frames]


def test_go_back_n_recovers_what_a_full_queue_dropped() -> None:
    """Without any congestion control 100 Gb/s meet 40: packets are lost, all messages arrive."""
    with Simulation() as simulation:
        network = wan(simulation, buffer=500, features="[]")
        left, right, connection = connected(network)
        for number in range(20):
            left.write(connection, 200_000, start_ns=simulation.now_ns, message_id=number)
        simulation.run_until(300 * MILLISECOND)
        sent, seen = left.sender(connection), right.receiver(0)
        assert balance(simulation).ends["p1: queue_full_drops"] > 0
        assert min(sent.naks, sent.retransmitted, seen.beyond_gap) > 0
        assert seen.payload == 20 * 200_000
        assert [done.id for done in completions(simulation)] == list(range(20))
        assert sent.acknowledged == sent.highest == seen.packets


@pytest.mark.parametrize(
    ("first_qp", "accepted_qp"),
    [(2, (1 << 24) - 1), ((1 << 24) - 1, 2), (0x7FFFFF, 0x800000), (0x10000, 0xFFFF)],
)
def test_psns_wrap_and_queue_pairs_have_any_number(first_qp: int, accepted_qp: int) -> None:
    """Packets are lost before and after the wrap: as many are sent as with a PSN far from it."""
    sent = []
    for first_psn in (1_000, (1 << 24) - 400):
        options = RoceOptions(
            first_psn=first_psn, first_qp=first_qp, first_accepted_qp=accepted_qp, ack_every=4
        )
        with Simulation() as simulation:
            network = wan(simulation, Rates(), 100, features="[]")
            left, right, connection = connected(network, options)
            network.links[0].tap(0)
            left.write(connection, 1024 * 2_000, start_ns=simulation.now_ns)
            simulation.run_until(60 * MILLISECOND)
            (done,) = completions(simulation)
            sender, receiver = left.sender(connection), right.receiver(0)
            assert (sender.local_qp, receiver.local_qp) == (first_qp, accepted_qp)
            assert (receiver.packets, receiver.payload) == (2_000, 1024 * 2_000)
            assert sender.retransmitted > 0
            assert sender.timeouts == 0
            psns = [int.from_bytes(frame.data[51:54], "big") for frame in simulation.tapped()]
            assert {(psn - first_psn) % (1 << 24) for psn in psns} == set(range(2_000))
            sent.append((done.completed_ns, [(psn - first_psn) % (1 << 24) for psn in psns]))
            balance(simulation)
    assert sent[0] == sent[1]


def test_without_a_number_left_no_connection_is_opened_or_accepted() -> None:
    last = (1 << 24) - 1
    with Simulation() as simulation:
        network = wan(simulation)
        left = network.roce(1, options=RoceOptions(first_qp=last))
        right = network.roce(2, options=RoceOptions(first_qp=last, first_accepted_qp=last - 1))
        for host, remote in ((left, 2), (right, 1)):
            host.connect(address(remote))
            with pytest.raises(LabError, match="has no queue pair number left at this host"):
                host.connect(address(remote))
        simulation.run_until(40 * MILLISECOND)
        assert left.sender(0).state == right.sender(0).state == State.CONNECTED
        assert (left.sender(0).remote_qp, right.sender(0).local_qp) == (last - 1, last)
    with Simulation() as simulation:
        network = wan(simulation)
        left = network.roce(1)
        network.roce(2, options=RoceOptions(first_accepted_qp=last))
        for _ in range(2):
            left.connect(address(2))
        simulation.run_until(40 * MILLISECOND)
        assert [left.sender(n).state for n in range(2)] == [State.CONNECTED, State.FAILED]


def test_a_timeout_recovers_the_last_packet_and_gives_up_in_the_end() -> None:
    options = RoceOptions(timeout=20 * MILLISECOND, retries=3)
    with Simulation() as simulation:
        network = wan(simulation)
        left, right, connection = connected(network, options)
        link = network.links[2]
        link.set_up(False)
        left.write(connection, 1000, start_ns=simulation.now_ns)
        simulation.run_until(40 * MILLISECOND)
        assert left.sender(connection).timeouts == 1
        link.set_up(True)  # at 40 ms; sent again at 30 ms in vain, and at 50 ms
        simulation.run_until(60 * MILLISECOND)
        assert right.receiver(0).messages == 1
        link.set_up(False)
        left.write(connection, 1000, start_ns=simulation.now_ns)
        simulation.run_until(1_000 * MILLISECOND)
        assert left.sender(connection).state == State.FAILED
        assert left.sender(connection).timeouts == 2 + 4
        sent = left.host.counters().sent
        simulation.run_until(2_000 * MILLISECOND)
        assert left.host.counters().sent == sent


@pytest.mark.parametrize("retransmission", ["go-back-n", "selective-repeat"])
def test_a_timeout_counts_when_the_packet_was_sent_again(
    retransmission: RetransmissionName,
) -> None:
    """At a rate at which a packet takes ten times that."""
    slow = Dcqcn.model_construct(line_rate=40_000, min_rate=40_000)
    options = RoceOptions(
        timeout=20 * MILLISECOND, retries=3, dcqcn=slow, retransmission=retransmission
    )
    with Simulation() as simulation:
        network = wan(simulation, features="[]")
        left, right = network.roce(1, options=options), network.roce(2, options=options)
        left.connect(address(2))
        left.write(0, 1000)
        simulation.run_until(3 * MILLISECOND)
        network.links[2].set_up(False)
        simulation.run_until(200 * MILLISECOND)
        assert left.sender(0).timeouts == 1
        assert left.sender(0).packets == 1
        network.links[2].set_up(True)
        simulation.run_until(250 * MILLISECOND)
        assert right.receiver(0).messages == 1
        assert left.sender(0).timeouts == 1
        assert left.sender(0).state == State.CONNECTED


def test_no_answer_to_requests_fails_a_connection() -> None:
    options = RoceOptions(cm_timeout=MILLISECOND, cm_retries=4)
    with Simulation() as simulation:
        network = wan(simulation)
        left = network.roce(1, options=options)
        connection = left.connect(address(2))
        simulation.run_until(100 * MILLISECOND)
        assert left.sender(connection).state == State.FAILED
        assert left.host.counters().sent == 4


def test_the_receiver_sends_at_most_one_cnp_in_50_us() -> None:
    """End-to-end ECN: marked by the switches, answered by the host."""
    with Simulation() as simulation:
        network = wan(simulation, buffer=4000)
        left, right, connection = connected(network)
        network.links[3].tap(1)
        left.write(connection, 20_000_000, start_ns=simulation.now_ns)
        simulation.run_until(60 * MILLISECOND)
        cnp_opcode = 0x81
        at = ETHERNET + 20 + 8
        times = [f.time_ns for f in simulation.tapped() if f.data[at] == cnp_opcode]
        assert len(times) == right.receiver(0).cnps > 3
        assert right.receiver(0).marked > len(times)
        assert min(b - a for a, b in pairwise(times)) >= 50_000
        assert left.sender(connection).cuts > 0


def test_packets_are_paced_at_the_rate_of_dcqcn() -> None:
    """After cuts, with the timers far away: every gap is that of the rate, rounded."""
    slow = Dcqcn.model_construct(increase_period=10**12, alpha_period=10**12, byte_counter=1 << 60)
    with Simulation() as simulation:
        network = wan(simulation, buffer=4000)
        left, _, connection = connected(network, RoceOptions(dcqcn=slow))
        left.write(connection, 30_000_000, start_ns=simulation.now_ns)
        simulation.run_until(20 * MILLISECOND)
        rate = left.sender(connection).rate_bps
        assert 0 < rate < 40 * GIGABIT
        network.links[0].tap(0)
        simulation.run_until(21 * MILLISECOND)
        assert left.sender(connection).rate_bps == rate
        frames = simulation.tapped()
        took = frames[-1].time_ns - frames[0].time_ns
        octets = sum(len(frame.data) - ETHERNET for frame in frames[:-1])
        assert took == pytest.approx(octets * 8e9 / rate, abs=2)


def test_two_flows_share_a_dumbbell() -> None:
    """DCQCN with end-to-end ECN: fair and without loss, the bottleneck is used."""
    rates = Rates((40 * GIGABIT, 500), (100 * GIGABIT, 2_000), (40 * GIGABIT, 2_000))
    with Simulation(2) as simulation:
        network = wan(simulation, rates, buffer=4000, hosts=2, features="[]")
        lefts = [network.roce(1, n) for n in range(2)]
        rights = [network.roce(2, n) for n in range(2)]
        for n, left in enumerate(lefts):
            left.write(left.connect(address(2, n)), 4_000_000_000, start_ns=n * MILLISECOND)
        simulation.run_until(40 * MILLISECOND)
        before = [right.receiver(0).octets for right in rights]
        simulation.run_until(140 * MILLISECOND)
        got = [right.receiver(0).octets - b for right, b in zip(rights, before, strict=True)]
        fairness = sum(got) ** 2 / (2 * sum(x * x for x in got))
        assert fairness > 0.95
        assert 0.75 < sum(got) * 8 / 0.1 / (40 * GIGABIT) <= 1
        assert all(left.sender(0).retransmitted == 0 for left in lefts)
        balance(simulation)


def test_fcn_cuts_the_rate_when_the_news_arrives_from_the_queue() -> None:
    """Beside end-to-end ECN, whose news goes by the far host."""

    def first_cut(features: str) -> int:
        rates = Rates(core1=(400 * GIGABIT, 500_000), core2=(40 * GIGABIT, 5 * MILLISECOND))
        with Simulation() as simulation:
            network = wan(simulation, rates, buffer=100_000, features=features)
            left, _, connection = connected(network, by_ns=50 * MILLISECOND)
            start = simulation.now_ns
            left.write(connection, 100_000_000, start_ns=start)
            while not left.sender(connection).cuts:
                simulation.run_until(simulation.now_ns + 1_000)
            return simulation.now_ns - start

    bound = 2 * 500_500
    assert bound < first_cut("all") < bound * 1.05
    assert 2 * 5_501_000 < first_cut("[]") < 2 * 5_501_000 * 1.05


def test_the_same_seed_gives_the_same_run_with_connections() -> None:
    def run(seed: int) -> tuple[int, int]:
        with Simulation(seed) as simulation:
            network = wan(simulation, buffer=300, hosts=2)
            simulation.keep_digest()
            lefts = [network.roce(1, n) for n in range(2)]
            for n, left in enumerate(lefts):
                network.roce(2, n)
                left.write(left.connect(address(2, n)), 10_000_000)
            simulation.run_until(30 * MILLISECOND)
            return simulation.digest, simulation.hops

    first = run(1)
    assert run(1) == first
    assert run(2) != first


def test_impossible_hosts_are_refused() -> None:
    with Simulation() as simulation:
        network = wan(simulation)
        for options, reason in (
            (RoceOptions(mtu=1023), "MTU of 1023"),
            (RoceOptions(mtu=8192), "MTU of 8192"),
            (RoceOptions(window=0), "window of 0"),
            (RoceOptions(timeout=1 << 63), "timeout of 9223372036854775808 ns"),
            (RoceOptions(cm_timeout=-1), "timeout of -1 ns"),
        ):
            with pytest.raises(LabError, match=reason):
                network.roce(1, options=options)
        host = network.roce(1)
        with pytest.raises(LabError, match="no such node"):
            host.write(0, 100)
        connection = host.connect(address(2))
        with pytest.raises(LabError, match="a message of 0 octets"):
            host.write(connection, 0)
