"""Inference from the reverse path (FCN-3 b): a source QP is correct or unknown, never wrong."""

import random
from collections.abc import Callable
from ipaddress import ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inference_model import (
    ACK,
    VRF,
    WRITE,
    A,
    B,
    Connection,
    Outcome,
    Ports,
    connections,
    simulate,
    total,
)
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.utils import rdpcap

from fcn.controller.config.types import Address
from fcn.controller.flows.inference import PATIENCE, Inference, Sample, connection_port, host_pair
from fcn.controller.flows.key import FlowKey
from fcn.packets.cm import QP1
from fcn.packets.roce import BTH, ROCEV2_PORT
from fcn.ptf_tests.lib.captures import SOFTROCE

READ_REQUEST, READ_RESPONSE, UC_SEND, UD_SEND = 0x0C, 0x10, 0x24, 0x64
FORTH, BACK = FlowKey(VRF, A, B, 0x85), FlowKey(VRF, B, A, 0x15)


class Bench:
    """An inference with a clock that the test advances."""

    def __init__(self, *, complete: bool = True) -> None:
        self.now = 100.0
        self.inference = Inference(lambda: self.now, lambda _: complete)

    def see(self, flow: FlowKey, opcode: int, psn: int, port: int = 0xC000) -> None:
        self.now += 0.06
        self.inference.observe(flow, Sample(opcode, psn, port))

    def conclude(self, wait: float = 2.0) -> dict[FlowKey, int]:
        self.now += wait
        return {event.flow: event.source_qp for event in self.inference.conclude()}


def one(count: int = 1, **options: object) -> tuple[list[Connection], random.Random]:
    rng = random.Random(5)
    return connections(count, rng, **options), rng  # type: ignore[arg-type]


# -- real traffic ------------------------------------------------------------------------------


def _replay(
    ignore_ports: bool = False, window: float = 0.01
) -> tuple[dict[FlowKey, int], set[FlowKey]]:
    """The data packets of the capture as reported by PEs, without the CM messages."""
    clock = 0.0
    inference = Inference(lambda: clock, lambda _: True)
    bound: dict[FlowKey, int] = {}
    reported: dict[FlowKey, float] = {}
    for packet in rdpcap(str(SOFTROCE)):
        if UDP not in packet or packet[UDP].dport != ROCEV2_PORT or packet[BTH].dqpn == QP1:
            continue
        ip, bth = packet[IP] if IP in packet else packet[IPv6], packet[BTH]
        flow = FlowKey(VRF, ip_address(ip.src), ip_address(ip.dst), bth.dqpn)
        time = float(packet.time)
        clock = clock or time
        while time - clock > PATIENCE:
            clock += PATIENCE
            bound |= {event.flow: event.source_qp for event in inference.conclude()}
        clock = time
        if flow not in bound and time - reported.get(flow, 0.0) >= window:
            reported[flow] = time
            port = 0xC000 if ignore_ports else packet[UDP].sport
            inference.observe(flow, Sample(bth.opcode, bth.psn, port))
    for _ in range(20):
        clock += PATIENCE
        bound |= {event.flow: event.source_qp for event in inference.conclude()}
    return bound, set(reported)


def _truth(flow: FlowKey) -> int:
    """In this capture both ends of every connection have the same QPN."""
    return flow.dest_qp


def test_the_connection_without_cm_of_the_capture_is_bound_by_its_port() -> None:
    bound, seen = _replay()
    ends = [ip_address(text) for text in ("192.168.7.2", "192.168.7.1")]
    forth, back = FlowKey(VRF, ends[0], ends[1], 0x15), FlowKey(VRF, ends[1], ends[0], 0x15)
    assert len(seen) == 10
    assert bound.get(forth) == bound.get(back) == 0x15


def test_of_the_whole_capture_without_cm_nothing_is_bound_wrong() -> None:
    """Two connections have too few responses, and their ports confirm no pairing."""
    bound, seen = _replay()
    assert all(qp == _truth(flow) for flow, qp in bound.items())
    assert sorted({flow.dest_qp for flow in bound}) == [0x11, 0x12, 0x15]
    assert sorted({flow.dest_qp for flow in seen - bound.keys()}) == [0x13, 0x14]


def test_of_the_capture_without_ports_nothing_is_bound_wrong() -> None:
    bound, seen = _replay(ignore_ports=True)
    assert all(qp == _truth(flow) for flow, qp in bound.items())
    assert sorted({flow.dest_qp for flow in seen - bound.keys()}) == [0x13, 0x14, 0x15]


# -- the port ----------------------------------------------------------------------------------


def test_port_of_wire_facts() -> None:
    """Two Linux kernels used 0xc1b9 for QP 0x15 on both sides."""
    assert connection_port(0x15, 0x15) == 0xC1B9
    assert connection_port(0xABCDEF, 0x123456) == connection_port(0x123456, 0xABCDEF)


def test_one_answer_is_enough_when_the_port_confirms_it() -> None:
    bench = Bench()
    port = connection_port(0x85, 0x15)
    bench.see(FORTH, WRITE, 1000, port)
    bench.see(BACK, ACK, 1003, port)
    assert bench.conclude(PATIENCE) == {FORTH: 0x15, BACK: 0x85}
    assert len(bench.inference) == 0


def test_a_port_alone_is_not_enough() -> None:
    bench = Bench()
    port = connection_port(0x85, 0x15)
    bench.see(FORTH, WRITE, 1000, port)
    bench.see(BACK, ACK, 0x800000, port)
    assert bench.conclude() == {}


def test_a_port_that_others_have_too_confirms_nothing() -> None:
    bench = Bench()
    port = connection_port(0x85, 0x15)
    bench.see(FlowKey(VRF, A, B, 0x99), WRITE, 1000, port)
    bench.see(FORTH, WRITE, 1000, port)
    bench.see(BACK, ACK, 1003, port)
    assert bench.conclude() == {}


# -- the PSN alone -----------------------------------------------------------------------------


def _acknowledge(bench: Bench, times: int, psn: int = 1000, answer: int = ACK) -> None:
    for step in range(times):
        bench.see(FORTH, WRITE, (psn + 10 * step) % (1 << 24), 0xC001)
        bench.see(BACK, answer, (psn + 10 * step) % (1 << 24), 0xC002)


def test_three_answers_and_no_rival_are_enough() -> None:
    bench = Bench()
    _acknowledge(bench, 3)
    assert bench.conclude() == {FORTH: 0x15, BACK: 0x85}


def test_two_answers_are_not_enough() -> None:
    bench = Bench()
    _acknowledge(bench, 2)
    assert bench.conclude() == {}


def test_the_same_answer_over_and_over_is_one_answer() -> None:
    bench = Bench()
    for _ in range(20):
        bench.see(FORTH, WRITE, 1000)
        bench.see(BACK, ACK, 1000)
    assert bench.conclude() == {}


def test_psns_wrap() -> None:
    bench = Bench()
    _acknowledge(bench, 5, psn=(1 << 24) - 15)
    assert bench.conclude() == {FORTH: 0x15, BACK: 0x85}


def test_read_responses_count_as_answers() -> None:
    bench = Bench()
    for step in range(4):
        bench.see(FORTH, READ_REQUEST, 500 + 64 * step)
        bench.see(BACK, READ_RESPONSE, 500 + 64 * step + 63)
    assert bench.conclude() == {FORTH: 0x15, BACK: 0x85}


def test_nothing_is_concluded_while_flows_are_not_reported() -> None:
    bench = Bench(complete=False)
    _acknowledge(bench, 10)
    assert bench.conclude() == {}


def test_two_candidates_stay_unknown_until_they_part() -> None:
    """Two connections with the same PSNs; later one of them has sent more."""
    bench = Bench()
    other_forth, other_back = FlowKey(VRF, A, B, 0x86), FlowKey(VRF, B, A, 0x16)
    for step in range(10):
        for forth, back in ((FORTH, BACK), (other_forth, other_back)):
            bench.see(forth, WRITE, 10 * step)
            bench.see(back, ACK, 10 * step)
    assert bench.conclude() == {}
    for step in range(40):
        for forth, back, base in ((FORTH, BACK, 200), (other_forth, other_back, 1_000_000)):
            bench.see(forth, WRITE, base + 10 * step)
            bench.see(back, ACK, base + 10 * step)
    assert bench.conclude() == {FORTH: 0x15, BACK: 0x85, other_forth: 0x16, other_back: 0x86}


def test_a_flow_that_never_answers_stays_a_rival() -> None:
    """It is a reliable connection of unknown PSNs, so it can be the reverse flow."""
    bench = Bench()
    bench.see(FlowKey(VRF, B, A, 0x77), WRITE, 7)
    _acknowledge(bench, 5)
    assert bench.conclude() == {}
    bench.inference.forget(FlowKey(VRF, B, A, 0x77))
    _acknowledge(bench, 5, psn=2000)
    assert bench.conclude() == {FORTH: 0x15, BACK: 0x85}


def test_where_ports_follow_from_queue_pairs_those_of_all_must() -> None:
    """One direction each of two connections with equal PSNs; the others are not reported."""
    bench = Bench()
    port = connection_port(0x86, 0x16)
    bench.see(FlowKey(VRF, A, B, 0x86), WRITE, 0x700000, port)
    bench.see(FlowKey(VRF, B, A, 0x16), ACK, 0x700000, port)
    for step in range(5):
        bench.see(FORTH, WRITE, 1000 + 10 * step, connection_port(0x85, 0x17))
        bench.see(BACK, ACK, 1000 + 10 * step, connection_port(0x87, 0x15))
    assert len(bench.conclude()) == 2
    assert bench.conclude() == {}
    assert len(bench.inference) == 2


@pytest.mark.parametrize("opcode", [UC_SEND, UD_SEND, 0x81, 0x15, 0xFF])
def test_other_than_reliable_connections_are_left_alone(opcode: int) -> None:
    bench = Bench()
    for step in range(5):
        bench.see(FORTH, opcode, step)
        bench.see(BACK, ACK, step)
    assert bench.conclude() == {}
    bench = Bench()
    bench.see(FORTH, opcode, 5)
    assert len(bench.inference) == 0


def test_other_vrfs_and_hosts_are_no_candidates() -> None:
    bench = Bench()
    other: Address = ip_address("10.9.9.9")
    for step in range(5):
        bench.see(FlowKey("red", B, A, 0x33), ACK, 1000 + 10 * step)
        bench.see(FlowKey(VRF, other, A, 0x34), ACK, 1000 + 10 * step)
        bench.see(FORTH, WRITE, 1000 + 10 * step)
    assert bench.conclude() == {}
    assert host_pair(FORTH) == host_pair(BACK) != host_pair(FlowKey("red", B, A, 0x33))


# -- many queue pairs between the same two hosts -----------------------------------------------


def _hide(connection: Connection, rng: random.Random) -> None:
    connection.visible = rng.choice([(True, True), (True, False), (False, True)])


def _churn(connection: Connection, rng: random.Random) -> None:
    connection.start = rng.uniform(0, 3)
    connection.stop = connection.start + rng.uniform(0.01, 2)


def _burst(connection: Connection, rng: random.Random) -> None:
    connection.burst = rng.choice([0.01, 0.05, 0.3]), rng.choice([0.05, 0.2, 1.0])


def _turn(connection: Connection, rng: random.Random) -> None:
    if rng.random() < 0.5:
        connection.rates = connection.rates[1], connection.rates[0]


def _steady(connection: Connection, rng: random.Random) -> None:
    pass


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 1 << 32),
    count=st.integers(1, 12),
    ports=st.sampled_from(Ports),
    first_psn=st.sampled_from([None, None, 0]),
    rate=st.sampled_from([3.0, 300.0, 2e4, 1e6]),
    both_ways=st.booleans(),
    message=st.sampled_from([1, 16, 500]),
    change=st.sampled_from([_steady, _churn, _burst, _turn]),
    round_trip=st.sampled_from([0.0001, 0.02, 0.3]),
    loss=st.sampled_from([0.0, 0.3]),
)
def test_never_wrong(
    seed: int,
    count: int,
    ports: Ports,
    first_psn: int | None,
    rate: float,
    both_ways: bool,
    message: int,
    change: Callable[[Connection, random.Random], None],
    round_trip: float,
    loss: float,
) -> None:
    rng = random.Random(seed)
    found = connections(
        count,
        rng,
        ports=ports,
        first_psn=first_psn,
        rate=rate,
        both_ways=both_ways,
        message=message,
    )
    for connection in found:
        change(connection, rng)
    outcome = simulate(found, rng, seconds=3.0, round_trip=round_trip, loss=loss)
    assert outcome.wrong == 0


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 1 << 32),
    count=st.integers(2, 12),
    ports=st.sampled_from(Ports),
    first_psn=st.sampled_from([None, 0]),
)
def test_never_wrong_where_a_direction_is_not_reported(
    seed: int, count: int, ports: Ports, first_psn: int | None
) -> None:
    rng = random.Random(seed)
    found = connections(count, rng, ports=ports, first_psn=first_psn)
    for connection in found:
        _hide(connection, rng)
    outcome = simulate(found, rng, seconds=3.0, complete=lambda _: False)
    assert outcome.wrong == 0


def _run(count: int, seeds: int, ports: Ports, first_psn: int | None) -> Outcome:
    outcomes = []
    for seed in range(seeds):
        rng = random.Random(seed)
        found = connections(count, rng, ports=ports, first_psn=first_psn)
        outcomes.append(simulate(found, rng, seconds=3.0))
    sums = total(outcomes)
    return Outcome(sums["right"], sums["wrong"], sums["unknown"], sums["reports"])


@pytest.mark.parametrize(
    ("ports", "first_psn", "all_bound"),
    [
        (Ports.LINUX, None, True),
        (Ports.LINUX, 0, True),
        (Ports.RANDOM, None, True),
        (Ports.CONSTANT, None, True),
        (Ports.CONSTANT, 0, False),
    ],
)
def test_64_connections_between_two_hosts(
    ports: Ports, first_psn: int | None, all_bound: bool
) -> None:
    """With equal PSNs and one port for all they cannot be distinguished: all stay unknown."""
    outcome = _run(64, 1, ports, first_psn)
    assert (outcome.right, outcome.wrong) == (128 if all_bound else 0, 0)
    assert outcome.unknown == 128 - outcome.right
