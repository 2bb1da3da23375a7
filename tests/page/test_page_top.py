"""`fcn top` in a terminal that is not there: what it shows, and what keys do."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from scripted_controller import ScriptedController, flow, line_network

pytest.importorskip("textual", reason="needs Textual: pip install 'fcn-rocev2[top]'")
from textual.pilot import Pilot
from textual.widgets import DataTable, Static

from fcn.page.model import Flows, FlowView, Frame, NodeView
from fcn.page.top.app import Said, Story, Top
from fcn.page.watcher import Watcher

PATIENCE = 120.0


def _node(name: str, state: str = "up", drops: int = 0) -> NodeView:
    reasons = {"UNKNOWN_LABEL": drops} if drops else {}
    return NodeView(
        name, state, "" if state == "up" else "no answer", ("learning",), 1, drops=reasons
    )


def _frame(*nodes: NodeView, notification: str = "", no_flows: str = "") -> Frame:
    return Frame(time.time(), nodes=nodes, notification=notification, no_flows=no_flows)


def _flow(number: int, notified: int) -> FlowView:
    return FlowView(
        "blue", f"10.1.0.{number}", "10.2.0.2", 0x11, "0x80001", "pe1", "0x12", notified, notified,
        100, (f"The story of {number}.",),
    )  # fmt: skip


async def _until(pilot: Pilot[None], true: Callable[[], bool]) -> None:
    last = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < last, "it never came to that"
        await pilot.pause(0.01)


def _said(app: Top) -> str:
    return str(app.screen_stack[0].query_one("#said", Static).content)


def _column(app: Top, table: str, column: int) -> list[str]:
    data = app.screen_stack[0].query_one(f"#{table}", DataTable)
    return [str(data.get_row_at(row)[column]) for row in range(data.row_count)]


@asynccontextmanager
async def _running(app: Top) -> AsyncIterator[Pilot[None]]:
    async with app.run_test(size=(150, 40)) as pilot:
        yield pilot


async def test_nodes_are_shown_and_one_that_is_away() -> None:
    app = Top("unix:/none")
    async with _running(app) as pilot:
        assert "waiting for the controller at unix:/none" in _said(app)
        app.tell(_frame(_node("pe1"), _node("p1", "connecting", 3), notification="fcn"))
        await _until(pilot, lambda: _column(app, "Nodes", 0) == ["p1", "pe1"])
        assert "1 of 2 nodes up, notification fcn" in _said(app)
        assert _column(app, "Nodes", 7) == ["3", ""]


async def test_what_is_said_while_it_ends_is_not_shown() -> None:
    app = Top("unix:/none")
    async with _running(app):
        pass
    app.on_said(Said(_frame(_node("pe1"))))


async def test_what_was_known_stays_while_the_controller_is_away() -> None:
    app = Top("unix:/none")
    async with _running(app) as pilot:
        app.tell(_frame(_node("pe1")))
        await _until(pilot, lambda: _column(app, "Nodes", 0) == ["pe1"])
        app.tell(Frame(time.time(), problem="no controller answers"))
        await _until(pilot, lambda: "no controller answers; asking again" in _said(app))
        assert "below is what was at" in _said(app)
        assert _column(app, "Nodes", 0) == ["pe1"]
        app.tell(_frame(_node("pe1"), _node("pe2")))
        await _until(pilot, lambda: _column(app, "Nodes", 0) == ["pe1", "pe2"])
        assert "2 of 2 nodes up" in _said(app)


async def test_flows_are_sorted_filtered_and_looked_into() -> None:
    app = Top("unix:/none")
    async with _running(app) as pilot:
        app.tell(Flows(time.time(), 3, (_flow(2, 5), _flow(3, 9), _flow(4, 0))))
        await pilot.press("f")
        await _until(pilot, lambda: _column(app, "Flows", 0) == ["9", "5", ""])
        await pilot.press("r")
        assert _column(app, "Flows", 0) == ["", "5", "9"]
        await pilot.press("r", "enter")
        await _until(pilot, lambda: isinstance(app.screen, Story))
        assert "The story of 3." in str(app.screen.query_one("#sentences", Static).content)
        # What is told meanwhile is there afterwards, and a key of the tables does nothing.
        app.tell(Flows(time.time(), 3, (_flow(2, 6), _flow(3, 9), _flow(4, 0))))
        app.tell(_frame(_node("pe1")))
        await _until(pilot, lambda: _column(app, "Flows", 0) == ["9", "6", ""])
        await pilot.press("n", "s", "slash")
        assert isinstance(app.screen, Story)
        await pilot.press("escape")
        await _until(pilot, lambda: not isinstance(app.screen, Story))
        await pilot.press("slash", *"10.1.0.4")
        await _until(pilot, lambda: _column(app, "Flows", 4) == ["10.1.0.4"])
        await pilot.press("escape")
        await _until(pilot, lambda: len(_column(app, "Flows", 4)) == 3)


async def test_the_marked_row_is_the_same_one_in_another_order() -> None:
    app = Top("unix:/none")
    async with _running(app) as pilot:
        app.tell(Flows(time.time(), 2, (_flow(2, 5), _flow(3, 9))))
        await _until(pilot, lambda: _column(app, "Flows", 0) == ["9", "5"])
        await pilot.press("f", "down")
        await _until(pilot, lambda: app.query_one("#Flows", DataTable).cursor_row == 1)
        app.tell(Flows(time.time(), 2, (_flow(2, 7), _flow(3, 0))))
        await _until(pilot, lambda: _column(app, "Flows", 0) == ["7", ""])
        assert app.query_one("#Flows", DataTable).cursor_row == 0


async def test_the_next_column_is_sorted_by() -> None:
    app = Top("unix:/none")
    async with _running(app) as pilot:
        app.tell(_frame(_node("a"), _node("b", "connecting")))
        await _until(pilot, lambda: _column(app, "Nodes", 0) == ["a", "b"])
        await pilot.press("s")
        assert _column(app, "Nodes", 1) == ["connecting", "up"]


async def test_why_there_are_no_flows_is_said() -> None:
    app = Top("unix:/none")
    async with _running(app) as pilot:
        app.tell(_frame(_node("pe1"), no_flows="No flow is labelled: no PE is up."))
        note = app.query_one("#empty-Flows", Static)
        await _until(pilot, lambda: "no PE is up" in str(note.content))


async def test_a_terminal_obeys_nothing_that_others_say() -> None:
    app, hostile = Top("unix:/none"), "\x1b]0;owned\x07\x9b31m\u202e"
    async with _running(app) as pilot:
        app.tell(_frame(_node(hostile), notification=hostile, no_flows=hostile))
        await _until(pilot, lambda: len(_column(app, "Nodes", 0)) == 1)
        await pilot.press("enter")
        await _until(pilot, lambda: isinstance(app.screen, Story))
        texts = [*_column(app, "Nodes", 0), _said(app)]
        for screen in app.screen_stack:
            texts += [str(each.content) for each in screen.query(Static)]
    assert sum("]0;owned" in text for text in texts) >= 4
    assert not [text for text in texts if set(text) & set("\x1b\x07\x9b\u202e")]


async def test_beside_a_controller_that_goes_and_comes_back(tmp_path: Path) -> None:
    address = f"unix:{tmp_path}/api"
    app = Top(address)
    controller = ScriptedController(line_network(), flows=[flow(1)])
    async with _running(app) as pilot:
        with Watcher(address, app.tell, app.tell).running():
            await _until(pilot, lambda: "asking again" in _said(app))
            with controller.serving(address):
                await _until(pilot, lambda: len(_column(app, "Nodes", 0)) == 4)
            await _until(pilot, lambda: "asking again" in _said(app))
            with controller.serving(address):
                await _until(pilot, lambda: "nodes up" in _said(app))
