"""The demo's results as a table for the terminal and as one self-contained HTML page."""

import base64
import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path

from rich.table import Table

from fcn.topologies.demo.check import Check
from fcn.topologies.demo.comparison import NOTHING, Row, comparison_rows
from fcn.topologies.demo.congestion import CALM_MS, Congestion
from fcn.topologies.demo.measure import FIRST_MS, Measurement
from fcn.topologies.demo.modes import DEPTHS, Mode
from fcn.topologies.demo.plots import Results
from fcn.topologies.demo.scenario import CNP_INTERVAL_US, INTERVALS, Scenario
from fcn.topologies.demo.traffic import RunRecord
from fcn.topologies.network import Target

Records = Mapping[str, RunRecord]
Checks = Mapping[str, list[Check]]
"""Both by the names of the modes, in the order in which they are shown."""

# In place of {}: what the modes call a notice.
NOTIFICATION_EVENTS = {
    "p": (
        "CE_MARKED",
        "{}_TRIGGERED",
        "{}_INTERVAL_SUPPRESSED",
        "{}_RATE_SUPPRESSED",
        "{}_SENT",
    ),
    "pe": ("CE_MARKED", "{}_SENT", "{}_RECEIVED", "OWN_CONGESTION", "CNP_SENT"),
}
HOLDING_EVENTS = {
    "p": ("ARN_RECEIVED", "HOLD_BEGUN", "HOLD_PARKED", "HOLD_LEFT"),
    "pe": ("ARN_RECEIVED", "HOLD_BEGUN", "HOLD_PARKED", "HOLD_LEFT", "PAUSE_SENT"),
}
"""In the modes of flow control, besides."""


def comparison(results: Results) -> list[Row]:
    """The table of the modes."""
    return list(comparison_rows([each.figures for each in results.values()]))


def details(results: Results) -> list[Row]:
    """More about each run."""
    return list(_detail_rows(list(results.values())))


def _detail_rows(ordered: Sequence[Measurement]) -> Iterator[Row]:
    def row(name: str, text: Callable[[Measurement], str]) -> Row:
        return Row(name, tuple(map(text, ordered)))

    def of_first(text: Callable[[Congestion], str]) -> Callable[[Measurement], str]:
        return lambda m: text(m.first) if m.first else NOTHING

    def spread(measured: Measurement) -> str:
        times = measured.reactions_ms
        return f"{times[0]:.2f} to {times[-1]:.2f} ms" if times else NOTHING

    def first_cut(first: Congestion) -> str:
        return f"{first.sender}, {'ingress PE' if first.by_pe else 'receiver'}"

    peak_note = "" if ordered[0].queue_source == "traffic manager" else ", in less out"
    yield row("onset to first rate cut, minimum and maximum", spread)
    yield row("  number of congestions answered", lambda m: str(len(m.congestions)))
    yield row("  of these, first cut caused by ingress PE", lambda m: str(m.caused_by_pe))
    yield row(
        "the first of them, when the second sender starts",
        of_first(lambda first: f"{first.reaction_ms:.2f} ms"),
    )
    yield row("  propagation delay alone", of_first(lambda first: f"{first.bound_ms:.2f} ms"))
    yield row("  sender, notified by", of_first(first_cut))
    yield row(
        f"peak queue of the first {FIRST_MS} ms (packets{peak_note})",
        lambda m: f"{m.first_peak_queue:.0f}",
    )
    yield row("data packets sent", lambda m: str(m.sent))
    yield row("data packets marked CE", lambda m: str(m.ce_seen))
    yield row("CNPs from the ingress PE", lambda m: str(len(m.cnps_from_pe)))
    yield row("CNPs from receivers", lambda m: str(len(m.cnps_from_receiver)))
    yield row("goodput of the whole run", lambda m: f"{m.goodput_bps / 1e6:.1f} Mb/s")


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


def terminal_table(title: str, modes: Sequence[Mode], rows: Sequence[Row]) -> Table:
    """Rows as a rich table."""
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for mode in modes:
        table.add_column(mode.title, justify="right")
    for row in rows:
        table.add_row(row.name, *row.values)
    return table


def _html_table(modes: Sequence[Mode], rows: Sequence[Row]) -> str:
    head = "".join(f"<th>{html.escape(mode.title)}</th>" for mode in modes)
    body = "".join(
        f"<tr><td>{html.escape(row.name)}</td>"
        + "".join(f"<td>{html.escape(value)}</td>" for value in row.values)
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>"


def _html_checks(records: Records, checks: Checks) -> str:
    items = "".join(
        f"<tr><td>{html.escape(records[name].mode.title)}</td><td>{html.escape(check.name)}</td>"
        f"<td>{html.escape(check.left)}</td><td>{check.left_count}</td>"
        f"<td>{html.escape(check.right)}</td><td>{check.right_count}</td>"
        f"<td class='{'good' if check.passed else 'bad'}'>{'=' if check.passed else 'differs'}</td>"
        "</tr>"
        for name, of_run in checks.items()
        for check in of_run
    )
    return (
        "<table><thead><tr><th>run</th><th>check</th><th>one count</th><th></th>"
        f"<th>the other</th><th></th><th></th></tr></thead><tbody>{items}</tbody></table>"
    )


def _html_parameters(scenario: Scenario, target: Target) -> str:
    topology = scenario.topology
    links = ", ".join(f"{link.a}-{link.b} {link.delay_ms:g} ms" for link in topology.links)
    levels = ", ".join(
        f"level {number}: from {depth} packets, every {interval}"
        for number, (depth, interval) in enumerate(zip(DEPTHS, INTERVALS, strict=True), 1)
    )
    flows = "; ".join(
        f"{flow.sender} to {flow.receiver} over IPv{flow.ip_version} from {flow.start_s:g} s, "
        f"{flow.qps} queue pairs of at most {flow.pps} packets/s"
        for flow in scenario.flows
    )
    dcqcn = scenario.dcqcn(scenario.flows[0])
    values = ", ".join(f"{each.name} {getattr(dcqcn, each.name):g}" for each in fields(dcqcn))
    node, peer = scenario.bottleneck
    others = "; ".join(
        f"{other.sender} to {other.receiver}, {other.pps} packets/s: {other.place}"
        for other in scenario.others
    )
    entries = {
        "switches": target,
        "one-way propagation delays": links,
        "bottleneck": f"{node} towards {peer}, {scenario.bottleneck_pps} packets/s",
        "notices per flow": levels,
        "traffic": flows,
        "other traffic, UDP without ECN": others,
        "DCQCN reaction point": values,
        "DCQCN notification point": f"a CNP per queue pair at most every {CNP_INTERVAL_US} us",
    }
    rows = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{html.escape(text)}</td></tr>"
        for name, text in entries.items()
    )
    return f"<table class='text'><tbody>{rows}</tbody></table>"


STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:#222}
h1{font-size:1.6em}h2{font-size:1.2em;margin-top:2em}
table{border-collapse:collapse;margin:.5em 0}td,th{padding:.25em .8em;border-bottom:1px solid #ddd}
th{text-align:right}td{text-align:right;font-variant-numeric:tabular-nums}
td:first-child,.text td{text-align:left}img{max-width:100%}.good{color:#1b7837}.bad{color:#b2182b}
.bad{font-weight:bold}p.note{color:#555}
"""


def _headline(results: Results) -> str:
    """The least reaction, beside that of end-to-end ECN where it was run."""
    times = {name: m.reaction_ms for name, m in results.items() if m.reaction_ms is not None}
    if not times:
        return "no sender slowed down"
    best = min(times, key=lambda name: times[name])
    if "ecn" in times and best != "ecn":
        return f"{times[best]:.1f} ms instead of {times['ecn']:.1f} ms"
    return f"{times[best]:.1f} ms"


def html_page(
    scenario: Scenario,
    target: Target,
    results: Results,
    records: Records,
    checks: Checks,
    images: Sequence[Path],
) -> str:
    """The whole report in one page without external parts."""
    modes = [each.mode for each in results.values()]
    pictures = "".join(
        f'<p><img alt="{html.escape(path.stem)}" src="data:image/png;base64,'
        f'{base64.b64encode(path.read_bytes()).decode()}"></p>'
        for path in images
    )
    failed = [check for of_run in checks.values() for check in of_run if not check.passed]
    verdict = (
        f"<p class='bad'>{len(failed)} counters contradict each other.</p>"
        if failed
        else "<p class='good'>The counters of all hops agree.</p>"
    )
    queue_note = (
        "Queue depths are read from the switch every 2 ms."
        if next(iter(results.values())).queue_source == "traffic manager"
        else "Queue depth cannot be read from this switch: shown are packets received less "
        "packets sent, counted on its interfaces, packets being processed included."
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Fast congestion notification</title>
<style>{STYLE}</style></head><body>
<h1>Fast congestion notification: {html.escape(_headline(results))}</h1>
<p>The same traffic in {len(modes)} modes. Reaction: from the onset of congestion at
{html.escape(scenario.bottleneck[0])} to the first rate cut of a sender.</p>
{_html_table(modes, comparison(results))}
<p class="note">Onset: after {CALM_MS} ms without congestion, the first observation of level 1 or
above: a marked packet or a notice of the P node on the link, a sample of the queue depth, or a
marked packet at a receiver; each at its timestamp less its propagation delay. {queue_note}</p>
{pictures}
<h2>Details</h2>
{_html_table(modes, details(results))}
<h2>Notifications at every hop</h2>
{_html_table(modes, hop_rows(scenario, records))}
<h2>Do the counters agree?</h2>
{verdict}
{_html_checks(records, checks)}
<h2>Parameters</h2>
{_html_parameters(scenario, target)}
<p class="note">Measured {datetime.now(UTC):%Y-%m-%d %H:%M} UTC.</p>
</body></html>
"""
