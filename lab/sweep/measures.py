"""What a sweep keeps of a run: numbers, by the names of the table's columns."""

import math
from collections.abc import Mapping

from fcn.lab.report.amounts import Unit
from fcn.lab.report.remarks import goodput_bps
from fcn.lab.result import analysis
from fcn.lab.result.jobs import iterations, jobs
from fcn.lab.result.load import whole_utilization
from fcn.lab.result.model import Result
from fcn.lab.result.reaction import reactions
from fcn.lab.result.slowdown import slowdowns

SMALL, LARGE = 100_000, 1_000_000
"""Octets of messages."""

MEASURES: Mapping[str, Unit] = {
    "goodput_bps": "bps",
    "jain": "ratio",
    "messages": "count",
    "completed": "count",
    "fct_mean_ns": "ns",
    "fct_p99_ns": "ns",
    "slowdown_mean": "ratio",
    "slowdown_median": "ratio",
    "slowdown_p95": "ratio",
    "slowdown_p99": "ratio",
    "slowdown_small_p99": "ratio",
    "slowdown_large_p99": "ratio",
    "iterations": "count",
    "iteration_mean_ns": "ns",
    "iteration_max_ns": "ns",
    "job_max_ns": "ns",
    "utilization": "share",
    "queue_mean_packets": "count",
    "queue_max_packets": "count",
    "queue_max_octets": "octets",
    "congestions": "count",
    "reaction_median_ns": "ns",
    "marked": "count",
    "cnps": "count",
    "cuts": "count",
    "frames_lost": "count",
    "retransmitted": "count",
    "pauses": "count",
    "paused_ns": "ns",
    "held": "count",
    "packet_hops": "count",
}
"""Units by name. goodput_bps: of all connections. jain: of their goodputs. fct: of completed
messages. slowdown: how many times as long they took as alone; small: of up to SMALL octets, large:
of more than LARGE. iterations: of all jobs, completed. job: the one that took longest, if all were
completed. utilization: of the busiest core link, over the whole time. queue: of the queue in which
most packets were; the mean is over time. reaction: from the onset of a congestion to
its first rate cut. marked: data packets with CE at receivers. cnps, cuts: of all senders. pauses,
paused: by PAUSE frames, of the direction of a link that was paused longest. held: packets that
waited in switches because neighbours asked for it."""


def measures_of(result: Result) -> dict[str, float | None]:
    """All of them; None where a run has none."""
    times = analysis.flow_completion(result)
    whole = times[times["size"] == analysis.ALL]
    depths = analysis.queues(result)
    deepest = depths.sort_values("max_packets", ascending=False, kind="stable").head(1)
    dropped = analysis.drops(result)
    flows = result.connections
    found = reactions(result)
    slow = slowdowns(result)
    paused = analysis.pauses(result).sort_values("paused_ns", kind="stable").tail(1)
    counted = analysis.final_counters(result, "event")
    took = iterations(result)["took_ns"].astype("float64")
    slowdown = slow["slowdown"]
    small, large = slowdown[slow["size"] <= SMALL], slowdown[slow["size"] > LARGE]
    values: dict[str, object] = {
        "goodput_bps": goodput_bps(result) if result.about.reached_ns else None,
        "jain": analysis.jain(analysis.goodput(result)["goodput_bps"]),
        "messages": len(analysis.messages(result)),
        "completed": whole["completed"].sum(),
        "fct_mean_ns": whole["mean_ns"].max(),
        "fct_p99_ns": whole["p99_ns"].max(),
        "slowdown_mean": slowdown.mean(),
        "slowdown_median": analysis.percentile(slowdown, 0.5),
        "slowdown_p95": analysis.percentile(slowdown, 0.95),
        "slowdown_p99": analysis.percentile(slowdown, 0.99),
        "slowdown_small_p99": analysis.percentile(small, 0.99),
        "slowdown_large_p99": analysis.percentile(large, 0.99),
        "iterations": took.notna().sum() if len(took) else None,
        "iteration_mean_ns": took.mean(),
        "iteration_max_ns": took.max(),
        "job_max_ns": jobs(result)["completion_ns"].astype("float64").max(skipna=False),
        "utilization": whole_utilization(result)["share"].max(),
        "queue_mean_packets": deepest["mean_packets"].max(),
        "queue_max_packets": deepest["max_packets"].max(),
        "queue_max_octets": deepest["max_octets"].max(),
        "congestions": len(found),
        "reaction_median_ns": found["reaction_ns"].astype("float64").median(),
        "marked": flows["marked"].sum(),
        "cnps": flows["cnps"].sum(),
        "cuts": flows["cuts"].sum(),
        "frames_lost": dropped.loc[dropped["lost"], "frames"].sum(),
        "retransmitted": flows["retransmitted"].sum(),
        "pauses": paused["pauses"].sum(),
        "paused_ns": paused["paused_ns"].sum(),
        "held": counted.loc[counted["name"] == "HOLD_PARKED", "value"].sum(),
        "packet_hops": result.about.hops,
    }
    assert values.keys() == MEASURES.keys()
    return {name: _number(value) for name, value in values.items()}


def _number(value: object) -> float | None:
    number = math.nan if value is None else float(value)  # type: ignore[arg-type]
    return number if math.isfinite(number) else None
