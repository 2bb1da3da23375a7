"""What the page shows when it has a fault of its own."""

import threading
from pathlib import Path
from typing import Any

import pytest
from page_process import WAIT
from scripted_controller import ScriptedController, line_network

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
