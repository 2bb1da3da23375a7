"""Tables of reports, on results written by hand."""

import io
from dataclasses import replace

import pytest
from lab_results import about, congested, link_failed, with_pauses
from rich.console import Console

from fcn.lab.report.amounts import NOTHING
from fcn.lab.report.figures import figures
from fcn.lab.report.tables import MOST_ROWS, ReportTable, details, rich_table, side_by_side
from fcn.lab.result.model import EventInfo, Result
from fcn.lab.result.tables import frame


def texts(result: Result) -> dict[str, str]:
    return {figure.name.strip(): figure.text for figure in figures(result)}


def table(result: Result, title: str) -> ReportTable:
    (found,) = [each for each in details(result) if each.title == title]
    return found


def test_figures_of_a_congested_run() -> None:
    shown = texts(congested("fcn"))
    assert shown["virtual time"] == "20 ms of 20 ms, complete"
    assert (shown["congestions"], shown["first cut by the ingress PE's CNP"]) == ("1", "1")
    assert shown["onset to first rate cut, median"] == "501.2 µs"
    assert shown["propagation by the ingress PE"] == "500.5 µs"
    assert shown["greatest"] == "1.0014"
    assert (shown["messages"], shown["completed"]) == ("3", "2")
    assert shown["goodput of all"] == "78.4 Mb/s"
    assert (shown["CNPs from the ingress PE"], shown["CNPs from receivers"]) == ("1", "1")
    assert (shown["deepest queue"], shown["most packets"]) == ("p1 to pe2", "120")
    assert (shown["frames lost"], shown["sent again"]) == ("17", "4")


def test_figures_of_a_run_in_which_nothing_happened() -> None:
    """Stopped at once: what is not known is a dash, what was counted is 0."""
    shown = texts(Result(about(mode="none", finished=False, reached_ns=0, hops=0)))
    assert shown["virtual time"] == "0 ns of 20 ms, ended early"
    assert shown["congestions"] == shown["messages"] == shown["rate cuts"] == "0"
    for name in ("onset to first rate cut, median", "goodput of all", "deepest queue", "greatest"):
        assert shown[name] == NOTHING


def test_runs_side_by_side_say_which_ended_early() -> None:
    early = replace(congested("ecn"), about=about(mode="ecn", finished=False))
    both = side_by_side({"fast": congested("fcn"), "slow": early})
    assert both.columns == ("figure", "fast", "slow")
    rows = {row[0]: row[1:] for row in both.rows}
    assert rows["mode"] == ("fcn", "ecn")
    assert rows["  first cut by the ingress PE's CNP"] == ("1", "0")
    assert "slow" in both.note
    assert "fast" not in both.note


def test_the_details_of_a_run() -> None:
    result = congested("fcn")
    (row,) = table(result, "Congestions and reactions").rows
    assert row == (
        "1 ms", "p1", "pe2", "501.2 µs", "501.2 µs", "l1", "ingress PE", "500.5 µs", "10.5 ms",
        "1.0014",
    )  # fmt: skip
    sizes = table(result, "Flow completion times by size of message")
    assert [each[:3] for each in sizes.rows] == [("up to 100 kB", "3", "2"), ("all", "3", "2")]
    (lost,) = table(result, "Connections with packets out of order or lost").rows
    assert lost == ("l1", "0", "r1", "104", "4", "3", "0", "1", "0")
    assert table(result, "Core links").rows == (("p1", "pe2", "79.79 %"),)
    drops = table(result, "Dropped frames by reason").rows
    assert ("pe1", "FLOW_INTERVAL", "2", "no, a notice") in drops
    assert ("p1", "queue_full_drops", "9", "yes") in drops
    assert table(with_pauses(), "Pauses").rows[0] == ("pe1", "p1", "3", "3", "100 µs")


def test_events_of_the_scenario_are_listed() -> None:
    events = (EventInfo(time_ns=5_000_000, text="link p1-pe2 down"),)
    result = Result(about(events=events))
    assert table(result, "Events of the scenario").rows == (("5 ms", "link p1-pe2 down"),)


def test_empty_tables_are_left_out() -> None:
    assert [each.title for each in details(Result(about()))] == ["Dropped frames by reason"]


def test_of_long_tables_the_beginning_is_shown_and_how_many_rows_are_not() -> None:
    rows = [("l1", n, "r1", n, 1, "connected", 1, *[0] * 12) for n in range(MOST_ROWS + 2)]
    result = Result(about(), connections=frame("connections", rows))
    connections = table(result, "Connections")
    assert len(connections.rows) == MOST_ROWS
    assert "2 more rows are not shown" in connections.note


@pytest.mark.parametrize("name", ["l[1]", "[bold]l1"])
def test_names_in_brackets_are_shown_as_they_are(name: str) -> None:
    made = ReportTable("Title", ("host",), ((name,),))
    out = io.StringIO()
    Console(file=out, width=80).print(rich_table(made))
    assert name in out.getvalue()


def test_links_that_failed() -> None:
    found = table(link_failed(), "Links that failed")
    assert found.rows == (
        ("3 ms", "p1-pe2", "p1", "4 ms", "pe1", "500 µs", "4.52 ms", "1.0044", "5 ms", "35"),
    )
