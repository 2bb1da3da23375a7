"""How full links are over time, and how equally two of them are loaded."""

from dataclasses import dataclass
from typing import cast

import pandas as pd

from fcn.lab.core import ETHERNET_OVERHEAD
from fcn.lab.result.analysis import NS_PER_S, final_counters, over_time
from fcn.lab.result.model import Result
from fcn.lab.result.tables import FLOWLETS

Direction = tuple[str, str]
"""Of a link: node, neighbour."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Of the utilization of two links, in parts of the larger one: 0 where both are equal, 1 where
    one is idle. whole: of what they carried in all; mean, p95: of windows."""

    whole: float
    mean: float
    p95: float


def utilization(result: Result, window_ns: int) -> pd.DataFrame:
    """The part of its rate that each direction of a core link carried, in windows after the
    warm-up: index time_ns, the end of the window, one column for each node and neighbour.

    What a frame takes on the line beside its octets is counted. Windows are as long as several
    samples, or as one. Links without a rate are left out.
    """
    frames, octets = (over_time(result, "links", name) for name in ("frames", "octets"))
    bits = (octets + frames * ETHERNET_OVERHEAD) * 8
    about = result.about
    ends = pd.Index(range(about.warm_up_ns, about.reached_ns + 1, window_ns), name="time_ns")
    carried = bits.reindex(bits.index.union(ends)).ffill().fillna(0).loc[ends].diff().iloc[1:]
    rates = {
        pair: link.rate_bps
        for link in about.network.links
        for pair in ((link.a, link.b), (link.b, link.a))
        if link.rate_bps and pair in carried.columns
    }
    could = [rate * window_ns / NS_PER_S for rate in rates.values()]
    return carried[list(rates)] / could


def whole_utilization(result: Result) -> pd.DataFrame:
    """The same of all the time after the warm-up: columns node, towards, share."""
    window = result.about.reached_ns - result.about.warm_up_ns
    columns = {"node": "str", "towards": "str", "share": "float64"}
    shares = utilization(result, window) if window > 0 else pd.DataFrame()
    pairs = cast(list[Direction], shares.columns.tolist())
    rows = [(*pair, shares[pair].iloc[0]) for pair in pairs]
    return pd.DataFrame(rows, columns=list(columns)).astype(columns)


def difference(shares: pd.DataFrame, one: Direction, other: Direction) -> Difference:
    """How much two links differ, from utilization(). Not a number where nothing was carried."""
    both = shares[[one, other]]
    windows = _difference(both)
    return Difference(
        whole=float(_difference(both.sum().to_frame().T).iloc[0]),
        mean=float(windows.mean()),
        p95=float(windows.quantile(0.95)),
    )


def _difference(both: pd.DataFrame) -> "pd.Series[float]":
    larger = both.max(axis=1)
    return ((larger - both.min(axis=1)) / larger).where(larger > 0)


def flowlets_moved(result: Result) -> int:
    """How many flowlets PEs moved to another path because of load."""
    return int(final_counters(result, FLOWLETS)["value"].sum())
