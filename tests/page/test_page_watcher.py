"""What the page shows when it has a fault of its own."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from page_process import WAIT
from scripted_controller import ScriptedController, flow, line_network

from fcn.hosts.processes import wait_until
from fcn.page import watcher
from fcn.page.model import Flows, Frame
from fcn.page.snapshot import Snapshots
from fcn.page.watcher import Watcher


def test_a_fault_is_shown_and_the_page_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(watcher, "INTERVAL", 0.05)
    frame, faults = Snapshots.frame, [KeyError("p9")]

    def once(self: Snapshots, answers: Any) -> Frame:  # noqa: ANN401
        if faults:
            raise faults.pop()
        return frame(self, answers)

    monkeypatch.setattr(Snapshots, "frame", once)
    shown: list[Frame] = []
    good = threading.Event()

    def show(new: Frame | Flows) -> None:
        if isinstance(new, Frame):
            shown.append(new)
            if not new.problem:
                good.set()

    api = f"unix:{tmp_path}/api"
    with (
        ScriptedController(line_network()).serving(api),
        Watcher(api, lambda _picture: None, show).running(),
    ):
        assert good.wait(WAIT)
    assert "this page has a fault, and tries again: KeyError('p9')" in shown[0].problem
    assert "the page cannot show what the controller says" in caplog.text


def test_flows_that_become_many_at_once_are_not_listed_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list takes the controller's time while it learns them."""
    monkeypatch.setattr(watcher, "INTERVAL", 0.01)
    monkeypatch.setattr(watcher, "LIST_INTERVAL", 0.01)
    monkeypatch.setattr(watcher, "LISTED", 1e-6)
    controller = ScriptedController(line_network())
    lists: list[int] = []

    def show(new: Frame | Flows) -> None:
        if isinstance(new, Flows):
            lists.append(new.total)

    def until(what: Callable[[], bool]) -> None:
        wait_until(what, WAIT, "the page asks")

    api = f"unix:{tmp_path}/api"
    with controller.serving(api), Watcher(api, lambda _picture: None, show).running():
        until(lambda: len(lists) > 1)
        # What is asked for now is answered without the flow.
        controller.labels = 1
        asked = len(controller.asked)
        until(lambda: len(controller.asked) > asked + 4)
        controller.flows = [flow(1)]
        asked = len(controller.asked)
        until(lambda: controller.asked[asked:].count("status") > 5)
    assert set(lists) == {0}
