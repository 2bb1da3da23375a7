"""Background jobs go on, whatever ends them."""

import asyncio
import logging

import pytest
from switches import until

from fcn.controller import app


@pytest.mark.parametrize("how", ["raises", "is cancelled by others", "returns"])
async def test_a_job_that_ends_is_started_again_and_named(
    how: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(app, "HOUSEKEEPING", 0.0)
    rounds = 0

    async def job_of_this_test() -> None:
        nonlocal rounds
        rounds += 1
        if rounds < 3:
            if how == "raises":
                raise ValueError("once")
            if how == "is cancelled by others":
                raise asyncio.CancelledError
            return
        await asyncio.Event().wait()

    with caplog.at_level(logging.ERROR):
        async with app._background([job_of_this_test]):
            await until(lambda: rounds == 3)
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 2
    assert all("job_of_this_test" in text and "starting it again" in text for text in told)
