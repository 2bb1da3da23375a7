"""The demo's results as rows of tables, and as tables for the terminal."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from fcn.topologies.demo.measure import FIRST_MS, Cuts, Measurement, Other
from fcn.topologies.demo.plots import Results, quartiles
from fcn.topologies.demo.scenario import Scenario
from fcn.topologies.demo.traffic import RunRecord

Records = Mapping[str, RunRecord]
"""By the names of the modes, in the order in which they are shown."""

# In place of {}: what the modes call a notice.
NOTIFICATION_EVENTS = {
    "p": ("CE_MARKED", "{}_TRIGGERED", "{}_INTERVAL_SUPPRESSED", "{}_RATE_SUPPRESSED", "{}_SENT"),
    "pe": ("CE_MARKED", "{}_SENT", "{}_RECEIVED", "OWN_CONGESTION", "CNP_SENT"),
}
HOLDING_EVENTS = {
    "p": ("ARN_RECEIVED", "HOLD_BEGUN", "HOLD_PARKED", "HOLD_LEFT"),
    "pe": ("ARN_RECEIVED", "HOLD_BEGUN", "HOLD_PARKED", "HOLD_LEFT", "PAUSE_SENT"),
}
"""In the modes of flow control, besides."""


NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: a name, and its value in each run."""

    name: str
    values: tuple[str, ...]


def comparison(results: Results) -> Iterator[Row]:
    """The table of the modes, in the order of the runs. Delays are beyond propagation."""
    ordered = list(results.values())

    def row(name: str, text: Callable[[Measurement], str]) -> Row:
        return Row(name, tuple(map(text, ordered)))

    yield row("onset to first rate cut, median", lambda m: time_text(m.reaction_ms))
    yield row("  quartiles", lambda m: _spread(m.reactions_ms))
    yield row("time above level 1 per onset, median", lambda m: f"{m.time_above_ms:.0f} ms")
    yield row("  quartiles", lambda m: _spread(m.above_ms))
    yield row(
        "  in the whole round, later congestions too", lambda m: f"{m.round_time_above_ms:.0f} ms"
    )
    if any(each.held for each in ordered):
        yield row("  to first pause of a sender, median", lambda m: time_text(m.pause_ms))
        yield row("packets held by neighbours", lambda m: f"{m.held:,}")
    yield row("peak queue (packets)", lambda m: f"{m.peak_queue:.0f}")
    yield row("packets dropped", lambda m: f"{m.dropped:,}")
    for sender in ordered[0].goodputs_bps:
        yield row(
            f"goodput of {sender}",
            lambda m, s=sender: rate_text(m.sender_goodputs_bps[s]),  # type: ignore[misc]
        )
    yield row("  of all senders", lambda m: rate_text(m.total_goodput_bps))
    yield row(
        "  Jain's index of queue pairs",
        lambda m: NOTHING if m.fairness is None else f"{m.fairness:.3f}",
    )
    for number, other in enumerate(ordered[0].others):
        yield row(
            f"other traffic, {other.place}: delay, p99",
            lambda m, n=number: time_text(m.others[n].delay_ms),  # type: ignore[misc]
        )
        yield row("  lost", lambda m, n=number: _lost(m.others[n]))  # type: ignore[misc]


def time_text(ms: float | None) -> str:
    """A time in milliseconds, or in microseconds below one."""
    if ms is None:
        return NOTHING
    return f"{ms:.2f} ms" if ms >= 1 else f"{1000 * ms:.2f} us"


def rate_text(bps: float) -> str:
    """A rate in Mb/s: links of the demo have no more."""
    return f"{bps / 1e6:.2f} Mb/s"


def _lost(other: Other) -> str:
    return f"{100 * other.lost / other.sent:.1f} %" if other.sent else NOTHING


def _spread(values: Sequence[float]) -> str:
    if not values:
        return NOTHING
    lower, _, upper = quartiles(values)
    return f"{lower:.2f} to {upper:.2f} ms"


def details(results: Results) -> Iterator[Row]:
    ordered = list(results.values())

    def row(name: str, text: Callable[[Measurement], str]) -> Row:
        return Row(name, tuple(map(text, ordered)))

    def extremes(measured: Measurement) -> str:
        times = measured.reactions_ms
        return f"{times[0]:.2f} to {times[-1]:.2f} ms" if times else NOTHING

    def bounds(measured: Measurement) -> str:
        found = sorted({each.bound_ms for each in measured.answers})
        return ", ".join(f"{each:.2f} ms" for each in found) or NOTHING

    def who_cut(measured: Measurement) -> str:
        counts = Counter(
            (each.sender, "ingress PE" if each.by_pe else "receiver") for each in measured.answers
        )
        return ", ".join(
            f"{sender} by {teller} {count}" for (sender, teller), count in sorted(counts.items())
        )

    peak_note = "" if ordered[0].queue_source == "traffic manager" else ", in less out"
    yield row("onsets with all senders as new", lambda m: str(len(m.onsets)))
    yield row("  others, left out: somebody had cut before", lambda m: str(m.disturbed))
    yield row("  answered by a rate cut", lambda m: str(len(m.answers)))
    yield row("  who cut first, told by whom", lambda m: who_cut(m) or NOTHING)
    yield row("  onset to first rate cut, minimum and maximum", extremes)
    yield row("  propagation delay alone", bounds)
    yield row(
        f"  peak queue of {FIRST_MS} ms (packets{peak_note}), median",
        lambda m: f"{median(m.peaks):.0f}",
    )
    yield row("congestions answered, later ones of a round too", lambda m: str(len(m.congestions)))
    yield row("  of these, first cut caused by ingress PE", lambda m: str(m.caused_by_pe))
    yield row("data packets sent", lambda m: str(m.sent))
    yield row("data packets marked CE", lambda m: str(m.ce_seen))
    yield row("CNPs from the ingress PE", lambda m: str(len(m.cnps_from_pe)))
    yield row("CNPs from receivers", lambda m: str(len(m.cnps_from_receiver)))
    yield row("goodput of the whole run, pauses included", lambda m: rate_text(m.goodput_bps))


def cuts_text(cuts: Cuts) -> str:
    return f"{cuts.count} cuts of {100 * cuts.depth:.1f} %"


def queue_pair_rows(results: Results) -> list[Row]:
    """Goodput and cuts of each queue pair: what fairness is made of."""
    rows = []
    for sender, of_qps in next(iter(results.values())).goodputs_bps.items():
        for number in range(len(of_qps)):
            texts = (
                f"{rate_text(each.goodputs_bps[sender][number])}, {cuts_text(cuts)}"
                for each in results.values()
                for cuts in [each.cuts[sender][number]]
            )
            rows.append(Row(f"{sender}, queue pair {number + 1}", tuple(texts)))
    return rows


def hop_rows(scenario: Scenario, records: Records) -> list[Row]:
    """Notification counters of every hop, then of the hosts."""
    runs = list(records.values())
    kinds = [run.mode.notice.kind for run in runs]
    events_of = {
        role: dict.fromkeys(name.format(kind) for name in names for kind in kinds)
        for role, names in NOTIFICATION_EVENTS.items()
    }
    if any(run.mode.holds for run in runs):
        for role, names in HOLDING_EVENTS.items():
            events_of[role] |= dict.fromkeys(names)
    rows = []
    for node in scenario.topology.nodes:
        counted = [run.counters[node.name] for run in runs]
        rows += [
            Row(f"{node.name} {event}", tuple(str(each.events.get(event, 0)) for each in counted))
            for event in events_of[node.role]
        ]
        reasons = sorted({why for each in counted for why, count in each.drops.items() if count})
        rows += [
            Row(
                f"{node.name} dropped: {reason}",
                tuple(str(each.drops.get(reason, 0)) for each in counted),
            )
            for reason in reasons
        ]
    for role, event in (("receivers", "cnp_sent"), ("senders", "cnp")):
        what = "CNPs sent" if event == "cnp_sent" else "CNPs received"
        for host in getattr(runs[0], role):
            counts = (sum(1 for _ in getattr(run, role)[host].named(event)) for run in runs)
            rows.append(Row(f"{host} {what}", tuple(map(str, counts))))
    return rows
