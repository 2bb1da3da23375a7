"""Links fail and are mended in virtual time; the data plane alone finds it and acts (FAN-4,
FAN-5)."""

import asyncio

import pytest
from wan_network import until
from watched_network import (
    FLOWS,
    HOLD_DOWN_S,
    INTERVAL_US,
    MULTIPLIER,
    Watched,
    all_links_up,
    run_watched,
)

from fcn.controller.events import Kind

FOUND_S = (MULTIPLIER + 2) * INTERVAL_US / 1e6
"""From the cut of a link until nothing is sent there: the time of detection, the round in which it
ends, and the way of the message."""
MENDED_S = 6 * INTERVAL_US / 1e6
"""Three messages of each end, and the round in which the clock comes to the path."""
PER_SECOND = 2_000
"""Packets of the flows together."""


@pytest.mark.parametrize(
    ("link", "source"), [(("p1", "p3"), "p1:2"), (("p3", "pe2"), "p3:3"), (("pe1", "p1"), "pe1:2")]
)
def test_traffic_leaves_a_failed_link_and_comes_back(link: tuple[str, str], source: str) -> None:
    """The controller is away; when it is back it sees what was done."""

    async def main(found: Watched) -> None:
        carried = await found.carried()
        assert sum(carried.values()) == FLOWS
        assert min(carried.values()) > 0
        found.controller_leaves()
        found.link(*link).set_up(False)
        await asyncio.sleep(FOUND_S)
        assert await found.arrived() == FLOWS, "on the other path"
        await found.controller_returns()
        assert await found.carried() == {"north": 0, "south": FLOWS}
        state = found.state("north")
        assert (state.failed, state.source) == (True, source)
        assert not found.state("south").failed
        found.controller_leaves()
        found.link(*link).set_up(True)
        await asyncio.sleep(MENDED_S + HOLD_DOWN_S)
        assert await found.arrived() == FLOWS
        await found.controller_returns()
        assert await found.carried() == carried, "every flow is on its path again"
        assert not found.state("north").failed

    run_watched(main)


def test_what_is_lost_is_what_was_sent_until_the_link_was_known_to_be_down() -> None:
    async def main(found: Watched) -> None:
        share = (await found.carried())["north"] / FLOWS
        before = found.cables["pe2"].counters(0).delivered
        found.stream(PER_SECOND, count=PER_SECOND)
        await asyncio.sleep(0.5)
        found.link("p1", "p3").set_up(False)
        await asyncio.sleep(0.6)
        lost = PER_SECOND - (found.cables["pe2"].counters(0).delivered - before)
        assert 0 < lost <= PER_SECOND * share * FOUND_S

    run_watched(main)


def test_a_busy_link_carries_no_hellos() -> None:
    """Any packet says that its sender lives."""

    async def main(found: Watched) -> None:
        found.stream(PER_SECOND)
        await asyncio.sleep(0.1)
        counters = found.plane.nodes["p1"].counters
        before = await counters.read()
        await asyncio.sleep(1.0)
        after = await counters.read()
        silent = "port 1"
        sent = after["port_tx"][silent][0] - before["port_tx"][silent][0]
        assert sent >= 0.9 * 1e6 / INTERVAL_US, "nothing else goes back to pe1"
        share = (await found.carried())["north"] / FLOWS
        busy = after["port_tx"]["port 2"][0] - before["port_tx"]["port 2"][0]
        assert busy < share * PER_SECOND + 0.1 * 1e6 / INTERVAL_US
        assert all_links_up(found)

    run_watched(main)


def test_both_ends_tell_of_a_link() -> None:
    async def main(found: Watched) -> None:
        with found.plane.bus.watch() as events:
            found.link("p1", "p3").set_up(False)
            told: set[str] = set()
            async with asyncio.timeout(5):
                while len(told) < 2:
                    event = await anext(events)
                    if event.kind is Kind.LINK_DOWN:
                        told.add(event.message)
        assert told == {"p1: the link p1:2 - p3:1 is down", "p3: the link p3:1 - p1:2 is down"}
        found.link("p1", "p3").set_up(True)
        await until(lambda: all_links_up(found), "the link")

    run_watched(main)


def test_a_lost_clock_is_set_going_again() -> None:
    async def main(found: Watched) -> None:
        p1 = found.plane.nodes["p1"]
        await p1.counters.poll(p1.links)
        with found.plane.bus.watch() as events:
            found.stop_clock("p1")
            async with asyncio.timeout(20):
                while (event := await anext(events)).kind is not Kind.CLOCK:
                    pass
        assert event.message == "p1: the clock stood still; it is set going again"
        await until(lambda: all_links_up(found), "the links")
        rounds = found.rounds("p1")
        await asyncio.sleep(1.0)
        assert found.rounds("p1") - rounds == pytest.approx(1e6 / INTERVAL_US, rel=0.1)

    run_watched(main)


def test_a_clock_of_another_rate_is_told_of() -> None:
    async def main(found: Watched) -> None:
        with found.plane.bus.watch() as events:
            found.set_rate("p1", 4)
            async with asyncio.timeout(20):
                while (event := await anext(events)).kind is not Kind.CLOCK:
                    pass
        assert "p1: the clock goes 4 times as fast as it should" in event.message
        assert "set_queue_rate" in event.message

    run_watched(main)


def test_a_controller_that_comes_back_finds_all_as_it_was() -> None:
    """FAN-8: a PE believes no message that is older than one it had, so the epoch is kept."""

    async def main(found: Watched) -> None:
        found.controller_leaves()
        await until(lambda: not any(node.is_up for node in found.plane.nodes.values()), "silence")
        with found.plane.bus.watch() as events:
            await found.controller_returns()
            for _ in found.plane.nodes:
                while (event := await anext(events)).kind is not Kind.SYNCHRONIZED:
                    pass
                assert event.fields["written"] == "0", event.message
        assert all_links_up(found)

    run_watched(main)


def test_a_switch_that_is_started_again_is_heard() -> None:
    """FAN-8: its messages begin anew, with a higher epoch; what it said before is no longer of
    use. Meanwhile its neighbours say that its links are down."""

    async def main(found: Watched) -> None:
        await asyncio.sleep(2.0)
        switch = found.running.switches["p3"]
        await switch.stop()
        await asyncio.sleep(FOUND_S)
        assert await found.arrived() == FLOWS
        await found.look()
        assert found.state("north").failed
        assert "p1:2" in found.state("north").source
        await until(lambda: not found.plane.nodes["p3"].is_up, "the controller to notice")
        switch.start()
        await until(lambda: found.plane.nodes["p3"].is_up, "p3")
        await until(lambda: all_links_up(found), "the links")
        await asyncio.sleep(MENDED_S + HOLD_DOWN_S)
        assert min((await found.carried()).values()) > 0
        found.link("p3", "pe2").set_up(False)
        await asyncio.sleep(FOUND_S)
        await found.look()
        assert (found.state("north").failed, found.state("north").source) == (True, "p3:3")

    run_watched(main)


def test_what_is_on_no_path_takes_an_alternate() -> None:
    """FAN-5: traffic of pe2 to pe1 has no policy and all shortest ways (ECMP): where one of them is
    cut, the node before it sends by another."""

    async def main(found: Watched) -> None:
        found.link("pe2", "p4").set_up(False)
        await asyncio.sleep(FOUND_S)
        counters = found.plane.nodes["pe2"].counters
        before = (await counters.read())["events"].get("REPAIRED", (0, 0))[0]
        assert await found.arrived("pe2") == FLOWS
        repaired = (await counters.read())["events"]["REPAIRED"][0] - before
        assert 0 < repaired < FLOWS

    run_watched(main)


def test_a_congested_path_is_left() -> None:
    """FAN-6: for as long as its queue is congested."""

    async def main(found: Watched) -> None:
        carried = await found.carried()
        await found.congest("p1", 2, seconds=0.02)
        await asyncio.sleep(0.02)
        assert await found.carried() == {"north": 0, "south": FLOWS}
        state = found.state("north")
        assert (state.congested, state.failed, state.source) == (True, False, "p1:2")
        await asyncio.sleep(1.0)
        assert await found.carried() == carried
        assert not found.state("north").congested

    run_watched(main, notification="fantel")
