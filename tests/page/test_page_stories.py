"""Stories of packets on the page: what is asked for, and how what is told is shown."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from fcn.page import stories
from fcn.page.model import Kind
from fcn.page.stories import FILTERS, of_network, of_runs, told
from fcn.softswitch.engine.loader import parse_json
from fcn.softswitch.engine.program import Program
from fcn.softswitch.stories.filters import read_filter
from fcn.softswitch.stories.story import Packet, Story, to_json

HOSTILE = "<script>alert(1)</script>"
FLOW = {"node": "pe1", "source": "10.1.0.2", "destination": "2001:db8::2", "dest_qp": "17"}


def test_every_message_is_known_by_its_pe() -> None:
    folder = Path(__file__).parents[2] / "p4src" / "compiled"
    model = parse_json((folder / "pe.json").read_bytes())
    program = cast(Program, SimpleNamespace(model=model))
    assert set(FILTERS) == set(Kind) - {Kind.CNP}
    for text in FILTERS.values():
        assert read_filter(program, None, [text])


def test_what_is_asked_for() -> None:
    network = of_network("unix:/api")
    assert network({"node": "pe1", "kind": "ARN"})[:5] == [
        "fcn.controller.cli.main", "trace", "pe1", "-m", FILTERS[Kind.ARN],
    ]  # fmt: skip
    command = network(FLOW)
    assert command[3:9] == ["-m", "src=10.1.0.2", "-m", "dst=2001:db8::2", "-m", "dest-qp=17"]
    runs = of_runs([Path("ecn"), Path("fcn")])
    assert runs({"frame": "7"})[1:5] == ["trace", "ecn", "--frame", "7"]
    assert runs({"frame": "7", "run": "1"})[2] == "fcn"


@pytest.mark.parametrize(
    "asked",
    [
        {}, {"node": "--help", "kind": "ARN"}, {"node": "p\0", "kind": "ARN"},
        {"node": "", "kind": "ARN"}, {"node": "pe1"}, {"node": "pe1", "kind": "CNP"},
        {"node": "pe1", "kind": "--api"}, {**FLOW, "source": "--api=x"}, {**FLOW, "dest_qp": "x"},
    ],
)  # fmt: skip
def test_what_cannot_be_asked_for(asked: dict[str, str]) -> None:
    with pytest.raises((KeyError, ValueError)):
        of_network("unix:/api")(asked)
    with pytest.raises((KeyError, ValueError)):
        of_runs([Path()])({"frame": "--at", **asked})
    with pytest.raises((KeyError, ValueError)):
        of_runs([Path()])({"frame": "1", "run": "-1"})


async def page_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> str:
    """The page of what a program says."""
    (tmp_path / "teller.py").write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return b"\n".join([part async for part in told(["teller", HOSTILE])]).decode()


async def test_a_story_and_what_is_said_beside_are_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = to_json(Story(Packet(1, HOSTILE, 2), node="pe1"))
    page = await page_of(
        tmp_path,
        monkeypatch,
        f"import sys\nprint({line!r})\nprint({HOSTILE!r}, file=sys.stderr)",
    )
    assert "Story 1 at pe1" in page
    assert HOSTILE not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 3
    assert page.endswith("</html>\n")


@pytest.mark.parametrize("text", ["print('no story')", "print('x' * 10_000)"])
async def test_what_is_no_story_is_said(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stories, "LONGEST", 1000)
    assert "what was told cannot be shown" in await page_of(tmp_path, monkeypatch, text)
