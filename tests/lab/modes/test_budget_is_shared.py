"""Flows that want more notifications than the node's budget (`notifications.rate`, 20,000 a second)
share it, whatever the spacing of their packets (ALL-2). `pytest -s` prints the figures."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from random import Random

import pytest
from saturated import FLOWS, HEAVY, SECONDS, Load, Told, at_p, at_pe, longest_gap, with_many_flows

BUDGET = 20_000
BOUND_NS = 40_000_000
"""300 flows at 20,000 a second are 15 ms each."""
VICTIM_MS = 1
"""Ten of its packets."""
BEGUN, END = 5_000_000, 48_000_000
IN_TURN = tuple(range(FLOWS))
ORDERS = {
    "in turn": IN_TURN,
    "at random": tuple(Random(1).choices(IN_TURN, k=5_000)),
    "one flow is half of the packets": tuple(each for n in IN_TURN for each in (0, n)),
    "three flows are 9 of 10": tuple(each for n in IN_TURN for each in (*(0, 1, 2) * 3, n)),
}
PLACES: dict[str, Callable[[dict[str, str], Load], Told]] = {"P": at_p, "PE": at_pe}
TELLS, ASKS = ("fcn", "off"), ("none", "flow")


@cache
def told(place: str, order: str, modes: tuple[str, str]) -> Told:
    """A run, printed."""
    wanted = {"notification": modes[0], "flow_control": modes[1]}
    found = PLACES[place](wanted, replace(HEAVY, order=ORDERS[order]))
    each = found.flows if modes == TELLS else found.names
    late = [longest_gap(times, BEGUN, END) / 1e6 for times in each.values()]
    count = sum(map(len, each.values()))
    print(f"\n{place}, {order}, {modes}: {count} of {len(each)} flows, at most {max(late):.1f} ms")
    return found


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("place", PLACES)
def test_every_flow_is_told(place: str, order: str) -> None:
    """By Fast CNPs, by CNPs of the ingress PE."""
    check(told(place, order, TELLS).flows, order)


@pytest.mark.parametrize("order", ORDERS)
def test_every_flow_is_asked_for(order: str) -> None:
    """By ARNs."""
    check(told("P", order, ASKS).names, order)


@pytest.mark.parametrize("phase_ns", [0, 25_000, 45_000])
@pytest.mark.parametrize(
    ("flows", "seconds"),
    [
        (1, 0.2),
        (1_024, 0.2),
        (16_384, 0.2),
        pytest.param(16_384, 3, marks=pytest.mark.exhaustive),
        pytest.param(65_536, 3, marks=pytest.mark.exhaustive),
    ],
)
def test_a_customer_with_many_flows_does_not_delay_another(
    flows: int, seconds: float, phase_ns: int
) -> None:
    """Whose one flow has a tenth of the packets, and waits for few of them, however many flows the
    other one has. phase_ns: by how much packets come after the meter's tokens."""
    victim = flows
    others = iter(number % flows for number in range(10**6))
    count = round(seconds * HEAVY.per_second)
    order = tuple(victim if number % 10 == 0 else next(others) for number in range(count))
    load = replace(HEAVY, order=order, seconds=seconds, phase_ns=phase_ns)
    found = with_many_flows(load, flows)
    times = found.flows[victim]
    filled = (HEAVY.filled + 10) * HEAVY.spacing_ns
    late = longest_gap(times, filled, round(seconds * 1e9) - 2_000_000) / 1e6
    shown = f"{len(times)} of {found.count} are the victim's, at most {late:.1f} ms"
    print(f"\n{phase_ns} ns, {flows} flows: {shown}")
    assert found.count >= 0.85 * BUDGET * seconds
    assert late < VICTIM_MS


def check(each: dict[int, list[int]] | dict[bytes, list[int]], order: str) -> None:
    """Everybody was told, and the budget was used, but for what the meter has saved in the end."""
    assert len(each) == FLOWS
    assert max(longest_gap(times, BEGUN, END) for times in each.values()) < BOUND_NS
    assert sum(map(len, each.values())) >= BUDGET * SECONDS
