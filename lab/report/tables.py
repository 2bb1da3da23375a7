"""The tables of a report, as text: for the terminal by rich, for the page as HTML."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from fcn.controller.logs import escaped
from fcn.lab.report.amounts import NOTHING, Unit, show
from fcn.lab.report.figures import as_number, figures
from fcn.lab.result import analysis
from fcn.lab.result.deadlock import deadlocks
from fcn.lab.result.failover import failovers
from fcn.lab.result.jobs import jobs
from fcn.lab.result.load import whole_utilization
from fcn.lab.result.model import DcqcnInfo, Result
from fcn.lab.result.reaction import reactions
from fcn.lab.result.slowdown import by_size

MOST_ROWS = 40
"""Of a table in a report; all are in the data frames."""


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table as text. note: what a reader should know, empty where nothing. numbers: the columns
    whose cells stand at the right."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    numbers: frozenset[int] = frozenset()


_Make = Callable[[Result], ReportTable]

MOST_BESIDE = 6
"""Runs of which a terminal shows a column each."""

_IN_SHORT = (
    "goodput of all", "  Jain's fairness index", "flow completion time, mean", "slowdown, mean",
    "iterations of jobs completed", "onset to first rate cut, median", "deepest queue",
    "  most packets", "frames lost",
)  # fmt: skip


def in_short(results: Mapping[str, Result]) -> ReportTable:
    """Some figures of many runs, a row for each run; those without any value are left out."""
    found = {name: {each.name: each for each in figures(run)} for name, run in results.items()}
    columns = [
        name for name in _IN_SHORT if any(each[name].value is not None for each in found.values())
    ]
    rows = tuple((name, *(each[column].text for column in columns)) for name, each in found.items())
    titles = ("run", *(column.strip() for column in columns))
    note = "The page has all figures."
    return ReportTable("Figures", titles, rows, note, frozenset(range(1, len(titles))))


def turned(table: ReportTable) -> ReportTable:
    """The same with its columns as rows."""
    head, *columns = zip(table.columns, *table.rows, strict=True)
    return ReportTable(table.title, head, tuple(columns), table.note)


def side_by_side(results: Mapping[str, Result]) -> ReportTable:
    """The figures of several runs, a column for each."""
    columns = [figures(result) for result in results.values()]
    rows = [
        (each[0].name, *(figure.text for figure in each)) for each in zip(*columns, strict=True)
    ]
    early = [name for name, result in results.items() if not result.about.finished]
    note = f"Ended early, so not all of it was measured: {', '.join(early)}." if early else ""
    return ReportTable("Figures", ("figure", *results), tuple(rows), note)


def details(result: Result) -> Iterator[ReportTable]:
    """The tables of one run that have rows."""
    for make in _TABLES:
        table = make(result)
        if table.rows:
            yield table


def rich_table(table: ReportTable) -> Table:
    """The same for a terminal."""
    title, caption = (escape(escaped(text)) for text in (table.title, table.note))
    made = Table(title=title, caption=caption or None, box=SIMPLE_HEAD, pad_edge=False)
    made.title_justify = made.caption_justify = "left"
    made.title_style, made.caption_style = "bold", "dim"
    for number, name in enumerate(table.columns):
        made.add_column(Text(escaped(name)), justify="right" if number in table.numbers else "left")
    for row in table.rows:
        made.add_row(*(Text(escaped(cell)) for cell in row))
    return made


def _of_frame(
    title: str,
    data: Callable[[Result], pd.DataFrame],
    columns: Sequence[tuple[str, str, Unit | None]],
    note: str = "",
) -> _Make:
    """columns: of the data frame, what they are called, and their units (None: text)."""

    def make(result: Result) -> ReportTable:
        found = data(result)
        shown = found.head(MOST_ROWS)
        cells = [
            [str(value) if unit is None else show(as_number(value), unit) for value in shown[name]]
            for name, _, unit in columns
        ]
        more = len(found) - MOST_ROWS
        return ReportTable(
            title,
            tuple(text for _, text, _ in columns),
            tuple(zip(*cells, strict=True)),
            f"{note} {more} more rows are not shown.".strip() if more > 0 else note,
            frozenset(at for at, (_, _, unit) in enumerate(columns) if unit is not None),
        )

    return make


def _goodput(result: Result) -> pd.DataFrame:
    states = result.connections.drop(columns=["remote", "payload"])
    return analysis.goodput(result).merge(states, on=["host", "connection"])


def _troubled(result: Result) -> pd.DataFrame:
    flows = analysis.order(result)
    return flows[flows.drop(columns=["host", "connection", "remote", "packets"]).any(axis=1)]


def _used_links(result: Result) -> pd.DataFrame:
    shares = whole_utilization(result)
    return shares[shares["share"] > 0].sort_values("share", ascending=False)


def _used_queues(result: Result) -> pd.DataFrame:
    depths = analysis.queues(result)
    return depths[depths["max_packets"] > 0].sort_values("max_packets", ascending=False)


def _drops(result: Result) -> pd.DataFrame:
    data = analysis.drops(result)
    return data.assign(lost=data["lost"].map({True: "yes", False: "no, a notice"}))


def _learned(result: Result) -> pd.DataFrame:
    return analysis.learning(result).replace({"node": {"": "all"}})


def _deadlocks(result: Result) -> ReportTable:
    rows = tuple(
        (show(each.since_ns, "ns"), " to ".join((*each.nodes, each.nodes[0])))
        for each in deadlocks(result)
    )
    note = "Links that wait for each other: none of them has sent a packet since, or ever will."
    return ReportTable("Deadlocks of flow control", ("since", "links"), rows, note, frozenset({0}))


def _events(result: Result) -> ReportTable:
    rows = tuple((show(each.time_ns, "ns"), each.text) for each in result.about.events)
    return ReportTable("Events of the scenario", ("time", "event"), rows, numbers=frozenset({0}))


_DCQCN_UNITS: Mapping[str, Unit] = {
    "line_rate": "bps",
    "min_rate": "bps",
    "additive_increase": "bps",
    "hyper_increase": "bps",
    "alpha_period": "ns",
    "increase_period": "ns",
    "cut_interval": "ns",
    "cut_period": "ns",
    "byte_counter": "octets",
    "low": "ns",
    "high": "ns",
    "least_rtt": "ns",
    "base_target": "ns",
    "scaling": "ns",
}


def _red(result: Result) -> ReportTable:
    rows = [
        (
            queue.node,
            queue.towards,
            show(red.kmin, "octets"),
            show(red.kmax, "octets"),
            str(red.pmax),
        )
        for queue in result.about.network.queues
        if (red := queue.red) is not None
    ]
    columns = ("node", "towards", "Kmin", "Kmax", "Pmax")
    return ReportTable("Random early detection", columns, tuple(rows), "", frozenset({2, 3, 4}))


def _dcqcn(result: Result) -> ReportTable:
    """A column for each kind of hosts."""
    columns = [dict(_column(group)) for group in result.about.network.dcqcn]
    names = dict.fromkeys(name for column in columns for name in column)
    rows = [(name, *(column.get(name, NOTHING) for column in columns)) for name in names]
    numbers = map(str, range(1, len(columns) + 1))
    return ReportTable("Congestion control", ("parameter", *numbers), tuple(rows))


def _column(group: DcqcnInfo) -> Iterator[tuple[str, str]]:
    more = f" and {len(group.hosts) - 4} more" if len(group.hosts) > 4 else ""
    yield "hosts", ", ".join(group.hosts[:4]) + more
    yield "control", group.control
    yield "profile", group.profile or NOTHING
    for name, value in group.parameters.items():
        unit = _DCQCN_UNITS.get(name)
        yield name, show(value, unit) if unit else str(value)
    yield "cnp_interval", show(group.cnp_interval_ns, "ns")


_TABLES: Sequence[_Make] = (
    _of_frame(
        "Congestions and reactions",
        reactions,
        [
            ("onset_ns", "onset", "ns"),
            ("node", "node", None),
            ("towards", "towards", None),
            ("told_ns", "first CNP", "ns"),
            ("reaction_ns", "first cut", "ns"),
            ("host", "by", None),
            ("by", "CNP of", None),
            ("fcn_bound_ns", "propagation by PE", "ns"),
            ("ecn_bound_ns", "by receiver", "ns"),
            ("ratio", "ratio", "ratio"),
        ],
        "First CNP and first cut: after the onset. The ratio is of the first cut, to the "
        "propagation delay of the way its CNP came.",
    ),
    _of_frame(
        "Links that failed",
        failovers,
        [
            ("failed_ns", "failed", "ns"),
            ("link", "link", None),
            ("node", "seen by", None),
            ("detected_ns", "after", "ns"),
            ("pe", "PE", None),
            ("propagation_ns", "propagation", "ns"),
            ("moved_ns", "other path after", "ns"),
            ("ratio", "ratio", "ratio"),
            ("silent_ns", "nothing arrived", "ns"),
            ("lost", "lost", "count"),
        ],
        "The ratio: the time to the first packet that the PE sent on another path, over detection "
        "and propagation. Lost: data packets of its hosts in the whole run.",
    ),
    _of_frame(
        "Flow completion times by size of message",
        analysis.flow_completion,
        [
            ("size", "size", None),
            ("messages", "messages", "count"),
            ("completed", "completed", "count"),
            ("mean_ns", "mean", "ns"),
            ("median_ns", "median", "ns"),
            ("p99_ns", "99th percentile", "ns"),
            ("max_ns", "longest", "ns"),
        ],
        "Of completed messages only.",
    ),
    _of_frame(
        "Slowdown by size of message",
        by_size,
        [
            ("size", "size", None),
            ("messages", "completed", "count"),
            ("mean", "mean", "ratio"),
            ("median", "median", "ratio"),
            ("p95", "95th percentile", "ratio"),
            ("p99", "99th percentile", "ratio"),
        ],
        "How many times as long a message took as alone on its path. Of completed messages only.",
    ),
    _of_frame(
        "Jobs",
        jobs,
        [
            ("job", "job", None),
            ("ranks", "ranks", "count"),
            ("iterations", "iterations", "count"),
            ("completed", "completed", "count"),
            ("compute_ns", "computing in each", "ns"),
            ("mean_ns", "an iteration, mean", "ns"),
            ("median_ns", "median", "ns"),
            ("p99_ns", "99th percentile", "ns"),
            ("max_ns", "longest", "ns"),
            ("completion_ns", "all of them", "ns"),
        ],
        "An iteration lasts until every rank has ended it.",
    ),
    _of_frame(
        "Connections",
        _goodput,
        [
            ("host", "host", None),
            ("connection", "connection", "count"),
            ("remote", "to", None),
            ("state", "state", None),
            ("goodput_bps", "goodput", "bps"),
            ("packets", "packets", "count"),
            ("marked", "marked", "count"),
            ("cnps", "CNPs", "count"),
            ("cuts", "cuts", "count"),
        ],
        "Goodput is over the time in which the connection had a message.",
    ),
    _of_frame(
        "TCP",
        lambda result: result.tcp,
        [
            ("host", "host", None),
            ("connection", "connection", "count"),
            ("remote", "to", None),
            ("acknowledged", "acknowledged", "octets"),
            ("resent", "sent again", "count"),
            ("marked", "with CE", "count"),
            ("cuts", "cuts", "count"),
            ("timeouts", "time-outs", "count"),
            ("completed_ns", "completed", "ns"),
        ],
    ),
    _of_frame(
        "Connections with packets out of order or lost",
        _troubled,
        [
            ("host", "host", None),
            ("connection", "connection", "count"),
            ("remote", "to", None),
            ("packets", "packets", "count"),
            ("retransmitted", "sent again", "count"),
            ("beyond_gap", "behind a gap", "count"),
            ("repeated", "received twice", "count"),
            ("naks", "NAKs", "count"),
            ("timeouts", "time-outs", "count"),
        ],
    ),
    _of_frame(
        "Core links",
        _used_links,
        [("node", "node", None), ("towards", "towards", None), ("share", "utilization", "share")],
        "Of the whole time; links that carried nothing are left out.",
    ),
    _of_frame(
        "Queues",
        _used_queues,
        [
            ("node", "node", None),
            ("towards", "towards", None),
            ("mean_packets", "mean", "count"),
            ("p99_packets", "99th percentile", "count"),
            ("max_packets", "most", "count"),
            ("max_octets", "most octets", "octets"),
        ],
        "Mean over time, and most of all times; the percentile is of samples. Queues that were "
        "always empty are left out.",
    ),
    _of_frame(
        "Marks and notifications",
        analysis.notifications,
        [("place", "where", None), ("what", "what", None), ("count", "times", "count")],
    ),
    _of_frame(
        "Dropped frames by reason",
        _drops,
        [
            ("place", "where", None),
            ("reason", "reason", None),
            ("frames", "frames", "count"),
            ("lost", "lost", None),
        ],
        "Of Fast CNPs and CNPs to END.CON, a PE drops those after which no CNP is due.",
    ),
    _of_frame(
        "Pauses",
        analysis.pauses,
        [
            ("node", "who paused", None),
            ("towards", "towards", None),
            ("priority", "priority", "count"),
            ("pauses", "pauses", "count"),
            ("paused_ns", "time paused", "ns"),
        ],
    ),
    _deadlocks,
    _of_frame(
        "What the controller did",
        _learned,
        [
            ("node", "node", None),
            ("what", "what", None),
            ("count", "times", "count"),
            ("first_ns", "first", "ns"),
            ("last_ns", "last", "ns"),
        ],
        "Flows: of each connection across the WAN there are two, its data, and ACKs and CNPs.",
    ),
    _events,
    _red,
    _dcqcn,
)
"""In the order of a report."""
