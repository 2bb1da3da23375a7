"""The server with finsy as its client: pipeline, tables and all other entities."""

from collections.abc import AsyncIterator
from typing import Any

import finsy as fy
import pytest
from finsy.p4entity import P4Entity
from p4rt_testing import DEVICE_ID, P4BLOB, P4INFO, Running


@pytest.fixture
async def switch(running: Running) -> AsyncIterator[fy.Switch]:
    """A finsy switch with the pipeline set."""
    options = fy.SwitchOptions(p4info=P4INFO, p4blob=P4BLOB, device_id=DEVICE_ID)
    async with fy.Switch("sw", running.address, options) as switch:
        yield switch


async def read(switch: fy.Switch, *entities: P4Entity) -> list[P4Entity]:
    """All entities the switch has for the given ones."""
    found: Any = switch.read(entities)
    return [entity async for entity in found]


async def test_delete_all(running: Running, switch: fy.Switch) -> None:
    await switch.insert(
        [
            fy.P4TableEntry(
                "host", match=fy.P4TableMatch(dst=1), action=fy.P4TableAction("send", port=2)
            ),
            fy.P4TableEntry(
                "route",
                match=fy.P4TableMatch(dst="00:00:00:00:01:00/40"),
                action=fy.P4IndirectAction([(1, fy.P4TableAction("send", port=2))]),
            ),
            fy.P4DigestEntry("learn_t", max_list_size=10, max_timeout_ns=1000, ack_timeout_ns=0),
        ]
    )
    await switch.modify(
        [fy.P4TableEntry("learning", is_default_action=True, action=fy.P4TableAction("learn"))]
    )
    await switch.delete_all()
    tables = [fy.P4TableEntry("host"), fy.P4TableEntry("route"), fy.P4DigestEntry("learn_t")]
    assert await read(switch, *tables) == []
    engine = running.backend.engine
    assert not engine.entries
    assert not engine.members
    assert not engine.groups
    assert engine.defaults["KitchenIngress.learning"] is None


@pytest.mark.parametrize("size", [1, 30, 900])
async def test_details_of_failed_batches_reach_the_client(switch: fy.Switch, size: int) -> None:
    missing = [
        fy.P4TableEntry("host", match=fy.P4TableMatch(dst=number)) for number in range(1, size + 1)
    ]
    with pytest.raises(fy.P4ClientError) as error:
        await switch.delete(missing)
    assert len(error.value.details) == size
    assert error.value.is_not_found_only
    if size <= 30:
        assert error.value.details[0].message == "table KitchenIngress.host has no such entry"
