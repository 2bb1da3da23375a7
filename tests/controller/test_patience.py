"""How long others have for their answer, when this process itself stands still."""

import asyncio

import pytest
from virtual import stand_still

from fcn.controller.patience import LOOKS, patience

pytestmark = pytest.mark.virtual_time


async def test_who_says_nothing_has_so_much_time() -> None:
    begun = asyncio.get_running_loop().time()
    with pytest.raises(TimeoutError):
        async with patience(5.0):
            await asyncio.Event().wait()
    assert asyncio.get_running_loop().time() - begun == pytest.approx(5.0)


async def test_who_answers_in_time_is_waited_for_no_longer() -> None:
    async with patience(5.0):
        await asyncio.sleep(4.9)
    await asyncio.sleep(5.0)


async def test_a_pause_of_this_process_counts_as_one_look() -> None:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    loop.call_soon(stand_still, 20.0)
    with pytest.raises(TimeoutError):
        async with patience(5.0):
            await asyncio.Event().wait()
    took = loop.time() - begun
    assert took == pytest.approx(20.0 + 5.0 * (LOOKS - 1) / LOOKS)
