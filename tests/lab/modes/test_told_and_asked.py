"""Senders are told as if no neighbour were asked to hold, and neighbours are asked as if no sender
were told, whatever the spacing of packets (ALL-2). `pytest -s` prints the figures."""

from collections.abc import Callable
from functools import cache

import pytest
from saturated import HEAVY, LIGHT, NS, SECONDS, Load, Told, at_egress, at_p, at_pe, longest_gap

REPEAT_NS, RELIEF_REPEAT_NS, PATH_NS = 400_000, 150_000, 1_000_000
"""Defaults: `holding.repeat`, `holding.relief_repeat`, the interval of level 1."""
BUDGET, BURST = 20_000, 200
"""Defaults of `notifications`, which bound each kind (FCN-15)."""
BEGUN, END = 5_000_000, round(SECONDS * NS) - 2_000_000
"""When the queue is full, and the last packets have not left yet."""
LOADS = {"20,000 a second": LIGHT, "100,000 a second": HEAVY}
HOLDING = ("service", "flow", "priority")
MANY = pytest.mark.exhaustive
"""Other modes of flow control, and fewer packets: every day it is `service` at 100,000."""
EVERYDAY = [HOLDING[0], *(pytest.param(mode, marks=MANY) for mode in HOLDING[1:])]
LOADED = ["100,000 a second", pytest.param("20,000 a second", marks=MANY)]
PLACES: dict[str, Callable[[dict[str, str], Load], Told]] = {
    "P": at_p,
    "PE": at_pe,
    "egress PE": at_egress,
}


@cache
def told(place: str, load: str, notification: str, flow_control: str, relief: str = "pfc") -> Told:
    """A run, printed."""
    modes = {"notification": notification, "flow_control": flow_control, "relief": relief}
    found = PLACES[place](modes, LOADS[load])
    asked = sum(map(len, found.names.values()))
    print(
        f"\n{place}, {load}, {notification}, {flow_control}, {relief}: senders told {found.count}, "
        f"of paths {len(found.paths)}, ARNs {asked} of {len(found.names)} names, "
        f"PAUSE frames {len(found.pauses)}"
    )
    return found


def gap(times: list[int]) -> int:
    """The longest time without one while the queue is full, in ns."""
    return longest_gap(times, BEGUN, END)


def check_as_many(alone: Told, beside: Told, load: Load) -> None:
    """As many are told with flow control as without, and as the budget permits."""
    assert alone.count >= 0.95 * min(load.per_second * SECONDS, BUDGET * SECONDS + BURST)
    assert beside.count == pytest.approx(alone.count, rel=0.02)


@pytest.mark.parametrize("flow_control", EVERYDAY)
@pytest.mark.parametrize("notification", ["fcn", "end-con", "two-threshold"])
@pytest.mark.parametrize("load", LOADED)
def test_senders_are_told_as_without_flow_control(
    load: str, notification: str, flow_control: str
) -> None:
    """By Fast CNPs and CNPs by way of END.CON."""
    alone = told("P", load, notification, "off")
    beside = told("P", load, notification, flow_control)
    each = LOADS[load]
    check_as_many(alone, beside, each)
    assert not alone.names
    check_asked(beside, each)


@pytest.mark.parametrize("relief", ["pfc", "cnp"])
@pytest.mark.parametrize("flow_control", EVERYDAY)
@pytest.mark.parametrize("notification", ["fcn", "end-con", "two-threshold", "fantel"])
@pytest.mark.parametrize("load", LOADED)
def test_so_are_those_of_the_ingress_pe(
    load: str, notification: str, flow_control: str, relief: str
) -> None:
    """By CNPs of its own, beside PAUSE frames for their data centre."""
    alone = told("PE", load, notification, "off")
    beside = told("PE", load, notification, flow_control, relief)
    each = LOADS[load]
    check_as_many(alone, beside, each)
    assert not alone.pauses
    if relief == "pfc":
        assert gap(beside.pauses) <= RELIEF_REPEAT_NS + each.spacing_ns
    else:
        assert not beside.pauses


@pytest.mark.parametrize("flow_control", EVERYDAY)
@pytest.mark.parametrize("notification", ["fcn", "end-con", "two-threshold"])
@pytest.mark.parametrize("load", LOADED)
def test_the_egress_pe_tells_as_without_flow_control(
    load: str, notification: str, flow_control: str
) -> None:
    """FCN-18: of its port to a data centre, where it asks its neighbour to hold, too (SRF-7)."""
    alone = told("egress PE", load, notification, "off")
    beside = told("egress PE", load, notification, flow_control)
    each = LOADS[load]
    check_as_many(alone, beside, each)
    assert max(map(gap, beside.flows.values())) <= max(map(gap, alone.flows.values())) * 1.02
    check_asked(beside, each)
    assert not beside.pauses


@pytest.mark.parametrize("flow_control", EVERYDAY)
@pytest.mark.parametrize("load", LOADED)
def test_the_pe_hears_of_the_path_beside_it(load: str, flow_control: str) -> None:
    """FAN-6."""
    beside, each = told("P", load, "fantel", flow_control), LOADS[load]
    assert gap(told("P", load, "fantel", "off").paths) <= PATH_NS + each.spacing_ns
    assert gap(beside.paths) <= PATH_NS + each.spacing_ns
    check_asked(beside, each)


@pytest.mark.parametrize("flow_control", ["off", *HOLDING])
@pytest.mark.parametrize("notification", ["fcn", "end-con", "two-threshold"])
def test_every_flow_is_told_with_every_packet(notification: str, flow_control: str) -> None:
    """Where the budget has room for all: their intervals are shorter than the time from a packet to
    the next."""
    found = told("P", "20,000 a second", notification, flow_control)
    late = max(map(gap, found.flows.values()))
    assert len(found.flows) == 300
    assert late <= LIGHT.each_ns + LIGHT.spacing_ns


def check_asked(found: Told, load: Load) -> None:
    """Every name is said again after `repeat`, or with its next packet, where the budget has room
    for all of them."""
    assert found.names
    many = len(found.names) > 1
    if many and load.per_second > BUDGET:
        assert sum(map(len, found.names.values())) >= 0.95 * (BUDGET * SECONDS + BURST)
        return
    bound = max(REPEAT_NS, load.each_ns if many else 0) + load.spacing_ns
    assert max(map(gap, found.names.values())) <= bound
