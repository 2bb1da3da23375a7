"""A path fails in the data plane, the controller being there or not, in virtual time (FAN-4)."""

import asyncio
from collections.abc import AsyncIterator

from ladder_network import CHANNEL_NS, FIRST_NUMBER, FLOWS, Ladder, run_ladder
from wan_network import until

from fcn.controller.events import Event, Kind
from fcn.controller.node.paths import OPERATOR

NORTH, SOUTH = 0, 1


async def kind_of_next(events: AsyncIterator[Event]) -> Kind:
    """The kind of the next event, which comes at once."""
    async with asyncio.timeout(1.0):
        return (await anext(events)).kind


def test_traffic_leaves_a_failed_path_and_comes_back_after_the_hold_down() -> None:
    async def main(ladder: Ladder) -> None:
        north, south = await ladder.carried()
        assert north + south == FLOWS
        assert min(north, south) > FLOWS // 3
        with ladder.plane.bus.watch() as events:
            ladder.say("FAILED", NORTH)
            assert await ladder.carried() == (0, FLOWS)
            assert await kind_of_next(events) is Kind.PATH_FAILED
            assert ladder.state(NORTH).failed
            ladder.say("WELL", NORTH)
            assert await ladder.carried() == (0, FLOWS), "the hold-down"
            assert not ladder.state(NORTH).failed
            await asyncio.sleep(1.0)
            assert await ladder.carried() == (north, south), "every flow is on its path again"
            assert await kind_of_next(events) is Kind.PATH_WELL

    run_ladder(main)


def test_an_operator_says_so_by_way_of_the_controller() -> None:
    async def main(ladder: Ladder) -> None:
        paths = ladder.plane.nodes["pe1"].paths
        await ladder.carried()
        assert await paths.report(FIRST_NUMBER, "FAILED")
        await asyncio.sleep(2 * CHANNEL_NS / 1e9)
        assert await ladder.carried() == (0, FLOWS)
        assert (ladder.state(NORTH).failed, ladder.state(NORTH).source) == (True, OPERATOR)

    run_ladder(main)


def test_a_controller_that_comes_back_agrees_with_the_data_plane() -> None:
    async def main(ladder: Ladder) -> None:
        await ladder.carried()
        ladder.pe1.link.cut()
        await until(lambda: not ladder.plane.nodes["pe1"].is_up, "the controller to notice")
        ladder.say("FAILED", SOUTH)
        ladder.send()
        done = len(ladder.requests)
        ladder.pe1.link.restore()
        await ladder.up()
        await ladder.look()
        assert ladder.state(SOUTH).failed
        assert await ladder.carried() == (FLOWS, 0)
        writes = [each for each in ladder.requests[done:] if each.method == "Write"]
        tables = ladder.plane.nodes["pe1"].provision.pipeline.schema.tables
        ids = {tables[name].id for name in ("policy", "path", "path_by_id", "tunnel")}
        written = {
            update.entity.table_entry.table_id
            for each in writes
            if each.node == "pe1"
            for update in each.message.updates
        }
        assert not written & ids

    run_ladder(main)
