"""Pairings are looked at again in turn, and evidence against one ends it (FCN-3 b, FCN-15)."""

from ipaddress import ip_address

import pytest

from fcn.controller.config.notation import Address
from fcn.controller.flows.checks import CHECK, PORTS_NEEDED
from fcn.controller.flows.inference import Pairing
from fcn.controller.flows.key import FlowKey, host_pair
from fcn.controller.flows.trail import Sample, connection_port
from fcn.controller.flows.verification import (
    RECENT,
    UNSEEN,
    Verification,
)

A, B, C, D = (ip_address(f"10.0.0.{number}") for number in (1, 2, 3, 4))
WRITE, READ_REQUEST, ACK, UC_SEND = 0x0A, 0x0C, 0x11, 0x24
STEP = 0.15
LARGE = 100_000
"""PSNs of a READ; 255 of them are more than all there are."""


def pairing(
    number: int,
    *,
    port: bool = False,
    stated: bool = False,
    vrf: str = "blue",
    hosts: tuple[Address, Address] = (A, B),
) -> Pairing:
    a, b = hosts
    forth, back = FlowKey(vrf, a, b, 0x100 + number), FlowKey(vrf, b, a, 0x200 + number)
    known = connection_port(0x100 + number, 0x200 + number) if port else None
    return Pairing(forth, back, known, stated)


class Bench:
    """A verification with a clock the test moves."""

    def __init__(self, slots: int = 4) -> None:
        self.now = 100.0
        self.steps = 0
        self.verification = Verification(lambda: self.now, slots)

    def share(self, one: Pairing) -> None:
        """Watch a pairing, and when its look is over another tenant's that is silent."""
        self.verification.add(one)
        self.advance()
        self.verification.add(pairing(0, vrf="red"))

    def rest(self, one: Pairing) -> None:
        """Until its look and the other's are over."""
        for _ in range(3):
            self.advance(CHECK)
            if self.watched(one) == [True]:
                return
        pytest.fail("it has no turn")

    def advance(self, seconds: float = 0.0) -> list[Pairing]:
        self.now += seconds
        return self.verification.advance()[1]

    def watched(self, *some: Pairing) -> list[bool]:
        return [each.forth in self.verification and each.back in self.verification for each in some]

    def talk(
        self,
        one: Pairing,
        seconds: float,
        behind: int = 0,
        port: int = 0,
        request: int = WRITE,
        size: int = 10,
    ) -> list[Pairing]:
        """Requests forth of `size` PSNs and responses back, `behind` PSNs late."""
        refuted: list[Pairing] = []
        for _ in range(round(seconds / (2 * STEP))):
            self.steps += 1
            psn = (1000 + size * self.steps) % (1 << 24)
            self.verification.observe(one.forth, Sample(request, psn, port))
            refuted += self.advance(STEP)
            self.verification.observe(one.back, Sample(ACK, (psn - behind) % (1 << 24), port))
            refuted += self.advance(STEP)
        return refuted


def test_a_pairing_is_watched_until_it_is_confirmed_and_others_have_their_turn() -> None:
    bench, one, other = Bench(slots=2), pairing(1), pairing(2)
    bench.verification.add(one)
    bench.verification.add(other)
    assert bench.watched(one, other) == [False, False]
    bench.advance()
    assert bench.watched(one, other) == [True, False]
    assert bench.talk(one, 5.0) == []
    assert bench.watched(one, other) == [False, True]
    bench.advance(CHECK)
    assert bench.watched(one, other) == [True, False]
    assert bench.verification.partner(one.back) == one.forth


def test_where_nobody_waits_a_pairing_is_always_watched() -> None:
    """And nothing is written to switches when one look follows the other."""
    bench, one = Bench(), pairing(1)
    bench.verification.add(one)
    assert bench.verification.advance()[0] == {one.forth, one.back}
    for _ in range(5):
        assert bench.talk(one, CHECK) == []
        assert bench.watched(one) == [True]


@pytest.mark.parametrize("behind", [1_000_000, 9_000_000])
def test_responses_that_cannot_be_the_others_end_it(behind: int) -> None:
    bench, one = Bench(), pairing(1)
    bench.verification.add(one)
    bench.advance()
    assert bench.talk(one, CHECK, behind) == [one]
    assert bench.verification.partner(one.forth) is None
    assert bench.watched(one) == [False]
    assert bench.verification.was_refuted(one.back, one.forth)
    bench.verification.forget(one.forth)
    assert not bench.verification.was_refuted(one.back, one.forth)


def test_silence_and_other_transports_are_no_evidence() -> None:
    bench, one = Bench(), pairing(1)
    bench.verification.add(one)
    bench.advance()
    for step in range(30):
        bench.verification.observe(one.back, Sample(ACK, 77 * step, 0))
        bench.verification.observe(one.forth, Sample(UC_SEND, 1000 * step, 0))
        assert bench.advance(0.3) == []
    assert bench.advance(CHECK) == []
    assert bench.verification.partner(one.forth) == one.back


def test_another_port_ends_what_the_port_confirmed() -> None:
    """Equal PSNs prove nothing: queue pairs that changed partners run on in step."""
    bench, one, other = Bench(), pairing(1, port=True), pairing(2)
    bench.verification.add(one)
    bench.verification.add(other)
    bench.advance()
    assert bench.talk(one, 1.0, port=one.port or 0) == []
    assert bench.talk(other, 1.0, port=0xC123) == []
    for number in range(PORTS_NEEDED):
        assert bench.advance() == []
        bench.verification.observe(one.forth, Sample(WRITE, 2000 + number, 0xC123))
    assert bench.advance() == [one]


@pytest.mark.parametrize("other_ports", [(0xC123,), (0xC123, 0xC124, 0xC125, 0xC126)])
def test_packets_in_anothers_name_do_not_end_it(other_ports: tuple[int, ...]) -> None:
    """Of one or all of many ports, between packets of the flow's own; nor do they keep the pairing
    watched for long."""
    bench, one = Bench(slots=2), pairing(1, port=True)
    bench.share(one)
    watched = []
    for port in other_ports * PORTS_NEEDED:
        for spoofed in other_ports[: PORTS_NEEDED - 1]:
            bench.verification.observe(one.forth, Sample(WRITE, 77, spoofed))
        bench.verification.observe(one.forth, Sample(WRITE, 77, port))
        assert bench.talk(one, 4 * STEP, port=one.port or 0) == []
        watched += bench.watched(one)
    assert bench.advance(CHECK) == []
    watched += bench.watched(one)
    assert False in watched
    assert bench.verification.partner(one.forth) == one.back


# -- what somebody stated ----------------------------------------------------------------------


@pytest.mark.parametrize("behind", [1_000_000, 9_000_000])
def test_a_statement_ends_after_two_looks(behind: int) -> None:
    """An answer 9,000,000 PSNs behind is 7,777,216 ahead; one that is behind may be late."""
    bench, one = Bench(), pairing(1, stated=True)
    bench.verification.add(one)
    bench.advance()
    first = CHECK if behind < 1 << 23 else 4.0
    assert bench.talk(one, first, behind) == []
    assert bench.talk(one, first, behind) == [one]
    assert bench.verification.partner(one.forth) is None
    assert bench.watched(one) == [False]


@pytest.mark.parametrize("fits", ["response", "port", "large reads"])
def test_what_may_be_right_is_left_alone(fits: str) -> None:
    """A single response that fits, or the port both queue pairs give; an answer behind READs as
    large as these may be late by any number."""
    bench, one = Bench(slots=2), pairing(1, stated=True)
    bench.share(one)
    port = connection_port(0x101, 0x201) if fits == "port" else 0
    request, size = (READ_REQUEST, LARGE) if fits == "large reads" else (WRITE, 10)
    behind = 3_000_000 if fits == "large reads" else 9_000_000
    for _ in range(3):
        assert bench.talk(one, 0.6 if fits == "response" else 0.0) == []
        assert bench.talk(one, CHECK + 1, behind, port, request, size) == []
        bench.rest(one)
    assert bench.verification.partner(one.forth) == one.back


def test_small_reads_are_evidence() -> None:
    """Whoever waits for 255 of them is not that late: two looks, as for any request."""
    bench, one = Bench(slots=2), pairing(1, stated=True)
    bench.share(one)
    assert bench.talk(one, 2 * CHECK, 1_000_000, request=READ_REQUEST) == [one]


def test_reads_that_are_repeated_are_no_evidence() -> None:
    """Of a READ that goes back nobody sees how far it went."""
    bench, one = Bench(slots=2), pairing(1, stated=True)
    bench.share(one)
    for step in range(round(3 * CHECK / STEP)):
        psn = 1000 + 10 * step - (500 if step % 5 == 0 else 0)
        bench.verification.observe(one.forth, Sample(READ_REQUEST, psn, 0))
        bench.verification.observe(one.back, Sample(ACK, psn + 1_000_000, 0))
        assert bench.advance(STEP) == []


def test_a_suspicion_ends_with_a_response_that_fits() -> None:
    bench, one = Bench(slots=2), pairing(1, stated=True)
    bench.share(one)
    for _ in range(3):
        assert bench.talk(one, 2.7, behind=9_000_000) == []
        assert bench.watched(one) == [True]
        assert bench.talk(one, 3.0) == []
        assert bench.watched(one) == [False]
        bench.rest(one)


@pytest.mark.parametrize(
    ("before", "after", "fits", "ended"),
    [
        ("followed", 0xC123, False, True),
        ("followed", 0xC123, True, True),
        (0xC077, 0xC123, False, True),
        (0xC077, 0xC123, True, False),
        (0xC077, 0xC077, False, True),
        (0xC077, 0xC077, True, False),
    ],
)
def test_ports_that_changed(before: int | str, after: int, fits: bool, ended: bool) -> None:
    """Evidence even where READs hide that responses do not fit, as are ports that did not change
    when responses fitted and fit no more; but not where they fit: programs
    may change ports (mlx5dv_modify_qp_udp_sport). Those that follow from both queue pairs are no
    program's choice."""
    bench, one = Bench(slots=2), pairing(1, stated=True)
    bench.share(one)
    port = connection_port(0x101, 0x201) if isinstance(before, str) else before
    bench.talk(one, 2.7, 0, port, READ_REQUEST, LARGE)
    bench.rest(one)
    behind = 0 if fits else 3_000_000
    found = bench.talk(one, 2 * CHECK + 1, behind, after, READ_REQUEST, LARGE)
    assert found == ([one] if ended else [])


def test_ports_that_changed_while_nothing_is_answered() -> None:
    bench, one = Bench(slots=2), pairing(1, stated=True)
    bench.share(one)
    bench.talk(one, 4.0, 0, 0xC077)
    found: list[Pairing] = []
    bench.rest(one)
    for step in range(round(2.5 * CHECK / STEP)):
        bench.verification.observe(one.forth, Sample(WRITE, 1000 + step, 0xC123))
        bench.verification.observe(one.back, Sample(WRITE, 9_000_000 + step, 0xC124))
        found += bench.advance(STEP)
    assert found == [one]


def test_one_port_that_changed_is_no_evidence() -> None:
    bench, one = Bench(slots=2), pairing(1, stated=True)
    bench.share(one)
    bench.talk(one, CHECK, 3_000_000, 0xC077, READ_REQUEST, LARGE)
    bench.rest(one)
    for step in range(round(3 * CHECK / STEP)):
        psn = LARGE * step % (1 << 24)
        bench.verification.observe(one.forth, Sample(READ_REQUEST, psn, 0xC123))
        bench.verification.observe(one.back, Sample(ACK, (psn - 3_000_000) % (1 << 24), 0xC077))
        assert bench.advance(STEP) == []


# -- doubt -------------------------------------------------------------------------------------


class Reused:
    """A pairing that packets disprove, and another between the same hosts."""

    def __init__(self, *, stated: bool = True) -> None:
        self.bench = Bench(slots=8)
        self.ended, self.other = pairing(1, stated=True), pairing(2, stated=stated)
        self.bench.verification.add(self.ended)
        self.bench.verification.add(self.other)

    @property
    def is_settled(self) -> bool:
        return self.bench.verification.is_settled(host_pair(self.other.forth))

    def disprove(self) -> None:
        self.bench.advance()
        assert self.bench.talk(self.ended, 2 * CHECK, 9_000_000) == [self.ended]
        self.bench.advance(CHECK)
        self.bench.advance()

    def talk(self, behind: int) -> list[Pairing]:
        """READs so large that nothing is impossible."""
        return self.bench.talk(self.other, 2 * CHECK + 1, behind, 0, READ_REQUEST, LARGE)


@pytest.mark.parametrize("stated", [True, False])
def test_what_cannot_be_told_apart_ends_when_another_ended(stated: bool) -> None:
    reused = Reused(stated=stated)
    reused.disprove()
    reused.talk(3_000_000)
    assert reused.bench.verification.partner(reused.other.forth) is None
    # Nothing disproved it: an agent may say so again.
    assert not reused.bench.verification.was_refuted(reused.other.forth, reused.other.back)


def test_what_is_confirmed_stays_when_another_ended() -> None:
    reused = Reused()
    reused.disprove()
    assert reused.talk(0) == []
    assert reused.is_settled
    assert reused.bench.verification.partner(reused.other.forth) == reused.other.back


def test_what_is_quiet_stays_when_another_ended() -> None:
    reused = Reused()
    reused.disprove()
    for _ in range(4):
        assert reused.bench.advance() == []
        assert reused.bench.advance(CHECK) == []
    assert reused.bench.verification.partner(reused.other.forth) == reused.other.back


def test_what_was_stated_since_is_not_doubted() -> None:
    """Its hosts knew of the change."""
    bench, old, new = Bench(slots=8), pairing(1, stated=True), pairing(2, stated=True)
    bench.verification.add(old)
    bench.advance()
    assert bench.talk(old, 1.0) == []
    bench.advance(CHECK)
    bench.verification.add(new)
    bench.advance()
    assert bench.talk(old, 2 * CHECK, 9_000_000) == [old]
    assert bench.verification.is_settled(host_pair(new.forth))
    assert bench.talk(new, 2 * CHECK + 1, 3_000_000, 0, READ_REQUEST, LARGE) == []


@pytest.mark.parametrize(("later", "ended"), [(0.0, True), (UNSEEN + 1, False)])
def test_a_newer_handshake_of_one_makes_others_doubtful(later: float, ended: bool) -> None:
    """But not those that were made long after the one it replaced."""
    bench, old, other = Bench(slots=8), pairing(1, stated=True), pairing(2, stated=True)
    bench.verification.add(old)
    bench.now += later
    bench.verification.add(other)
    bench.now += 1.0
    bench.verification.replaced(old.back)
    bench.verification.forget(old.back)
    assert not bench.verification.is_settled(host_pair(old.forth))
    bench.advance()
    assert bench.verification.is_settled(host_pair(old.forth)) is not ended
    found = bench.talk(other, 2 * CHECK + 1, 3_000_000, 0, READ_REQUEST, LARGE)
    assert found == ([other] if ended else [])


def test_between_other_hosts_nothing_is_doubted() -> None:
    bench, old, other = Bench(slots=8), pairing(1, stated=True), pairing(2, hosts=(C, D))
    bench.verification.add(other)
    bench.verification.add(old)
    bench.advance()
    assert bench.talk(old, 2 * CHECK, 9_000_000) == [old]
    assert bench.verification.is_settled(host_pair(other.forth))


def test_inference_waits_until_all_that_is_doubted_was_looked_at() -> None:
    """Its partner may be taken for another's."""
    bench, old = Bench(slots=2), pairing(1, stated=True)
    bench.verification.add(old)
    bench.advance()
    bench.verification.add(pairing(2, stated=True))
    hosts = host_pair(old.forth)
    assert bench.talk(old, 8.0, 9_000_000) == [old]
    assert not bench.verification.is_settled(hosts)
    bench.advance(CHECK)
    assert bench.verification.is_settled(hosts)


# -- slots -------------------------------------------------------------------------------------


def test_vrfs_take_turns() -> None:
    """One with many connections does not keep those of another from being looked at."""
    bench = Bench(slots=2)
    many = [pairing(number) for number in range(50)]
    one = pairing(1, vrf="red")
    for each in [*many, one]:
        bench.verification.add(each)
    bench.advance()
    bench.advance(CHECK)
    assert bench.watched(many[0], many[1], one) == [False, False, True]


def test_hosts_of_a_vrf_take_turns() -> None:
    """One with many connections, or two that have many, do not keep others of the VRF waiting."""
    bench = Bench(slots=2)
    many = [pairing(number) for number in range(50)]
    to_one_of_them, elsewhere = pairing(70, hosts=(B, C)), pairing(71, hosts=(C, D))
    for each in [*many, to_one_of_them, elsewhere]:
        bench.verification.add(each)
    bench.advance()
    seen = [bench.watched(many[0], to_one_of_them, elsewhere)]
    for _ in range(4):
        bench.advance(CHECK)
        seen.append(bench.watched(many[0], to_one_of_them, elsewhere))
    assert [index for each in seen for index, watched in enumerate(each) if watched] == [0, 1, 2]


@pytest.mark.parametrize("apart", ["vrf", "hosts"])
def test_who_keeps_slots_for_long_gets_no_more_of_them(apart: str) -> None:
    """Connections of a tenant that confirm nothing stay watched; those of others come and go."""
    bench = Bench(slots=8)
    other_vrf, other_hosts = ("red", (A, B)) if apart == "vrf" else ("blue", (C, D))
    silent = [pairing(number) for number in range(20)]
    quick = [pairing(number, vrf=other_vrf, hosts=other_hosts) for number in range(20)]
    for each in [*silent, *quick]:
        bench.verification.add(each)
    bench.advance()
    for _ in range(8):
        assert [sum(bench.watched(*some)) for some in (silent, quick)] == [2, 2]
        for each in quick:
            if each.forth in bench.verification:
                bench.verification.forget(each.forth)
        bench.advance()


def test_slots_are_never_exceeded_and_all_have_their_turn() -> None:
    bench = Bench(slots=5)
    some = [pairing(number) for number in range(6)]
    for each in some:
        bench.verification.add(each)
    bench.advance()
    assert bench.watched(*some) == [True, True, False, False, False, False]
    assert len(bench.verification) == 4
    bench.advance(CHECK)
    assert bench.watched(*some) == [False, False, True, True, False, False]
    bench.verification.forget(some[2].back)
    bench.advance()
    assert bench.watched(*some) == [False, False, False, True, True, False]
    bench.advance(CHECK)
    assert bench.watched(some[5]) == [True]


@pytest.mark.parametrize(("since", "first"), [(RECENT - 0.1, False), (RECENT, True)])
def test_pairings_between_hosts_with_a_new_flow_are_first(since: float, first: bool) -> None:
    """Unless they were looked at just before."""
    bench, others = Bench(slots=2), [pairing(number) for number in range(4)]
    one = pairing(9, hosts=(A, C))
    for each in [*others, one]:
        bench.verification.add(each)
    bench.now += since
    bench.verification.new_flow(host_pair(one.forth))
    bench.advance()
    assert bench.watched(one, others[0]) == [first, not first]


def test_without_slots_nothing_is_watched() -> None:
    bench, one = Bench(slots=1), pairing(1)
    bench.verification.add(one)
    assert bench.advance() == []
    assert bench.watched(one) == [False]
    assert len(bench.verification) == 0
