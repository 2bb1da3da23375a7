"""What reports of a flow's requests say of a response: shown, possible, impossible (FCN-3 b)."""

from ipaddress import ip_address

import pytest

from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.trail import (
    ANSWER_LIMIT,
    HISTORY,
    READS_OUTSTANDING,
    SKEW,
    Sample,
    Trail,
    Verdict,
    connection_port,
)

FLOW = FlowKey("blue", ip_address("10.1.0.10"), ip_address("10.2.0.20"), 0x85)
WRITE, READ_REQUEST, READ_RESPONSE, ACK, UC_SEND = 0x0A, 0x0C, 0x0E, 0x11, 0x24
SPACE = 1 << 24


def asked(*requests: tuple[float, int], opcode: int = WRITE) -> Trail:
    """A flow with these requests: when, PSN."""
    trail = Trail(FLOW, 0.0, 0xC000)
    for when, psn in requests:
        trail.record(when, Sample(opcode, psn % SPACE, 0xC000))
    return trail


def answering(opcode: int = ACK) -> Trail:
    """A flow with responses of this kind."""
    return asked((0.0, 0), opcode=opcode)


def verdict(trail: Trail, when: float, psn: int, opcode: int = ACK) -> Verdict:
    return trail.judge(answering(opcode), when, psn % SPACE)[0]


STEADY = [(step / 2, 1000 * step) for step in range(21)]
"""2000 PSNs a second for ten seconds."""


@pytest.mark.parametrize("base", [0, SPACE - 5000])
def test_a_response_to_what_was_sent_lately_is_shown(base: int) -> None:
    trail = asked(*((when, base + psn) for when, psn in STEADY))
    assert verdict(trail, 5.1, base + 10_000) is Verdict.SHOWN
    assert verdict(trail, 5.1, base + 8000) is Verdict.SHOWN


@pytest.mark.parametrize("base", [0, SPACE - 5000])
def test_what_was_sent_long_before_or_only_afterwards_is_impossible(base: int) -> None:
    trail = asked(*((when, base + psn) for when, psn in STEADY))
    assert verdict(trail, 5.1, base + 5000) is Verdict.IMPOSSIBLE
    assert verdict(trail, 5.1, base + 14_000) is Verdict.IMPOSSIBLE
    assert verdict(trail, 5.1, base + SPACE // 2) is Verdict.IMPOSSIBLE


def test_a_read_response_ahead_of_the_last_request_is_no_evidence() -> None:
    """One of 1 GiB takes 262,144 PSNs; the next request comes when it is done."""
    trail = asked((0.0, 0), (3.0, 1 << 18), opcode=READ_REQUEST)
    assert verdict(trail, 4.0, (1 << 18) + 200_000, READ_RESPONSE) is Verdict.POSSIBLE
    trail.record(6.0, Sample(READ_REQUEST, 1 << 19, 0xC000))
    assert verdict(trail, 4.0, (1 << 18) + 200_000, READ_RESPONSE) is Verdict.SHOWN


def test_what_waits_behind_reads_may_be_old() -> None:
    trail = asked(*STEADY, opcode=READ_REQUEST)
    late = 20_000 - READS_OUTSTANDING * 1000
    assert verdict(trail, 9.9, late, READ_RESPONSE) is Verdict.POSSIBLE
    assert verdict(trail, 9.9, late) is Verdict.POSSIBLE
    assert verdict(trail, 9.9, late - 1_000_000) is Verdict.IMPOSSIBLE
    assert verdict(trail, 8.0, 31_000) is Verdict.IMPOSSIBLE
    assert verdict(asked(*STEADY), 9.9, late) is Verdict.IMPOSSIBLE


def test_reads_whose_requests_nobody_saw_may_have_any_size() -> None:
    trail = asked(*STEADY)
    assert verdict(trail, 9.0, -4_000_000) is Verdict.IMPOSSIBLE
    assert verdict(trail, 9.0, -4_000_000, READ_RESPONSE) is Verdict.POSSIBLE
    assert verdict(trail, 9.0, 4_000_000, READ_RESPONSE) is Verdict.IMPOSSIBLE


def test_a_read_of_half_the_space_may_look_like_going_back() -> None:
    trail = asked((0.0, 0), (0.4, 8_388_700), *((when + 2, 8_400_000) for when in range(9)))
    trail.asks_reads = True
    assert verdict(trail, 8.0, 1000, READ_RESPONSE) is Verdict.POSSIBLE


def test_before_the_first_report_anything_may_have_been_sent() -> None:
    trail = asked((5.0, 1_000_000), (5.2, 1_001_000), (7.0, 1_002_000))
    assert verdict(trail, 5.1, 900_000) is Verdict.POSSIBLE
    assert verdict(trail, 5.0 - SKEW - 0.1, 1_000_000) is Verdict.POSSIBLE
    assert verdict(trail, 5.1, 1_100_000) is Verdict.IMPOSSIBLE
    assert verdict(trail, 5.1 + ANSWER_LIMIT, 900_000) is Verdict.IMPOSSIBLE


def test_a_flow_whose_requests_nobody_saw_may_have_sent_any() -> None:
    trail = Trail(FLOW, 0.0, 0xC000)
    trail.record(1.0, Sample(ACK, 5, 0xC000))
    assert verdict(trail, 60.0, 7) is Verdict.POSSIBLE


def test_go_back_n_is_no_progress() -> None:
    trail = asked((0.0, 0), (2.0, 5000), (2.2, 1000), (2.4, 1200), (4.0, 9000))
    assert verdict(trail, 2.3, 1001) is Verdict.SHOWN
    assert verdict(trail, 2.3, 4999) is Verdict.SHOWN


def test_more_than_half_the_space_says_nothing() -> None:
    trail = asked((0.0, 0), (2.0, 6_000_000), (2.5, 12_000_000), (3.0, 14_000_000))
    assert verdict(trail, 2.5, 1) is Verdict.POSSIBLE


def test_the_distance_is_what_chance_is_measured_by() -> None:
    trail = asked(*STEADY)
    assert trail.judge(answering(), 5.1, 10_500) == (Verdict.SHOWN, 1001)
    assert trail.judge(answering(), 5.1, 9000) == (Verdict.SHOWN, 2001)


def test_memory_is_bounded() -> None:
    trail = asked(*((step / 10, step) for step in range(10 * HISTORY)))
    for step in range(1000):
        trail.record(200.0 + step / 1000, Sample(ACK, step, 0xC000))
    assert len(trail.times) == len(trail.offsets) <= 2 * HISTORY
    assert len(trail.responses) <= 5


def test_only_reliable_connections_answer() -> None:
    assert Sample(READ_RESPONSE, 0, 0).of_reliable_connection
    assert not Sample(UC_SEND, 0, 0).of_reliable_connection


def test_port_of_wire_facts() -> None:
    """0xc1b9 is what two Linux kernels chose for QP 0x15 on both sides."""
    assert connection_port(0x15, 0x15) == 0xC1B9
    assert connection_port(0xABCDEF, 0x123456) == connection_port(0x123456, 0xABCDEF)
