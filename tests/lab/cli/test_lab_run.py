"""`fcn lab run` and `fcn lab list`, as a user calls them."""

import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fcn.lab.cli.main import app
from fcn.lab.result.folder import load
from fcn.lab.scenario.load import catalog

SCENARIO = """\
network: wan
duration: {duration}
links:
  core: {{rate: 100 Gb/s, delay: 1 km}}
  hosts: {{rate: 10 Gb/s}}
traffic:
  - {{pattern: messages, from: [h1], to: [h3], size: 2MB, count: 1000}}
measure: {{interval: 100us}}
"""


def scenario(folder: Path, duration: str) -> Path:
    """A scenario file; a second of it takes half a minute."""
    file = folder / "short.yaml"
    file.write_text(SCENARIO.format(duration=duration))
    return file


def run(*arguments: object, code: int = 0) -> str:
    """All that the command says; it ends with this code."""
    done = CliRunner(env={"COLUMNS": "80"}).invoke(app, [str(each) for each in arguments])
    assert done.exit_code == code, done.output
    return done.output


def test_a_run_is_saved_where_the_user_says(tmp_path: Path) -> None:
    out = tmp_path / "out"
    text = run("run", scenario(tmp_path, "1ms"), "--mode", "ecn", "--seed", 9, "--out", out)
    result = load(out)
    assert (result.about.mode, result.about.seed, result.about.finished) == ("ecn", 9, True)
    assert result.about.label == "short-ecn-9"
    assert f"digest {result.about.digest}" in text
    again = run("run", scenario(tmp_path, "1ms"), "--mode", "ecn", "--seed", 9, "--out", out)
    assert f"digest {result.about.digest}" in again, "and a result may be replaced"


def test_a_run_that_does_not_converge_says_so(tmp_path: Path) -> None:
    file = scenario(tmp_path, "60ms")
    text = run("run", file, "--out", tmp_path / "out")
    assert "did not converge" not in text
    cut = "events: [{at: 40ms, link: [p1, p2], state: down}]\n"
    file.write_text(file.read_text() + cut)
    text = run("run", file, "--out", tmp_path / "out")
    assert "note: short-fcn-1 did not converge: " in text


def test_until_ends_early_and_well(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("run", scenario(tmp_path, "1s"), "--until", "300us", "--out", out)
    about = load(out).about
    assert (about.finished, about.reached_ns, about.duration_ns) == (False, 300_000, 10**9)


@pytest.mark.parametrize(
    ("number", "options"),
    [(signal.SIGINT, ()), (signal.SIGTERM, ("--until", "99s"))],
)
def test_a_signal_ends_a_run_and_what_was_measured_is_saved(
    tmp_path: Path, number: signal.Signals, options: tuple[str, ...]
) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "fcn.lab", "run", str(scenario(tmp_path, "100s")), *options]
    process = subprocess.Popen([*command, "--out", str(out)], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if "hosts send" in line:
            process.send_signal(number)
    assert process.wait() == 1
    result = load(out)
    assert not result.about.finished
    assert 0 < result.about.reached_ns < result.about.duration_ns
    assert result.queues["time_ns"].max() <= result.about.reached_ns
    assert len(result.messages) == 1000


def test_a_run_whose_reader_goes_away_is_saved(tmp_path: Path) -> None:
    """As with `fcn lab run … 2>&1 | head -1`."""
    out = tmp_path / "out"
    command = [sys.executable, "-m", "fcn.lab", "run", str(scenario(tmp_path, "1ms"))]
    process = subprocess.Popen(
        [*command, "--out", str(out)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait() == 0
    assert load(out).about.finished


def test_a_result_is_kept_when_the_next_run_is_stopped_before_hosts_send(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = "run", scenario(tmp_path, "1s"), "--until", "300us", "--out", tmp_path / "out"
    run(*arguments)
    monkeypatch.setattr("fcn.lab.cli.run.stopped", lambda: nullcontext(lambda: True))
    assert "was stopped before hosts sent: nothing is saved" in run(*arguments, code=1)
    assert load(tmp_path / "out").about.reached_ns == 300_000


def test_an_impossible_scenario_is_refused(tmp_path: Path) -> None:
    file = scenario(tmp_path, "1ms")
    file.write_text(file.read_text().replace("h3", "h9"))
    assert f"{file}:7: traffic[0].to[0]: no host h9" in run("run", file, code=3)
    assert "no scenario nowhere" in run("run", "nowhere", code=3)


def test_options_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    file = scenario(tmp_path, "1ms")
    assert "not a mode" in run("run", file, "--mode", "fast", code=2)
    assert "is not a time" in run("run", file, "--until", "soon", code=2)
    assert "give a later time" in run("run", file, "--until", "0ms", code=2)
    text = " ".join(run("run", file, "--until", "1001us", code=2).replace("│", " ").split())
    assert "1001us is behind the scenario's end, 1ms; a longer run needs" in text
    assert "--seed" in run("run", file, "--seed", 1 << 63, code=2)


@pytest.mark.parametrize("mode", ["", "FCN", "icmp"])
def test_modes_there_are_not_are_refused(tmp_path: Path, mode: str) -> None:
    text = run("run", scenario(tmp_path, "1ms"), "--mode", mode, code=2)
    assert "is not a mode" in text
    assert "two-threshold" in text


def test_a_name_with_brackets_is_shown_as_it_is(tmp_path: Path) -> None:
    file = scenario(tmp_path, "1ms").rename(tmp_path / "[red].yaml")
    text = run("run", file, "--until", "100us", "--out", tmp_path / "[blue]")
    assert "[red]-fcn-1: hosts connect" in text
    assert "[red]-fcn-1: 0.1 of 1 ms" in text
    assert "/[blue] (ended early)" in text


def test_a_name_with_commands_for_the_terminal_is_shown_without_them(tmp_path: Path) -> None:
    file = scenario(tmp_path, "1ms").rename(tmp_path / "\x1b[31m.yaml")
    text = run("run", file, "--until", "100us", "--out", tmp_path / "\x1b[2J")
    assert "\\u001b[31m-fcn-1: 0.1 of 1 ms" in text
    assert "/\\u001b[2J (ended early)" in text
    (tmp_path / "\x1b[2J" / "more").touch()
    again = run("run", file, "--until", "100us", "--out", tmp_path / "\x1b[2J", code=1)
    assert "/\\u001b[2J: holds something else (more)" in again
    assert "\x1b" not in text + again


def test_what_is_not_a_result_is_not_replaced(tmp_path: Path) -> None:
    file = scenario(tmp_path, "1ms")
    assert "holds something else" in run("run", file, "--out", tmp_path, code=1)
    assert file.exists()


def test_the_scenarios_are_listed() -> None:
    text = run("list")
    assert all(name in text for name in catalog())
