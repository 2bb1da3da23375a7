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


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["pe1", "--port", "-4"], "greater than or equal to 0"),
        (["pe1", "--port", "512"], "less than or equal to 511"),
        (["pe1", "--seed", str(1 << 63)], "less than or equal to"),
        (["--frame", "5", "--port", "0"], "leave out --port: --frame"),
        (["--frame", "5", "--at", "1ms", "-m", "dport=4791"], "leave out --at, --match: --frame"),
        (["--frame", "5", "--count", "2"], "leave out --count: --frame"),
    ],
)
def test_options_that_cannot_be_meant(
    options: list[str], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "fcn.lab.run.runner.run_scenario", lambda *_plan, **_how: pytest.fail("nothing is to run")
    )
    wide = {"COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}
    done = CliRunner().invoke(app, ["trace", "dumbbell", *options], env=wide)
    assert done.exit_code == 2
    assert reason in done.output


def test_no_page_is_promised_in_place_of_another_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "fcn.lab.run.runner.run_scenario", lambda *_plan, **_how: pytest.fail("nothing is to run")
    )
    file = tmp_path / "scenario.yaml"
    file.touch()
    done = CliRunner().invoke(app, ["trace", "dumbbell", "pe1", "--html", str(file)])
    assert done.exit_code == 1
    assert f"{file}: is there, and no page of this fcn" in done.output
