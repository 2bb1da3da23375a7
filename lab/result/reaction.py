"""From the onset of a congestion to the first rate cut, beside the propagation delays.

A congestion of a queue begins when the node marks a packet with CE after a calm, a time without
marks. A sender cuts its rate when it receives a CNP: from its ingress PE, which a Fast CNP of the
congested node has told (FCN) or which completes the CNP of that node (END.CON), or from the
receiver, which has seen the mark (end-to-end ECN).
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from itertools import islice, zip_longest
from operator import attrgetter
from typing import Any, cast

import pandas as pd

from fcn.lab.result.model import Result
from fcn.lab.result.paths import Paths

BY_PE = "ingress PE"
BY_RECEIVER = "receiver"

_MARKED_HERE = "CE_MARKED"
_DTYPES = {int: "int64", str: "str", float: "float64", int | None: "Int64", float | None: "float64"}


@dataclass(frozen=True, slots=True)
class Reaction:
    """One congestion of the queue of `node` towards its neighbour, and the first cut for it.

    told_ns: from the onset to the first CNP for a sender through this queue. host, connection: who
    cut (empty, nothing: nobody did). by: whose CNP it was. fcn_bound_ns:
    propagation delay from the node by the ingress PE to this sender; ecn_bound_ns: to the receiver
    and from there to the sender. ratio: reaction_ns over the bound of the way the CNP came.
    """

    node: str
    towards: str
    onset_ns: int
    told_ns: int | None = None
    host: str = ""
    connection: int | None = None
    by: str = ""
    cut_ns: int | None = None
    reaction_ns: int | None = None
    fcn_bound_ns: int | None = None
    ecn_bound_ns: int | None = None
    ratio: float | None = None


@dataclass(frozen=True, slots=True)
class Signal:
    """A CNP that reached a sender, or a rate cut it made."""

    time_ns: int
    host: str
    connection: int
    remote: str
    by: str


_Onset = tuple[int, str, str, int | None]
"""When, the queue (node, neighbour), and when its next one begins."""


def reactions(result: Result, calm_ns: int | None = None) -> pd.DataFrame:
    """The congestions in the order of their onsets, with the columns of `Reaction`.

    Congestions of queues whose links are watched (table `crossings`), and of nodes that count marks
    of their own, if any does: marks of others pass through. calm_ns: how long a queue does not
    mark between two of its congestions; default: the round trip between the queue and the nearest
    of its senders, before which no cut can be felt, and not less than notifications of a flow are
    held back (`NetworkInfo.held_back_ns`): within that, what is late is meant to be. A cut or CNP
    earlier than its bound after the onset is not for this congestion.
    """
    run = Congestions(result, calm_ns)
    return rows_of(Reaction, run.reactions(run.cuts))


def rows_of(kind: type[Any], rows: Iterable[Any]) -> pd.DataFrame:
    """A row of each, with the columns that a dataclass has as fields."""
    types = {each.name: _DTYPES[each.type] for each in fields(kind)}  # type: ignore[index]
    return pd.DataFrame(map(astuple, rows), columns=list(types)).astype(types)


class Congestions:
    """The congestions of a run, and what a series of rate cuts would be as reactions to them.

    calm_ns: as of `reactions`. cuts: those of the run, in the order of time.
    """

    def __init__(self, result: Result, calm_ns: int | None = None) -> None:
        self._senders = _Senders(result, Paths(result.about.network))
        self.cuts = list(_signals(result, "cut"))
        self._onsets = sorted(self._found(result, calm_ns))

    def _found(self, result: Result, calm_ns: int | None) -> Iterator[_Onset]:
        for names, marks in _marks(result).groupby(["node", "towards"]):
            node, towards = map(str, cast(tuple[str, str], names))
            calm = calm_ns
            if calm is None:
                held_back = result.about.network.held_back_ns
                calm = max(self._senders.round_trip_ns(node, towards), held_back)
            onsets = _onsets(marks["time_ns"], calm, result.about.warm_up_ns)
            for onset, following in zip_longest(onsets, onsets[1:]):
                yield onset, node, towards, following

    def __len__(self) -> int:
        return len(self._onsets)

    def reactions(self, cuts: list[Signal]) -> Iterator[Reaction]:
        """Of these cuts, in the order of time, to each congestion in the order of its onset."""
        for onset, node, towards, following in self._onsets:
            yield self._senders.reaction(cuts, node, towards, onset, following)


def _marks(result: Result) -> pd.DataFrame:
    """Crossings of marked packets at the nodes that marked them."""
    marks = result.crossings[result.crossings["what"] == "ce"]
    counted = result.counters[result.counters["name"] == _MARKED_HERE]
    if counted.empty:
        return marks
    return marks[marks["node"].isin(counted.loc[counted["value"] > 0, "node"])]


def _onsets(times: "pd.Series[int]", calm_ns: int, from_ns: int) -> list[int]:
    ordered = times.sort_values()
    begins = ordered.diff().isna() | (ordered.diff() > calm_ns)
    return ordered[begins & (ordered >= from_ns)].tolist()


class _Senders:
    def __init__(self, result: Result, paths: Paths) -> None:
        self._paths = paths
        self._pe = {host.name: host.pe for host in result.about.network.hosts}
        self._cnps = list(_signals(result, "cnp"))
        flows = result.connections[["host", "remote"]].drop_duplicates()
        self._flows = list(flows.itertuples(index=False, name=None))

    def round_trip_ns(self, node: str, towards: str) -> int:
        """Between a queue and the nearest sender of a connection through it; 0 without one."""
        delays = [
            self._paths.delay_ns(node, self._pe[host], host)
            for host, remote in self._flows
            if self._paths.crosses(node, towards, host, remote)
        ]
        return 2 * min((delay for delay in delays if delay is not None), default=0)

    def reaction(
        self, cuts: list[Signal], node: str, towards: str, onset: int, following: int | None
    ) -> Reaction:
        told = self._first(self._cnps, node, towards, onset, following)
        cut = self._first(cuts, node, towards, onset, following)
        told_ns = None if told is None else told.time_ns - onset
        if cut is None:
            return Reaction(node, towards, onset, told_ns)
        bound = self._bound(cut, node)
        after = cut.time_ns - onset
        return Reaction(
            node,
            towards,
            onset,
            told_ns,
            host=cut.host,
            connection=cut.connection,
            by=cut.by,
            cut_ns=cut.time_ns,
            reaction_ns=after,
            fcn_bound_ns=self._fcn_bound(cut, node),
            ecn_bound_ns=self._ecn_bound(cut, node),
            ratio=after / bound if bound else None,
        )

    def _first(
        self, signals: list[Signal], node: str, towards: str, onset: int, following: int | None
    ) -> Signal | None:
        """The first after an onset and before the following one that can be for it."""
        begin = bisect_left(signals, onset, key=attrgetter("time_ns"))
        for each in islice(signals, begin, None):
            if following is not None and each.time_ns >= following:
                return None
            if self._paths.crosses(node, towards, each.host, each.remote):
                bound = self._bound(each, node)
                if bound is not None and each.time_ns - onset >= bound:
                    return each
        return None

    def _bound(self, signal: Signal, node: str) -> int | None:
        if signal.by == BY_PE:
            return self._fcn_bound(signal, node)
        return self._ecn_bound(signal, node)

    def _fcn_bound(self, signal: Signal, node: str) -> int | None:
        return self._paths.delay_ns(node, self._pe[signal.host], signal.host)

    def _ecn_bound(self, signal: Signal, node: str) -> int | None:
        return self._paths.delay_ns(node, signal.remote, signal.host)


def _signals(result: Result, what: str) -> Iterator[Signal]:
    """In the order of time."""
    seen = caused(result, what).sort_values("time_ns", kind="stable")
    columns = (seen[name].tolist() for name in ("time_ns", "host", "connection", "remote", "by"))
    yield from (Signal(*values) for values in zip(*columns, strict=True))


def caused(result: Result, what: str) -> pd.DataFrame:
    """The notices `cnp` or `cut` of senders, with `remote`, the receiver of the connection, and
    `by`, whose CNP it was."""
    chosen = result.notices[result.notices["what"] == what]
    by = chosen["by_switch"].map({1: BY_PE, 0: BY_RECEIVER}).astype("str")
    return chosen.assign(by=by).merge(result.connections[["host", "connection", "remote"]])
