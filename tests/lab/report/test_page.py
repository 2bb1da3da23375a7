"""The HTML page: whole, well formed, and nothing in it is loaded from elsewhere."""

import base64
import re
from functools import cache
from html.parser import HTMLParser

import pytest
from lab_results import about, congested

from fcn.lab.report import page as report
from fcn.lab.report.page import page
from fcn.lab.result.model import Result

VOID = {"meta", "img", "br"}


class Reader(HTMLParser):
    """Checks that elements are closed in order; collects what they refer to."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.references: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.references += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    return reader


@cache
def whole_page() -> str:
    return page({"dumbbell": congested("fcn")})


def test_images_are_in_the_page_and_nothing_is_loaded() -> None:
    text = whole_page()
    references = read(text).references
    assert len(references) == 4
    prefix = "data:image/png;base64,"
    for reference in references:
        assert reference.startswith(prefix)
        assert base64.b64decode(reference.removeprefix(prefix)).startswith(b"\x89PNG")
    assert not re.search(r"https?://|@import|url\(|<script|<link", text)


def test_one_run_has_its_figures_tables_and_scenario() -> None:
    words = "".join(read(whole_page()).text)
    for expected in ("ingress PE", "Dropped frames by reason", "pattern: permutation", "500.5 µs"):
        assert expected in words
    assert "ended early" not in words


def test_several_runs_say_what_differs() -> None:
    early = Result(about(mode="ecn", finished=False, reached_ns=10**7))
    words = "".join(read(page({"a": Result(about()), "b": early})).text)
    assert "What differs" in words
    assert "dumbbell-ecn-1 ended early, after 10 ms of 20 ms" in words


def test_names_from_a_scenario_are_text() -> None:
    """A scenario of somebody else is not to be trusted."""
    evil = "<script>alert(1)</script>$title"
    result = Result(about(scenario=evil, text=evil))
    text = page({evil: result})
    assert "<script>" not in text
    assert evil in "".join(read(text).text)


def test_a_run_in_which_nothing_happened_has_awhole_page() -> None:
    empty = Result(about(mode="none", finished=False, reached_ns=0))
    words = "".join(read(page({"empty": empty})).text)
    assert "ended early, after 0 ns" in words


def test_of_many_runs_there_is_only_what_compares_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two plots of all of them, none of each."""
    monkeypatch.setattr(report, "MOST_DETAILED", 1)
    many = read(page({f"run {n}": congested() for n in range(2)}))
    assert len(many.references) == 2
    assert "run 1" in many.text
    assert any("only what compares them" in text for text in many.text)
