"""How the page draws a network in trouble, beside pictures that were looked at.

Without a server: the browser is given the files and one stream. A picture that is to change: remove
its file, run the test, and look at what it writes.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops
from scripted_controller import Ends, line_network, network

from fcn.controller.proto import fcn_pb2 as pb
from fcn.page.alone import page_alone
from fcn.page.hub import Hub
from fcn.page.model import Frame, LineView, Load, NodeView, PathView, Picture, Queue
from fcn.page.picture import picture_of
from fcn.page.server import FILES

STATIC = Path(__file__).parents[2] / "page" / "static"
PICTURES = Path(__file__).parent / "pictures"
ADDRESS = "http://127.0.0.1:1/"

SHRUNK = 8
"""What is left of edges of letters and lines, which are other pixels on another machine."""

DIFFERENT = 24
MOST_DIFFERENT = 0.002
"""A pixel of the smaller picture is another one from so many of 255 on; the part that may be."""


def loaded(*parts: float) -> tuple[Load, Load]:
    """What both ends of a link send."""
    first, second = (Load(part * 1e10, part) for part in parts)
    return first, second


def congested() -> tuple[Picture, Frame]:
    """The queue of p2 towards pe2 is at level 5."""
    picture = picture_of(line_network())
    lines = [LineView(loaded(0.4, 0.1), "up") for _ in picture.lines]
    lines[2] = LineView(loaded(1.0, 0.1), "up", (Queue(120, 5, 0.8), None))
    nodes = [NodeView(name, "up", "", (), 0) for name in ("pe1", "p1", "pe2")]
    p2 = NodeView("p2", "up", "", (), 0, sent={"FAST_CNP": 12}, marked=340, drops={"X": 3})
    return picture, Frame(1.0, notification="fcn", nodes=(*nodes, p2), lines=tuple(lines))


def failed() -> tuple[Picture, Frame]:
    """The link p1-pe2 is down, the way by p2 takes over, and p1 is away."""
    links: list[Ends] = [
        ("pe1", 2, "p1", 1), ("p1", 2, "pe2", 2), ("pe1", 3, "p2", 1), ("p2", 2, "pe2", 3),
    ]  # fmt: skip
    found: pb.GetNetworkResponse = network({"pe1": "pe", "p1": "p", "p2": "p", "pe2": "pe"}, links)
    picture = picture_of(found)
    lines = [LineView(loaded(0.3, 0.3), "up") for _ in picture.lines]
    lines[1] = replace(lines[1], loads=loaded(0.0, 0.0), state="down")
    nodes = [NodeView(name, "up", "", (), 0) for name in ("pe1", "p2", "pe2")]
    p1 = NodeView("p1", "away", "no answer", (), 0)
    one = PathView(
        "pe1", "both", "pe2", "one", False, "failed", "p1", 0.0, ("pe1", "p1", "pe2"), False
    )
    two = replace(one, name="two", state="up", route=("pe1", "p2", "pe2"), takes_over=True)
    return picture, Frame(1.0, nodes=(*nodes, p1), lines=tuple(lines), paths=(one, two))


def shown(picture: Picture, frame: Frame) -> Hub:
    """What has this moment."""
    hub = Hub()
    hub.draw(picture)
    hub.show(frame)
    return hub


def said(picture: Picture, frame: Frame) -> str:
    """The stream of the server to somebody who comes later."""
    return b"".join(shown(picture, frame).kept()).decode()


@contextmanager
def tab_with(chromium: Any, stream: str) -> Iterator[Any]:  # noqa: ANN401
    """The page in a tab, once it shows the stream."""

    def answer(route: Any) -> None:  # noqa: ANN401
        path = "/" + route.request.url.removeprefix(ADDRESS)
        if path in FILES:
            name, kind = FILES[path]
            route.fulfill(body=(STATIC / name).read_bytes(), content_type=kind)
        else:
            route.fulfill(body=stream, content_type="text/event-stream")

    tab = chromium.new_page(viewport={"width": 1280, "height": 900})
    tab.set_default_timeout(180_000)
    tab.route("**/*", answer)
    tab.goto(ADDRESS)
    tab.wait_for_function("() => document.querySelector('#clock').textContent")
    yield tab
    tab.close()


def drawn(chromium: Any, stream: str) -> Image.Image:  # noqa: ANN401
    """The picture of the network."""
    with tab_with(chromium, stream) as tab:
        shot = tab.locator("#picture").screenshot()
    return Image.open(io.BytesIO(shot)).convert("RGB")


def difference(first: Image.Image, second: Image.Image) -> float:
    """The part of the pixels that differ, of both made smaller."""
    if first.size != second.size:
        return 1.0
    small = (each.reduce(SHRUNK) for each in (first, second))
    apart = ImageChops.difference(*small).convert("L").point(lambda value: value >= DIFFERENT)
    histogram = apart.histogram()
    return 1 - histogram[0] / sum(histogram)


@pytest.mark.parametrize("what", [congested, failed])
def test_the_page_draws_what_it_did(what: Any, chromium: Any) -> None:  # noqa: ANN401
    file = PICTURES / f"{what.__name__}.png"
    found = drawn(chromium, said(*what()))
    if not file.exists():
        found.save(file)
        pytest.fail(f"{file} was not there: look at it, and commit it")
    expected = Image.open(file).convert("RGB")
    assert difference(found, expected) <= MOST_DIFFERENT
    calm = expected.copy()
    calm.paste((255, 255, 255), (0, 0, calm.width // 8, calm.height))
    assert difference(found, calm) > MOST_DIFFERENT, "a part that is missing is seen"


def ladder() -> tuple[Picture, Frame]:
    """Both ways between two PEs, and rungs between them: links in all directions."""
    nodes = {"pe1": "pe", "a1": "p", "a2": "p", "b1": "p", "b2": "p", "pe2": "pe"}
    links: list[Ends] = [
        ("pe1", 2, "a1", 1), ("pe1", 3, "b1", 1), ("a1", 2, "a2", 1), ("b1", 2, "b2", 1),
        ("a1", 3, "b1", 3), ("a2", 3, "b2", 3), ("a2", 2, "pe2", 2), ("b2", 2, "pe2", 3),
    ]  # fmt: skip
    picture = picture_of(network(nodes, links))
    lines = [LineView(loaded(1.0, 0.99), "up") for _ in picture.lines]
    return picture, Frame(1.0, lines=tuple(lines))


TEXTS = """() => [...document.querySelectorAll("#picture text")].map((text) => {
  const { x, y, width, height } = text.getBoundingClientRect();
  return [text.textContent, x, y, x + width, y + height];
}).filter(([text]) => text)"""


@pytest.mark.parametrize("what", [failed, ladder])
def test_no_text_lies_on_another(what: Any, chromium: Any) -> None:  # noqa: ANN401
    with tab_with(chromium, said(*what())) as tab:
        texts = tab.evaluate(TEXTS)
    assert sum("Gb/s" in text for text, *_ in texts) >= 10
    for (one, *a), (other, *b) in combinations(texts, 2):
        wide, high = (min(a[i + 2], b[i + 2]) - max(a[i], b[i]) for i in (0, 1))
        assert min(wide, high) < 2, f"{one!r} and {other!r}"


def test_a_page_of_one_file_loads_nothing(chromium: Any, tmp_path: Path) -> None:  # noqa: ANN401
    (tmp_path / "page.html").write_text(page_alone(shown(*congested())))
    with chromium.new_context(offline=True) as context:
        tab = context.new_page()
        asked: list[str] = []
        wrong: list[str] = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: wrong.append(message.text))
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.goto((tmp_path / "page.html").as_uri())
        tab.wait_for_function("() => document.querySelector('#clock').textContent")
        assert "340 marked CE" in tab.text_content("#picture")
    assert [url for url in asked if not url.startswith("data:")] == [asked[0]]
    assert wrong == []
