"""Who bids for which switch where controllers do not see the same, or run under one name."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from led import Silent, seat
from rivals import CALM, UNHEARD, first_and_second, rivals, until_ruled
from switches import until

from fcn.controller.app import ControlPlane
from fcn.controller.clock import Clock
from fcn.controller.leadership.election import Seat
from fcn.controller.leadership.ids import run_of
from fcn.controller.leadership.leadership import DOUBT, FIRST_CALM, LATE_LOOK, PATIENCE, Leadership
from fcn.controller.node.connection import State

pytestmark = pytest.mark.virtual_time


def _ups(plane: ControlPlane) -> int:
    return sum(agent.is_up for agent in plane.nodes.values())


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize(
    "kept", [0, *(pytest.param(each, marks=pytest.mark.exhaustive) for each in (1, 2, 3))]
)
async def test_a_leader_that_keeps_one_switch_only_is_succeeded(
    network: dict[str, Any], named: bool, kept: int
) -> None:
    """The one that waits sees it there; and takes all at once, not in turns with it."""
    async with rivals(network, named=named) as found:
        second = await first_and_second(found)
        for name in found.switches.keys() - {sorted(found.switches)[kept]}:
            found.links[1, name].cut()
            await found.switches[name].stop()
            await found.switches[name].start()
        await until(lambda: found.leaders() == [2] and _ups(second) == 4, seconds=UNHEARD)
        found.restore_all()
        await until_ruled(found, [2], CALM)
        assert found.planes[2] is second


@pytest.mark.parametrize("named", [False, True])
async def test_a_switch_that_hangs_delays_no_take_over(
    network: dict[str, Any], named: bool
) -> None:
    async with rivals(network, named=named) as found:
        second = await first_and_second(found)
        # It says nothing of the leader's end.
        found.links[2, sorted(found.switches)[0]].cut()
        await found.end(1)
        await until(lambda: _ups(second) == 3, seconds=PATIENCE + 1)


@pytest.mark.parametrize("named", [False, True])
async def test_whom_nobody_hears_any_more_is_succeeded_once(
    network: dict[str, Any], named: bool
) -> None:
    """By one of the two that wait; then all is quiet, the one that was silent among them."""
    async with rivals(network, named=named) as found:
        await first_and_second(found)
        await found.start(3)
        await until(lambda: all(_told_first(found.planes[each]) for each in (2, 3)), seconds=10)
        gone = found.planes[1].leadership.me
        for number in (2, 3):
            found.planes[number].leadership.fell_silent(gone)
        await until(
            lambda: found.leaders() in ([2], [3]) and found.rule_all(found.leaders()[0]),
            seconds=CALM,
        )
        (leader,) = found.leaders()
        plane = found.planes[leader]
        await asyncio.sleep(CALM)
        assert found.leaders() == [leader]
        assert found.rule_all(leader)
        assert found.planes[leader] is plane


def _told_first(plane: ControlPlane) -> bool:
    return plane.leadership.leader_number() is not None


@pytest.mark.parametrize("named", [False, True])
async def test_a_stream_whose_end_the_switch_has_not_noticed(
    network: dict[str, Any], named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is this controller's own, which takes the switch again."""
    async with rivals(network, named=named) as found:
        plane = await found.start(1)
        await until_ruled(found, [1], 10)
        name = next(iter(found.switches))
        monkeypatch.setattr(
            "fcn.softswitch.p4rt.arbitration.Arbitration.leave", lambda _self, _client: None
        )
        found.links[1, name].cut()
        await until(lambda: plane.nodes[name].status.state is State.AWAY, seconds=UNHEARD)
        found.links[1, name].restore()
        await until_ruled(found, [1], CALM)
        assert found.planes[1] is plane


async def test_a_second_one_under_the_same_name_waits_and_says_so(network: dict[str, Any]) -> None:
    async with rivals(network, named=True) as found:
        first = await found.start(1)
        await until_ruled(found, [1], 10)
        second = await found.start(2, under=1)
        for agent in second.nodes.values():
            await until(lambda: agent.status.state is State.BACKUP)  # noqa: B023
            assert agent.leader.startswith("controller one (another that runs under this name, too")
        assert found.planes[1] is first
        assert found.leaders() == [1]
        await found.end(1)
        await until_ruled(found, [2], 2)


class Asked(Silent):
    """Likewise; `at`: when it was told to ask."""

    def __init__(self) -> None:
        self.at = list[float]()

    def take(self) -> None:
        self.at.append(asyncio.get_running_loop().time())


def _leadership(order: str, me: int, ballots: Mapping[str, Asked] | None = None) -> Leadership:
    time = asyncio.get_running_loop().time
    found = Leadership(list(order), Clock(time, time, time), me, {})
    for name in order:
        found.enter(name, ballots[name] if ballots else Asked())
    return found


@pytest.mark.parametrize("order", ["abcd", "dcba", "cdab"])
async def test_the_order_of_switches_in_the_file_changes_nothing(order: str) -> None:
    """Of two that have half each the same one is first for both."""
    found = {me: _leadership(order, me) for me in (1, 2)}
    for me, each in found.items():
        for name, holder in zip("abcd", (1, 1, 2, 2), strict=True):
            each.heard(name, seat(1, holder), won=holder == me)
    assert [each.leads for each in found.values()] == [True, False]
    for each in found.values():
        each.move_to(list(order))
    assert [each.leads for each in found.values()] == [True, False]


async def test_controllers_of_another_region_are_not_disturbed() -> None:
    """Two files may say something else of a switch while they are being changed."""
    time = asyncio.get_running_loop().time
    me, rival, other = (run_of(number) for number in (1, 2, 3))
    names, elsewhere = {1: "one", 2: "two"}, {3: "three"}
    found = Leadership("abc", Clock(time, time, time), me, names, elsewhere)
    for name in "abc":
        found.enter(name, Asked())
    for name, holder in zip("abc", (me, me, other), strict=True):
        found.heard(name, seat(1, holder), won=holder == me)
    assert found.leads
    assert found.bid_for("c") is None
    assert "another region" in found.why_not("c")
    found.heard("c", seat(2, rival), won=False)
    assert found.bid_for("c") is not None


async def test_a_switch_that_is_none_any_more_is_not_heard() -> None:
    """What it says last disturbs no other."""
    found = _leadership("ab", 1)
    for name in "ab":
        found.heard(name, Seat(None, 0), won=False)
    found.move_to(["a"])
    found.heard("b", Seat(None, 0), won=False)
    found.heard("a", seat(1, 1), won=True)
    assert found.leads


def _leading(order: str, ballots: Mapping[str, Asked] | None = None) -> Leadership:
    """Controller 1 is primary on all switches."""
    found = _leadership(order, 1, ballots)
    for name in order:
        found.heard(name, seat(1, 1), won=True)
    return found


async def test_whoever_is_deposed_takes_nothing_back() -> None:
    """Not even before it knows; and it is not while it leads."""
    found = _leading("abc")
    for name in "cb":
        assert not found.deposed.is_set()
        found.heard(name, seat(2, 2), won=False)
        assert found.bid_for(name) is None
    assert found.deposed.is_set()


@pytest.mark.parametrize("held", [False, True])
async def test_who_loses_a_switch_asks_the_others_before_it_takes_it_back(held: bool) -> None:
    """Each once, however often that one says that another is primary, or was."""
    ballots = {name: Asked() for name in "abc"}
    found = _leading("abc", ballots)
    asked = {name: len(each.at) for name, each in ballots.items()}
    for turn in (2, 3, 4):
        said = seat(turn, 2)
        found.heard("c", said if held else replace(said, primary=None), won=False)
    assert [len(ballots[name].at) - asked[name] for name in "ab"] == [1, 1]
    for name in "ab":
        assert found.bid_for(name) == seat(1, 1).primary
        found.heard(name, seat(1, 1), won=True)
    assert found.bid_for("c") is None
    await asyncio.sleep(FIRST_CALM)
    assert found.leads
    assert not found.deposed.is_set()
    assert found.bid_for("c") == seat(5, 1).primary


async def test_who_loses_a_switch_and_hears_nothing_of_the_others_is_deposed() -> None:
    """The other controller may have them, and this one be cut off from them."""
    found = _leading("abc")
    found.heard("c", seat(2, 2), won=False)
    await asyncio.sleep(DOUBT - 0.1)
    assert found.leads
    assert found.bid_for("c") is None
    await asyncio.wait_for(found.deposed.wait(), 0.2)


class Late(Asked):
    """What its switch says waits for 3 s."""

    def heard_until(self) -> float:
        return asyncio.get_running_loop().time() - 3.0


async def test_answers_that_wait_are_waited_for_before_a_leader_is_deposed() -> None:
    """Behind reports, as on a busy machine."""
    found = _leading("abc", {name: Late() for name in "abc"})
    found.heard("c", seat(2, 2), won=False)
    await asyncio.sleep(DOUBT + 2.9)
    assert found.leads
    found.heard("a", seat(1, 1), won=True)
    found.heard("b", seat(1, 1), won=True)
    await asyncio.sleep(DOUBT)
    assert found.leads
    assert not found.deposed.is_set()


async def test_answers_that_waited_and_did_not_come_depose_a_leader() -> None:
    found = _leading("abc", {name: Late() for name in "abc"})
    found.heard("c", seat(2, 2), won=False)
    await asyncio.wait_for(found.deposed.wait(), DOUBT + 3.0 + LATE_LOOK)


@pytest.mark.parametrize("named", [False, True])
async def test_a_switch_that_lies_about_who_is_primary_is_lost_alone(
    network: dict[str, Any], named: bool
) -> None:
    """The controller goes on at the others, says why not there, and has it again afterwards."""
    async with rivals(network, named=named) as found:
        plane = await found.start(1)
        await until_ruled(found, [1], 10)
        *others, liar = sorted(found.switches)
        since = {name: plane.nodes[name].status.since for name in others}
        with found.switches[liar].lying(run_of(2)):
            await until(lambda: plane.nodes[liar].status.state is State.BACKUP, seconds=CALM)
            shown = "controller two" if named else "another controller (election ID "
            assert plane.nodes[liar].leader.startswith(f"this switch says that {shown}")
            await asyncio.sleep(CALM)
        await until_ruled(found, [1], 2 * CALM)
        assert found.planes[1] is plane
        assert since == {name: plane.nodes[name].status.since for name in others}


async def test_each_calm_ends_in_time() -> None:
    """However long another switch has to be left alone."""
    ballots = {name: Asked() for name in "abcd"}
    found = _leadership("abcd", 1, ballots)
    for name, holder in zip("abcd", (1, 1, 2, 2), strict=True):
        found.heard(name, seat(1, holder), won=holder == 1)
    for turn in range(2, 6):
        assert found.bid_for("c") is not None
        found.heard("c", seat(2 * turn, 2), won=False)
        assert found.bid_for("c") is None
        await asyncio.sleep(2.0 ** (turn - 2))
    assert found.bid_for("c") is not None
    found.heard("c", seat(20, 2), won=False)
    assert found.bid_for("c") is None
    assert found.bid_for("d") is not None
    found.heard("d", seat(20, 2), won=False)
    assert found.bid_for("d") is None
    begun = asyncio.get_running_loop().time()
    await asyncio.sleep(1.5)
    assert ballots["d"].at[-1] - begun == pytest.approx(FIRST_CALM)
