"""Which pairings of flows are looked at first, and what that costs (FCN-3 b, FCN-15)."""

from dataclasses import replace
from ipaddress import ip_address
from unittest.mock import patch

from fcn.controller.flows.checks import CHECK
from fcn.controller.flows.inference import Pairing
from fcn.controller.flows.key import FlowKey, host_pair
from fcn.controller.flows.turns import Turns
from fcn.controller.flows.verification import HURRIED, HURRY_INTERVAL, RECENT, Verification

A, B = ip_address("10.0.0.1"), ip_address("10.1.0.0")


class Bench:
    """Pairings, each between the same two hosts or between others, and a clock the test moves."""

    def __init__(self, slots: int, count: int, *, hosts: int = 1) -> None:
        self.now = 100.0
        self.verification = Verification(lambda: self.now, slots)
        self.pairings = []
        for number in range(count):
            other = B + number % hosts
            flows = FlowKey("blue", A, other, 2 + number), FlowKey("blue", other, A, 2 + number)
            self.pairings.append(Pairing(*flows, stated=True))
            self.verification.add(self.pairings[-1])

    def advance(self, seconds: float) -> None:
        self.now += seconds
        self.verification.advance()

    def unsettled(self) -> int:
        settled = self.verification.is_settled
        return sum(not settled(host_pair(each.forth)) for each in self.pairings)


def test_those_whose_latest_look_is_longest_ago_are_first() -> None:
    """In every run, whatever the hashes of their flows."""
    bench = Bench(2, 20)
    for each in [*bench.pairings, *bench.pairings]:
        bench.verification.new_flow(host_pair(each.forth))
        bench.advance(RECENT + HURRY_INTERVAL)
        assert each.forth in bench.verification


def test_what_hosts_do_to_be_first_costs_little() -> None:
    """However many connections there are between two of them, and however often they say that one
    took the place of another."""
    bench = Bench(4, 500)
    with patch.object(Turns, "wait", autospec=True) as wait:
        for each in bench.pairings:
            bench.verification.replaced(each.forth)
            bench.verification.new_flow(host_pair(each.forth))
        bench.now += RECENT
        bench.verification.advance()
    assert wait.call_count <= 4


def test_all_are_looked_at_that_have_to_be_confirmed() -> None:
    """Those between more hosts than are searched for at a time, too; they count from the start."""
    bench = Bench(2 * HURRIED, 2 * HURRIED, hosts=2 * HURRIED)
    for each in bench.pairings:
        bench.verification.replaced(each.forth)
    assert bench.unsettled() == 2 * HURRIED
    for _ in range(6):
        bench.advance(CHECK)
    assert bench.unsettled() == 0


def test_a_tenant_with_many_new_flows_keeps_no_other_waiting() -> None:
    bench = Bench(4, 2 * HURRIED, hosts=2 * HURRIED)
    others = [
        Pairing(replace(each.forth, vrf="red"), replace(each.back, vrf="red"), stated=True)
        for each in bench.pairings
    ]
    for each in others:
        bench.verification.add(each)
    for each in (*bench.pairings, others[-1]):
        bench.verification.new_flow(host_pair(each.forth))
    bench.advance(RECENT + HURRY_INTERVAL)
    assert others[-1].forth in bench.verification
