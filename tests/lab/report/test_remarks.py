"""What is said of runs in a line: that they did not converge, that goodput is below that of ECN."""

from dataclasses import replace
from pathlib import Path

from lab_results import MS, about
from typer.testing import CliRunner

from fcn.lab.cli.main import app
from fcn.lab.modes import Mode
from fcn.lab.report.page import page
from fcn.lab.report.remarks import remarks
from fcn.lab.result.folder import save
from fcn.lab.result.model import Result
from fcn.lab.result.tables import TABLES, frame


def run(mode: Mode, payload: int, last: int = 100, third: int = 100) -> Result:
    """One long connection; packets acknowledged in the third quarter, and in the last."""
    values: dict[str, object] = {
        "host": "l1", "connection": 0, "remote": "r1", "state": "connected", "payload": payload
    }  # fmt: skip
    connection = tuple(values.get(column.name, 0) for column in TABLES["connections"])
    counts = [(10 * MS, 50), (15 * MS, 50 + third), (20 * MS, 50 + third + last)]
    return Result(
        about(mode=mode),
        messages=frame("messages", [("l1", 0, 0, 10**9, 0, None)]),
        connections=frame("connections", [connection]),
        rates=frame("rates", [(time, "l1", 0, 1e9, count, 0) for time, count in counts]),
    )


def test_runs_that_settled_with_the_goodput_of_ecn_need_no_remark() -> None:
    assert remarks({"e": run("ecn", 1000), "f": run("fcn", 1000)}) == []


def test_a_run_that_did_not_converge_is_named() -> None:
    (text,) = remarks({"e": run("ecn", 1000, last=50), "f": run("fcn", 1000)})
    assert text.startswith("e did not converge: from the third quarter of the time to the last, ")
    assert "goodput of l1 (connection 0) fell by 50%; 1 of 1 long connections" in text
    assert "rose by 50%" in remarks({"f": run("fcn", 1000, last=150)})[0]
    assert "remained nothing" in remarks({"f": run("fcn", 1000, last=0, third=0)})[0]


def test_goodput_below_that_of_ecn_is_named() -> None:
    both = {"e": run("ecn", 1000), "f": run("fcn", 900)}
    assert remarks(both) == ["goodput of f, 360 kb/s, is 10.0% below that of e, 400 kb/s"]
    assert remarks({"e": run("ecn", 1000), "f": run("fcn", 1100)}) == []
    assert "f, 360 kb/s, is 10.0% below that of e, 400 kb/s.</p>" in page(both)


def test_goodput_of_runs_that_ended_at_different_times_is_not_compared() -> None:
    ecn, fcn = run("ecn", 1000), run("fcn", 900)
    early = {"reached_ns": ecn.about.reached_ns // 2, "finished": False}
    stopped = replace(ecn, about=ecn.about.model_copy(update=early))
    assert remarks({"e": stopped, "f": fcn}) == []
    fcn = replace(fcn, about=fcn.about.model_copy(update=early))
    assert remarks({"e": ecn, "f": fcn}) == []
    assert len(remarks({"e": stopped, "f": fcn})) == 1, "both as early"


def test_the_commands_say_it_in_a_line(tmp_path: Path) -> None:
    save(run("ecn", 1000, last=50), tmp_path / "e")
    save(run("fcn", 900), tmp_path / "f")
    done = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["compare", *map(str, tmp_path.iterdir())])
    lines = [line for line in done.output.splitlines() if line.startswith("note: ")]
    assert sorted(line.split(" ", 2)[1] for line in lines) == ["e", "goodput"]
    done = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["show", str(tmp_path / "e")])
    assert "\nnote: e did not converge" in done.output


def test_runs_of_another_scenario_or_seed_are_not_compared() -> None:
    ecn, fcn = run("ecn", 1000), run("fcn", 900)
    other = replace(fcn, about=fcn.about.model_copy(update={"seed": 2}))
    assert remarks({"e": ecn, "f": other}) == []
    other = replace(fcn, about=fcn.about.model_copy(update={"text": "network: wan\n"}))
    assert remarks({"e": ecn, "f": other}) == []


def test_what_was_not_kept_is_named() -> None:
    counters = [(20 * MS, "laboratory", "event", "FRAMES_LOST", 13_276)]
    result = replace(run("ecn", 1000), counters=frame("counters", counters))
    (text,) = remarks({"e": result})
    assert text.startswith("e lacks 13,276 frames in captures or crossings, for which there was no")


def test_connections_that_failed_are_counted() -> None:
    whole = run("ecn", 1000)
    assert remarks({"e": whole}) == []
    result = replace(whole, connections=whole.connections.assign(state="failed"))
    (text,) = remarks({"e": result})
    assert text.startswith("1 of 1 connections of e failed, and sent nothing more: ")


def test_time_outs_before_the_round_trip_is_over_are_named() -> None:
    whole = run("ecn", 1000)
    twice = whole.connections.assign(timeouts=1, repeated=2048)
    early = replace(whole, connections=twice)
    (text,) = remarks({"e": early})
    assert text.startswith("1 of 1 connections of e sent 2,048 packets again that had arrived: ")
    assert remarks({"e": replace(whole, connections=twice.assign(beyond_gap=1))}) == []
