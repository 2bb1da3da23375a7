"""docs/architecture.md: a digest becomes an entry through these files, with no way back."""

import asyncio
import re
import sys
from pathlib import Path
from types import FrameType

import pytest
from switches import MemorySwitch, packet_to
from virtual import virtual_plane_up

from fcn import controller
from fcn.controller.config import Config
from fcn.controller.owners.intent import Intent

ROOT = Path(controller.__file__).parent
PAGE = ROOT.parent.parent / "docs" / "architecture.md"
STEPS = re.compile(r"(node|flows|owners)/")
VALUES = {"owners/addresses.py", "flows/key.py", "node/connection.py", "node/lateness.py"}
"""No steps: types of values, the configuration, the connection of the node and its lateness."""


def file_of(frame: FrameType | None) -> str:
    """The controller's file that runs, if it is a step."""
    file = Path(frame.f_code.co_filename) if frame else ROOT.parent
    name = file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else ""
    return name if STEPS.match(name) and name not in VALUES else ""


@pytest.mark.virtual_time
async def test_a_digest_becomes_an_entry_on_the_way_that_is_told(
    config: Config, switches: dict[str, MemorySwitch], monkeypatch: pytest.MonkeyPatch
) -> None:
    journey = PAGE.read_text("utf-8").split("## A digest, from switch to flow")[1]
    told = re.findall(r"`controller/([a-z_/]*\.py)`", journey.split("Messages of the")[0])
    calls: set[tuple[str, str]] = set()
    there = asyncio.Event()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and (callee := file_of(frame)):
            calls.add((file_of(frame.f_back) or callee, callee))

    def put(_intent: Intent, *_entry: object, **_named: object) -> None:
        calls.add((file_of(sys._getframe(1)), "owners/intent.py"))
        sys.setprofile(None)
        there.set()

    async with virtual_plane_up(config):
        monkeypatch.setattr(Intent, "put_encoded", put)
        switches["pe1"].engine.digest("new_flow_ipv4_t", packet_to(33))
        sys.setprofile(note)
        try:
            await there.wait()
        finally:
            sys.setprofile(None)
    assert {callee for _, callee in calls} == set(told)
    assert len(told) <= 11
    back = [call for call in calls if told.index(call[0]) > told.index(call[1])]
    assert not back
