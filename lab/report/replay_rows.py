"""What a replay shows of a result of any size, read piece by piece.

Of each moment that is shown there is left what was last, most, or how many; the other rows, and
tables of which nothing is shown, take no memory.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fcn.lab.notices import NoticeKind
from fcn.lab.result.folder import Stored
from fcn.lab.result.model import About
from fcn.lab.result.tables import LINK_DOWN, LINK_UP, TableName
from fcn.page.flows import MOST
from fcn.page.model import Kind

CROSSED = {"fast_cnp": Kind.FAST_CNP, "end_con_cnp": Kind.END_CON_CNP, "cnp": Kind.CNP}
"""What is noted of each link that is watched; of other kinds there are counters at both ends."""

CNP, CUT = (kind.name.lower() for kind in (NoticeKind.CNP, NoticeKind.CUT))

_WAITING = 1 << 19
"""Rows that are thinned out together, at least."""

Whole = NDArray[np.int64]
Rows = pd.DataFrame
Thin = Callable[[Rows], Rows]

_COLUMNS: dict[TableName, tuple[str, ...]] = {
    "links": ("time_ns", "node", "towards", "octets"),
    "queues": ("time_ns", "node", "towards", "packets"),
    "counters": ("time_ns", "node", "kind", "name", "value"),
    "crossings": ("time_ns", "node", "towards", "what", "frame"),
    "pauses": ("time_ns", "node", "towards", "duration_ns"),
    "connections": (
        "host", "connection", "remote", "local_qp", "remote_qp", "packets", "retransmitted",
        "marked", "cnps", "cnps_sent",
    ),
    "notices": ("time_ns", "host", "connection", "what", "value", "by_switch"),
}  # fmt: skip
"""All that is read."""


@dataclass(frozen=True)
class Run:
    """A result as it is shown. ends: of its moments, and before them its beginning. Rows have
    `moment`, its number, -1 of what was before; of messages, `count` of them. connections: those
    with most CNPs of the `total`; told: a row for each of these and kind of notice. noted: whether
    the ways of messages were."""

    about: About
    ends: Whole
    links: Rows
    queues: Rows
    counters: Rows
    crossings: Rows
    cnps: Rows
    pauses: Rows
    connections: Rows
    total: int
    told: Rows
    noted: bool


def octets_of(stored: Stored) -> int:
    """How much is read."""
    return stored.octets(_COLUMNS)


def read_run(stored: Stored, moments: int, until_ns: int, seen: Callable[[int], None]) -> Run:
    """Read a result; seen: told of octets that were read. Raises ResultError."""
    ends = np.linspace(0, max(until_ns, 1), moments + 1).astype(np.int64)

    def table(name: TableName) -> Iterator[Rows]:
        for rows in stored.chunks(name, _COLUMNS[name], seen):
            if "time_ns" in rows:
                at = np.searchsorted(ends, rows["time_ns"].to_numpy(), side="left") - 1
                rows["moment"] = np.minimum(at, moments - 1)
            read[name] += len(rows)
            yield rows.assign(count=1)

    read: Counter[TableName] = Counter()
    cnps: list[Rows] = []

    def notices() -> Iterator[Rows]:
        for rows in table("notices"):
            cnps.append(_made_by_switches(rows))
            yield _of_interest(rows, most)

    most = _thinned(table("connections"), _most_notified)
    return Run(
        stored.about,
        ends,
        links=_thinned(table("links"), partial(_last, keys=["node", "towards"])),
        queues=_thinned(table("queues"), _last_and_most),
        counters=_thinned(table("counters"), _last_counts),
        crossings=_thinned(table("crossings"), _messages),
        pauses=_thinned(table("pauses"), _begun_pauses),
        connections=most,
        total=read["connections"],
        told=_thinned(notices(), _told),
        cnps=_counted(pd.concat(cnps), ["host"]),
        noted=read["crossings"] > 0,
    )


def _thinned(parts: Iterable[Rows], thin: Thin) -> Rows:
    """All parts, thinned out. Rows that are thinned out may be so again, with others."""
    waiting: list[Rows] = []
    limit = _WAITING
    for part in parts:
        waiting.append(thin(part))
        if sum(map(len, waiting)) > limit:
            waiting = [thin(pd.concat(waiting))]
            limit = max(_WAITING, 2 * len(waiting[0]))
    return thin(pd.concat(waiting))


def _last(rows: Rows, keys: Sequence[str]) -> Rows:
    rows = rows.sort_values("time_ns", kind="stable")
    return rows.groupby(["moment", *keys], observed=True, sort=False).tail(1)


def _last_and_most(rows: Rows) -> Rows:
    keys = ["node", "towards"]
    groups = rows.sort_values("packets", kind="stable").groupby(["moment", *keys], observed=True)
    return pd.concat([groups.tail(1), _last(rows, keys)]).drop_duplicates()


def _last_counts(rows: Rows) -> Rows:
    shown = rows["kind"].isin(("event", "drop", LINK_UP, LINK_DOWN))
    return _last(rows[shown], ["kind", "node", "name"])


def _messages(rows: Rows) -> Rows:
    """Of messages on a link: how many, and the first of their frames."""
    return _counted(rows[rows["what"].isin(CROSSED)], ["node", "towards", "what"], frame="min")


def _begun_pauses(rows: Rows) -> Rows:
    begun = rows[rows["duration_ns"] > 0]
    return _counted(begun, ["node", "towards"], duration_ns="max")


def _made_by_switches(notices: Rows) -> Rows:
    made = (notices["what"] == CNP) & (notices["by_switch"] == 1)
    return _counted(notices[made], ["host"])


def _counted(rows: Rows, keys: Sequence[str], **others: str) -> Rows:
    """How many in a moment have the same keys."""
    groups = rows.groupby(["moment", *keys], observed=True, as_index=False, sort=False)
    return groups.agg({"count": "sum", **others})


def _most_notified(connections: Rows) -> Rows:
    return connections.sort_values("cnps", ascending=False, kind="stable").head(MOST)


_NOTICE = ["host", "connection", "what"]


def _of_interest(notices: Rows, connections: Rows) -> Rows:
    """CNPs and cuts of these connections, as _told() has them."""
    rows = notices[notices["what"].isin((CNP, CUT))]
    rows = rows.merge(connections[["host", "connection"]])
    return rows.assign(first_by=rows["by_switch"], least_ns=rows["time_ns"])


def _told(rows: Rows) -> Rows:
    """Of each connection and kind: how many, and by switches; when the first came, and by whom; the
    least value, and when."""
    by_time = rows.sort_values("time_ns", kind="stable").groupby(_NOTICE, observed=True)
    by_value = rows.sort_values(["value", "least_ns"]).groupby(_NOTICE, observed=True)
    firsts = by_time.agg(
        {"count": "sum", "by_switch": "sum", "time_ns": "first", "first_by": "first"}
    )
    return firsts.join(by_value[["value", "least_ns"]].first()).reset_index()
