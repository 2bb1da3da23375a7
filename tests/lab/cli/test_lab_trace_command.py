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
from fcn.lab.run.runner import run_scenario
from fcn.lab.scenario.load import Plan, load_scenario


def test_the_run_is_made_again_as_far_as_it_went(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = congested()
    text = load_scenario("dumbbell").text
    about = result.about.model_copy(update={"text": text, "reached_ns": 12_345})
    save(Result(about), tmp_path / "run")
    asked: dict[str, Any] = {}

    def again(_plan: object, **how: Any) -> None:  # noqa: ANN401
        asked.update(how)
        raise LabError("not now")

    monkeypatch.setattr("fcn.lab.run.runner.run_scenario", again)
    done = CliRunner().invoke(app, ["trace", str(tmp_path / "run"), "--frame", "7"])
    assert done.exit_code == 1
    assert asked["until_ns"] == 12_345


def test_the_network_is_that_of_the_run_wherever_its_file_is_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = tmp_path / "own.yaml"
    network.write_text(
        "nodes: {pe1: {role: pe}, pe2: {role: pe}}\n"
        "links: [{between: [pe1, pe2], delay: 7us}]\n"
        "hosts: {a: {pe: pe1}, b: {pe: pe2}}\n"
    )
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(
        "network: own.yaml\nduration: 1ms\n"
        "links: {core: {rate: 1 Gb/s}, hosts: {rate: 1 Gb/s}}\n"
        "traffic: [{pattern: messages, from: [a], to: [b], size: 1kB}]\n"
    )
    save(run_scenario(load_scenario(scenario), until_ns=1000), tmp_path / "run")
    network.write_text(network.read_text().replace("7us", "8us"))
    asked: list[Plan] = []

    def again(plan: Plan, **_how: Any) -> None:  # noqa: ANN401
        asked.append(plan)
        raise LabError("not now")

    monkeypatch.setattr("fcn.lab.run.runner.run_scenario", again)
    CliRunner().invoke(app, ["trace", str(tmp_path / "run"), "--frame", "7"])
    assert [link.delay_ns for link in asked[0].topology.links] == [7000]


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
