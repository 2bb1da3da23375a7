"""What browsers are told, and what is kept for those that come later."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from scripted_controller import line_network

from fcn.page.hub import BEHIND, FRAMES, VIEWERS, FullError, Hub
from fcn.page.model import Flows, Frame
from fcn.page.picture import picture_of


def messages(text: bytes) -> list[tuple[str, Any]]:
    """Names and data of server-sent events."""
    found = []
    for each in text.decode().split("\n\n")[:-1]:
        name, data = each.split("\n")
        value = json.loads(data.removeprefix("data: "))
        found.append((name.removeprefix("event: "), value))
    return found


async def caught_up(viewer: AsyncIterator[bytes]) -> bytes:
    """What a browser is told of what was before."""
    said = b""
    while not said.endswith(b"event: kept\ndata: {}\n\n"):
        said += await anext(viewer)
    return said


async def kept(hub: Hub) -> list[tuple[str, Any]]:
    """What a browser that comes now is told first."""
    return messages(await caught_up(hub.look()))


async def test_who_comes_later_sees_the_last_minutes() -> None:
    hub = Hub()
    hub.draw(picture_of(line_network()))
    for number in range(FRAMES + 3):
        hub.show(Frame(float(number)))
    hub.show(Flows(1.0, 0, ()))
    found = await kept(hub)
    names = [name for name, _ in found]
    assert names == ["begin", "picture", "flows", *["frame"] * FRAMES, "kept"]
    assert found[3][1]["time"] == 3.0


async def test_another_network_begins_anew() -> None:
    hub = Hub()
    hub.draw(picture_of(line_network()))
    hub.show(Frame(1.0))
    hub.draw(picture_of(line_network()))
    assert [name for name, _ in await kept(hub)] == ["begin", "picture", "kept"]


async def test_a_browser_that_looks_is_told_until_the_end() -> None:
    hub = Hub()
    viewer = hub.look()
    await caught_up(viewer)
    hub.show(Frame(5.0, problem="line\n\nbreaks and </script>"))
    ((name, frame),) = messages(await anext(viewer))
    assert (name, frame["problem"]) == ("frame", "line\n\nbreaks and </script>")
    hub.close()
    assert [each async for each in viewer] == []


async def test_a_browser_that_does_not_read_is_left() -> None:
    hub = Hub()
    slow, quick = hub.look(), hub.look()
    await caught_up(slow)
    await caught_up(quick)
    for number in range(BEHIND + 2):
        hub.show(Frame(float(number)))
        await anext(quick)
    assert len([each async for each in slow]) == BEHIND


async def test_only_so_many_look_and_who_leaves_makes_room() -> None:
    hub = Hub()
    viewers: list[AsyncIterator[bytes]] = [hub.look() for _ in range(VIEWERS)]
    with pytest.raises(FullError):
        hub.look()
    first = viewers[0]
    await anext(first)
    await first.aclose()  # type: ignore[attr-defined]
    hub.look()


async def test_text_that_is_no_unicode_is_shown_as_far_as_it_is() -> None:
    """A result that somebody else wrote may have it, as a path may."""
    hub = Hub()
    hub.show(Frame(1.0, problem="no \ud800 text"))
    assert b"no ? text" in await caught_up(hub.look())
