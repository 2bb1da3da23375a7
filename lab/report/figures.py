"""The figures by which runs are compared: each has a name, a unit, and a value in each run."""

from dataclasses import dataclass

import pandas as pd

from fcn.lab.report.amounts import NOTHING, Unit, show
from fcn.lab.report.remarks import goodput_bps
from fcn.lab.result import analysis
from fcn.lab.result.chance import by_chance
from fcn.lab.result.convergence import long_connections
from fcn.lab.result.deadlock import deadlocks
from fcn.lab.result.jobs import iterations, jobs
from fcn.lab.result.model import Result
from fcn.lab.result.reaction import BY_PE, BY_RECEIVER, caused, reactions
from fcn.lab.result.slowdown import by_size


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a run. value: a number in the unit, or text; None where there is none."""

    name: str
    value: float | str | None
    unit: Unit = "count"

    @property
    def text(self) -> str:
        if isinstance(self.value, str):
            return self.value
        return NOTHING if self.value is None else show(self.value, self.unit)


def figures(result: Result) -> list[Figure]:
    """Those of one run; their names and order are the same for every run."""
    return [
        *_of_the_run(result),
        *_of_reactions(result),
        *_of_messages(result),
        *_of_jobs(result),
        *_of_notifications(result),
        *_of_queues_and_losses(result),
    ]


def _of_the_run(result: Result) -> list[Figure]:
    about = result.about
    ended = "complete" if about.finished else "ended early"
    reached = f"{show(about.reached_ns, 'ns')} of {show(about.duration_ns, 'ns')}, {ended}"
    return [
        Figure("scenario", about.scenario),
        Figure("mode", about.mode),
        Figure("seed", str(about.seed)),
        Figure("virtual time", reached),
        Figure("packet-hops", about.hops),
        Figure("wall time", about.wall_s * 1e9, "ns"),
        Figure("digest of frames", about.digest),
    ]


def _of_reactions(result: Result) -> list[Figure]:
    found = reactions(result)
    answered = found[found["ratio"].notna()]
    chance = by_chance(result)
    share = float(found["cut_ns"].notna().mean()) if len(found) else None
    longest = answered["reaction_ns"].astype("float64").max()
    return [
        Figure("congestions", len(found)),
        Figure("  first cut by the ingress PE's CNP", int((found["by"] == BY_PE).sum())),
        Figure("onset to first CNP, median", _median(found["told_ns"]), "ns"),
        Figure("onset to first rate cut, median", _median(answered["reaction_ns"]), "ns"),
        Figure("  longest", as_number(longest), "ns"),
        Figure("  propagation by the ingress PE", _median(answered["fcn_bound_ns"]), "ns"),
        Figure("  propagation by the receiver", _median(answered["ecn_bound_ns"]), "ns"),
        Figure("reaction ÷ propagation, median", _median(answered["ratio"]), "ratio"),
        Figure("  greatest", as_number(answered["ratio"].max()), "ratio"),
        Figure("  of as many random cuts, median", chance.ratio, "ratio"),
        Figure("congestions with a rate cut", share, "share"),
        Figure("  with as many random cuts", chance.answered, "share"),
    ]


def _of_messages(result: Result) -> list[Figure]:
    times = analysis.flow_completion(result)
    whole = times[times["size"] == analysis.ALL]
    row = whole.iloc[0] if len(whole) else None
    speeds = analysis.goodput(result)["goodput_bps"].dropna()
    slowdowns = by_size(result)
    slow = slowdowns.iloc[-1] if len(slowdowns) else None
    long = long_connections(result)
    settled = f"{sum(each.settled for each in long)} of {len(long)}" if long else None
    return [
        Figure("connections", len(result.connections)),
        Figure("messages", len(analysis.messages(result))),
        Figure("  completed", _of(row, "completed") or 0),
        Figure("flow completion time, mean", _of(row, "mean_ns"), "ns"),
        Figure("  99th percentile", _of(row, "p99_ns"), "ns"),
        Figure("slowdown, mean", _of(slow, "mean"), "ratio"),
        Figure("  median", _of(slow, "median"), "ratio"),
        Figure("  95th percentile", _of(slow, "p95"), "ratio"),
        Figure("  99th percentile", _of(slow, "p99"), "ratio"),
        Figure("goodput of all", goodput_bps(result) if result.about.reached_ns else None, "bps"),
        Figure("  of a connection, mean", as_number(speeds.mean()), "bps"),
        Figure("  of a connection, least", as_number(speeds.min()), "bps"),
        Figure("  Jain's fairness index", as_number(analysis.jain(speeds)), "ratio"),
        Figure("long connections that settled", settled),
    ]


def _of_jobs(result: Result) -> list[Figure]:
    each, whole = iterations(result), jobs(result)
    took = each["took_ns"].astype("float64")
    done = f"{int(took.notna().sum())} of {len(each)}" if len(each) else None
    longest = whole["completion_ns"].astype("float64")
    return [
        Figure("iterations of jobs completed", done),
        Figure("  mean", as_number(took.mean()), "ns"),
        Figure("  longest", as_number(took.max()), "ns"),
        Figure("  longest job", as_number(longest.max(skipna=False)), "ns"),
    ]


def _of_notifications(result: Result) -> list[Figure]:
    by = caused(result, "cnp")["by"]
    sent = analysis.final_counters(result, "event")
    by_name = sent.groupby("name")["value"].sum()
    flows = result.connections
    return [
        Figure("data packets marked with CE", int(flows["marked"].sum())),
        Figure("Fast CNPs sent", int(by_name.get("FAST_CNP_SENT", 0))),
        Figure("CNPs sent to END.CON", int(by_name.get("END_CON_CNP_SENT", 0))),
        Figure("CNPs from the ingress PE", int((by == BY_PE).sum())),
        Figure("CNPs from receivers", int((by == BY_RECEIVER).sum())),
        Figure("rate cuts", int((result.notices["what"] == "cut").sum())),
    ]


def _of_queues_and_losses(result: Result) -> list[Figure]:
    depths = analysis.queues(result)
    depths = depths.sort_values("max_packets", ascending=False, kind="stable")
    deepest = depths.iloc[0] if len(depths) else None
    paused = analysis.pauses(result)
    dropped = analysis.drops(result)
    flows = result.connections
    where = f"{deepest['node']} to {deepest['towards']}" if deepest is not None else None
    return [
        Figure("deepest queue", where),
        Figure("  most packets", _of(deepest, "max_packets")),
        Figure("  mean packets", _of(deepest, "mean_packets")),
        Figure("frames lost", int(dropped.loc[dropped["lost"], "frames"].sum())),
        Figure("data packets sent", int(flows["packets"].sum())),
        Figure("  sent again", int(flows["retransmitted"].sum())),
        Figure("  received behind a gap", int(flows["beyond_gap"].sum())),
        Figure("time-outs", int(flows["timeouts"].sum())),
        Figure("pauses", int(paused["pauses"].sum())),
        Figure("  time paused, in all", int(paused["paused_ns"].sum()), "ns"),
        Figure("  deadlocks", len(deadlocks(result))),
    ]


def _of(row: "pd.Series[float] | None", name: str) -> float | None:
    return None if row is None else as_number(row[name])


def _median(values: "pd.Series[float]") -> float | None:
    return as_number(values.astype("float64").median())


def as_number(value: object) -> float | None:
    """None for what a data frame does not know."""
    return None if pd.isna(value) else float(value)  # type: ignore[call-overload,arg-type]
