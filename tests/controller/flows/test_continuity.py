"""Mappings have to go on after a pause as they were before it (FCN-3 b)."""

from ipaddress import ip_address
from math import inf

import pytest

from fcn.controller.flows.checks import CHECK
from fcn.controller.flows.continuity import PAUSE, UNREPORTED, Continuity, Progress
from fcn.controller.flows.inference import JUDGED_AFTER, Pairing
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.trail import PSN_SPACE, Sample, connection_port
from fcn.controller.flows.verification import Verification

A, B = ip_address("10.0.0.1"), ip_address("10.0.0.2")
WRITE, READ_REQUEST, READ_RESPONSE, ACK = 0x0A, 0x0C, 0x0E, 0x11
PORT, OTHER_PORT = 0xC077, 0xC123
STEP = 0.1


def pairing(number: int = 1, *, stated: bool = True) -> Pairing:
    forth, back = FlowKey("blue", A, B, 0x100 + number), FlowKey("blue", B, A, 0x200 + number)
    return Pairing(forth, back, stated=stated)


class Bench:
    """Pairings that are looked at, with a clock the test moves. `others`: how many silent ones
    there are for each that is watched."""

    def __init__(self, *some: Pairing, others: int = 0) -> None:
        self.now = 100.0
        self.heard_since = 0.0
        self.verification = Verification(
            lambda: self.now, 2 * len(some), lambda _hosts: self.now - self.heard_since
        )
        silent = [pairing(50 + number) for number in range(len(some) * others)]
        for each in (*some, *silent):
            self.verification.add(each)
        self.uncertain: list[Pairing] = []
        self.wait(STEP)

    def wait(self, seconds: float) -> None:
        for _ in range(round(seconds / STEP)):
            self.now += STEP
            _, refuted, uncertain = self.verification.advance()
            assert not refuted
            self.uncertain += uncertain

    def miss(self, seconds: float) -> None:
        """Nothing is reported."""
        until = self.now + seconds
        while self.now < until:
            self.heard_since = self.now + STEP
            self.wait(STEP)

    def send(self, one: Pairing, psn: int, packets: int = 10, pace: int = 10, port: int = 0) -> int:
        """WRITEs, `pace` PSNs each, that are not answered, so that the look goes on; returns the
        next PSN."""
        for _ in range(packets):
            self.verification.observe(one.forth, Sample(WRITE, psn % PSN_SPACE, port))
            psn += pace
            self.wait(STEP)
        return psn

    def look(self, one: Pairing) -> None:
        """Until it rested and is watched again."""
        for watched in (True, False):
            while (one.forth in self.verification) is watched:
                self.wait(STEP)
                assert self.now < 1000


@pytest.mark.parametrize("stated", [True, False])
@pytest.mark.parametrize(
    ("jump", "ended"),
    [
        (0, False),
        (-20, False),
        (UNREPORTED - 10, False),
        (UNREPORTED + 10, True),
        (-300, True),
        (1 << 23, True),
    ],
)
def test_after_a_pause_psns_go_on(jump: int, ended: bool, stated: bool) -> None:
    """Or are repeated, or what came last before the pause was not reported. Of inferred ones as of
    stated ones."""
    one = pairing(stated=stated)
    bench = Bench(one)
    psn = bench.send(one, PSN_SPACE - 40)
    bench.wait(PAUSE + 1)
    bench.send(one, psn + jump)
    bench.wait(JUDGED_AFTER)
    assert bench.uncertain == ([one] if ended else [])


def test_another_port_after_a_pause_is_another_connection() -> None:
    """Even that of one flow alone."""
    one = pairing()
    bench = Bench(one)
    psn = bench.send(one, 1000, port=PORT)
    bench.wait(PAUSE)
    bench.send(one, psn, port=OTHER_PORT)
    bench.wait(JUDGED_AFTER)
    assert bench.uncertain == [one]


def test_the_port_that_follows_from_both_queue_pairs_is_enough() -> None:
    """Whatever the PSNs are: no other connection of either has it."""
    one = pairing()
    bench, port = Bench(one), connection_port(0x101, 0x201)
    psn = bench.send(one, 1000, port=port)
    bench.wait(PAUSE)
    bench.send(one, psn + 5_000_000, 30, port=port)
    assert bench.uncertain == []


def test_who_had_the_port_of_both_queue_pairs_keeps_it() -> None:
    """Even one flow alone, at PSNs that nobody saw."""
    one = pairing()
    bench, port = Bench(one, others=5), connection_port(0x101, 0x201)
    psn = bench.send(one, 1000, port=port)
    bench.look(one)
    bench.send(one, psn + 1_000_000, port=OTHER_PORT)
    bench.wait(CHECK)
    assert bench.uncertain == [one]


@pytest.mark.parametrize("silent", [True, False])
def test_what_is_doubted_has_to_be_confirmed_where_it_has_packets(silent: bool) -> None:
    one, other = pairing(1), pairing(2)
    bench = Bench(one, other)
    bench.verification.replaced(one.back)
    if not silent:
        bench.send(other, 1000)
    bench.wait(CHECK)
    assert bench.uncertain == ([] if silent else [other])


def test_flows_so_fast_that_any_psn_may_be_next_are_uncertain() -> None:
    one = pairing()
    bench = Bench(one)
    psn = bench.send(one, 1000, pace=1 << 19)
    bench.wait(PAUSE)
    bench.send(one, psn, 20, pace=1 << 19)
    assert bench.uncertain == [one]


def test_a_rest_is_no_pause() -> None:
    """What was sent in it nobody saw, so PSNs may be ahead by any number."""
    one = pairing()
    bench = Bench(one, others=5)
    psn = bench.send(one, 1000)
    bench.look(one)
    bench.send(one, psn + 500_000)
    assert bench.uncertain == []


def test_psns_that_went_back_over_a_rest_are_anothers() -> None:
    """Further than a connection repeats packets, and it is too slow to have come round."""
    one = pairing()
    bench = Bench(one, others=5)
    psn = bench.send(one, 100_000)
    bench.look(one)
    bench.send(one, psn - 50_000)
    bench.wait(CHECK)
    assert bench.uncertain == [one]


def test_who_paused_at_the_same_time_may_be_anothers_too() -> None:
    """Where one's numbers are used again those of others may be, though their PSNs go on."""
    one, other = pairing(1), pairing(2)
    bench = Bench(one, other)
    psn = 1000
    for _ in range(10):
        bench.send(one, psn, 1)
        psn = bench.send(other, psn, 1)
    bench.wait(PAUSE)
    bench.send(other, psn)
    bench.send(one, psn + 5_000_000)
    bench.wait(JUDGED_AFTER)
    assert set(bench.uncertain) == {one, other}


def test_who_did_not_pause_goes_on() -> None:
    one, other = pairing(1), pairing(2)
    bench = Bench(one, other)
    bench.send(one, 1000)
    psn = bench.send(other, 1000, round(PAUSE / STEP) + 10)
    bench.send(one, 5_000_000)
    bench.send(other, psn, 20)
    assert bench.uncertain == [one]


@pytest.mark.parametrize("active", [True, False])
def test_a_pause_before_the_first_look_is_one_of_inferred_ones_only(active: bool) -> None:
    """Packets showed the pairing, so there were some; who states one may not use it yet."""
    one = pairing()
    progress = Progress(one.forth, one.back, 100.0, active=active)
    progress.check_begins(101.0)
    for step in range(1, 1 + round(PAUSE)):
        progress.heard(101.0 + step, inf)
    progress.observe(one.forth, 102.0 + PAUSE, Sample(WRITE, 1000, PORT))
    assert (progress.pause is not None) is active


def test_what_is_stated_anew_begins_anew() -> None:
    """The same two queue pairs, connected once more."""
    one = pairing()
    bench = Bench(one)
    bench.send(one, 1000)
    bench.wait(PAUSE)
    bench.verification.restated(one.back)
    bench.send(one, 5_000_000, 30)
    assert bench.uncertain == []


def test_what_was_not_answered_may_be_repeated() -> None:
    """All of it, where a receiver answers once for many."""
    one = pairing()
    bench = Bench(one)
    bench.verification.observe(one.back, Sample(ACK, 1000, 0))
    psn = bench.send(one, 1001, 30)
    bench.wait(PAUSE)
    bench.send(one, psn - 250)
    bench.wait(JUDGED_AFTER)
    assert bench.uncertain == []


def test_a_request_for_a_read_says_nothing_but_its_response_does() -> None:
    """It takes as many PSNs as nobody knows."""
    one, progress = pairing(), Progress(pairing().forth, pairing().back, 0.0, active=False)
    for step in range(10):
        progress.observe(one.forth, 0.1 * step, Sample(READ_REQUEST, 100_000 * step, PORT))
        progress.observe(one.back, 0.1 * step, Sample(READ_RESPONSE, 10 * step, PORT))
    resumed, verdicts = 5.0, []
    for step in range(1, 5):
        progress.heard(step, inf)
    for after, flow, sample in (
        (0.0, one.forth, Sample(READ_REQUEST, 9_000_000, PORT)),
        (0.1, one.back, Sample(READ_RESPONSE, 100, PORT)),
    ):
        progress.observe(flow, resumed + after, sample)
        assert progress.pause is not None
        verdicts.append(progress.pause.verdict)
    assert verdicts == [Continuity.UNDECIDED, Continuity.GOES_ON]


# -- what is not reported ----------------------------------------------------------------------

FAST = 10_000
"""PSNs from packet to packet, so that any may come next after a pause."""


@pytest.mark.parametrize("noticed_after", [0.0, 3 * PAUSE])
def test_what_was_not_reported_is_no_pause(noticed_after: float) -> None:
    """As while a PE is not connected, however late that is noticed."""
    one = pairing()
    bench = Bench(one)
    bench.send(one, 1000, pace=FAST)
    bench.wait(noticed_after)
    bench.miss(PAUSE + 1)
    bench.send(one, 9_000_000, 30, pace=FAST)
    assert bench.uncertain == []


def test_what_was_not_reported_is_no_step() -> None:
    """Or a later pause would tell nothing."""
    one = pairing()
    bench = Bench(one)
    bench.send(one, 1000)
    bench.miss(1.0)
    psn = bench.send(one, 5_000_000)
    bench.wait(PAUSE)
    bench.send(one, psn)
    bench.wait(JUDGED_AFTER)
    assert bench.uncertain == []


def test_a_flow_whose_packets_are_reported_late_did_not_pause() -> None:
    one = pairing()
    bench = Bench(one)
    bench.send(one, 1000)
    bench.wait(PAUSE)
    bench.verification.missed(one.forth)
    bench.send(one, 9_000_000, 30)
    assert bench.uncertain == []


def test_a_controller_that_stood_still_saw_no_pause() -> None:
    one = pairing()
    bench = Bench(one)
    bench.send(one, 1000)
    bench.now += PAUSE + 1
    bench.send(one, 9_000_000, 30)
    assert bench.uncertain == []


def test_a_pause_after_all_is_reported_again_is_one() -> None:
    one = pairing()
    bench = Bench(one)
    bench.miss(PAUSE)
    bench.send(one, 1000)
    bench.wait(PAUSE)
    bench.send(one, 9_000_000)
    bench.wait(JUDGED_AFTER)
    assert bench.uncertain == [one]
