"""`fcn lab trace` of a result."""

from pathlib import Path
from typing import Any

import pytest
from lab_results import congested
from typer.testing import CliRunner

from fcn.lab.cli.main import app
from fcn.lab.errors import LabError
from fcn.lab.result.folder import save
from fcn.lab.result.model import Result
from fcn.lab.scenario.load import load_scenario


def test_the_run_is_made_again_as_far_as_it_went(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = congested()
    text = load_scenario("dumbbell").text
    about = result.about.model_copy(update={"text": text, "reached_ns": 12_345})
    save(Result(about), tmp_path / "run")
    asked: dict[str, Any] = {}

    def run_scenario(_plan: object, **how: Any) -> None:  # noqa: ANN401
        asked.update(how)
        raise LabError("not now")

    monkeypatch.setattr("fcn.lab.run.runner.run_scenario", run_scenario)
    done = CliRunner().invoke(app, ["trace", str(tmp_path / "run"), "--frame", "7"])
    assert done.exit_code == 1
    assert asked["until_ns"] == 12_345
