"""The demo's results as a table for the terminal and as one self-contained HTML page."""

import base64
import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from rich.table import Table

from fcn.topologies.demo.checks import Check
from fcn.topologies.demo.congestion import CALM_MS
from fcn.topologies.demo.measure import FIRST_MS, Measurement
from fcn.topologies.demo.plots import Results
from fcn.topologies.demo.scenario import (
    CNP_INTERVAL_US,
    INTERVALS,
    MODE_NAMES,
    MODES,
    Mode,
    Scenario,
)
from fcn.topologies.demo.traffic import RunRecord
from fcn.topologies.network import Target

Records = dict[Mode, RunRecord]
Checks = dict[Mode, list[Check]]

NOTIFICATION_EVENTS = {
    "p": (
        "CE_MARKED",
        "FAST_CNP_TRIGGERED",
        "FAST_CNP_INTERVAL_SUPPRESSED",
        "FAST_CNP_RATE_SUPPRESSED",
        "FAST_CNP_SENT",
    ),
    "pe": ("CE_MARKED", "FAST_CNP_RECEIVED", "OWN_CONGESTION", "CNP_SENT"),
}


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a name, and its value in each run."""

    name: str
    values: dict[Mode, str]


def comparison(scenario: Scenario, results: Results) -> list[Row]:
    """The rows of the comparison of both runs."""

    def row(name: str, text: dict[Mode, str]) -> Row:
        return Row(name, text)

    def each(name: str, values: Iterable[str]) -> Row:
        return row(name, dict(zip(MODES, values, strict=True)))

    def first_cut(measured: Measurement) -> str:
        teller = "ingress PE" if measured.first.by_pe else "receiver"
        return f"{measured.first.sender}, {teller}"

    def spread(measured: Measurement) -> str:
        return f"{measured.reactions_ms[0]:.2f} to {measured.reactions_ms[-1]:.2f} ms"

    ordered = [results[mode] for mode in MODES]
    peak_note = "" if ordered[0].queue_source == "traffic manager" else ", in less out"
    return [
        each(
            "congestion onset to first rate cut, median",
            (f"{m.reaction_ms:.2f} ms" for m in ordered),
        ),
        each("  minimum and maximum", map(spread, ordered)),
        each("  number of congestions", (str(len(m.congestions)) for m in ordered)),
        each("  of these, first cut caused by ingress PE", (str(m.caused_by_pe) for m in ordered)),
        each(
            "the first of them, when the second sender starts",
            (f"{m.first.reaction_ms:.2f} ms" for m in ordered),
        ),
        each("  propagation delay alone", (f"{m.first.bound_ms:.2f} ms" for m in ordered)),
        each("  sender, notified by", map(first_cut, ordered)),
        each(
            f"peak queue of the first {FIRST_MS} ms (packets{peak_note})",
            (f"{m.first_peak_queue:.0f}" for m in ordered),
        ),
        each("peak queue of the run", (f"{m.peak_queue:.0f}" for m in ordered)),
        each("data packets sent", (str(m.sent) for m in ordered)),
        each("data packets dropped", (str(m.lost) for m in ordered)),
        each("data packets marked CE", (str(m.ce_seen) for m in ordered)),
        each("CNPs from the ingress PE", (str(len(m.cnps_from_pe)) for m in ordered)),
        each("CNPs from receivers", (str(len(m.cnps_from_receiver)) for m in ordered)),
        each("goodput", (f"{m.goodput_bps / 1e6:.1f} Mb/s" for m in ordered)),
    ]


def hop_rows(scenario: Scenario, records: Records) -> list[Row]:
    """Notification counters of every hop, then of the hosts."""
    rows = []
    for node in scenario.topology.nodes:
        for event in NOTIFICATION_EVENTS[node.role]:
            values = {
                mode: records[mode].counters[node.name].events.get(event, 0) for mode in MODES
            }
            rows.append(Row(f"{node.name} {event}", {m: str(v) for m, v in values.items()}))
        dropped = [records[mode].counters[node.name].drops for mode in MODES]
        reasons = sorted({reason for drops in dropped for reason in drops if drops[reason]})
        rows += [
            Row(
                f"{node.name} dropped: {reason}",
                {
                    mode: str(records[mode].counters[node.name].drops.get(reason, 0))
                    for mode in MODES
                },
            )
            for reason in reasons
        ]
    for role, event in (("receivers", "cnp_sent"), ("senders", "cnp")):
        what = "CNPs sent" if event == "cnp_sent" else "CNPs received"
        for host in getattr(records[MODES[0]], role):
            counts = {
                mode: sum(1 for _ in getattr(records[mode], role)[host].named(event))
                for mode in MODES
            }
            rows.append(Row(f"{host} {what}", {mode: str(n) for mode, n in counts.items()}))
    return rows


def terminal_table(title: str, rows: Sequence[Row]) -> Table:
    """Rows as a rich table."""
    table = Table(title=title, title_justify="left")
    table.add_column("")
    for mode in MODES:
        table.add_column(MODE_NAMES[mode], justify="right")
    for row in rows:
        table.add_row(row.name, *(row.values[mode] for mode in MODES))
    return table


def _html_table(rows: Sequence[Row]) -> str:
    head = "".join(f"<th>{html.escape(MODE_NAMES[mode])}</th>" for mode in MODES)
    body = "".join(
        f"<tr><td>{html.escape(row.name)}</td>"
        + "".join(f"<td>{html.escape(row.values[mode])}</td>" for mode in MODES)
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>"


def _html_checks(checks: Checks) -> str:
    items = "".join(
        f"<tr><td>{html.escape(MODE_NAMES[mode])}</td><td>{html.escape(check.name)}</td>"
        f"<td>{html.escape(check.left)}</td><td>{check.left_count}</td>"
        f"<td>{html.escape(check.right)}</td><td>{check.right_count}</td>"
        f"<td class='{'good' if check.passed else 'bad'}'>{'=' if check.passed else 'differs'}</td>"
        "</tr>"
        for mode in MODES
        for check in checks[mode]
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
        for number, (depth, interval) in enumerate(
            zip(scenario.settings.thresholds, INTERVALS, strict=True), 1
        )
    )
    flows = "; ".join(
        f"{flow.sender} to {flow.receiver} over IPv{flow.ip_version} from {flow.start_s:g} s, "
        f"{flow.qps} queue pairs of at most {flow.pps} packets/s"
        for flow in scenario.flows
    )
    dcqcn = scenario.dcqcn(scenario.flows[0])
    values = ", ".join(f"{each.name} {getattr(dcqcn, each.name):g}" for each in fields(dcqcn))
    node, peer = scenario.bottleneck
    entries = {
        "switches": target,
        "one-way propagation delays": links,
        "bottleneck": f"{node} towards {peer}, {scenario.bottleneck_pps} packets/s",
        "Fast CNPs per flow": levels,
        "traffic": flows,
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


def html_page(
    scenario: Scenario,
    target: Target,
    results: Results,
    records: Records,
    checks: Checks,
    images: Sequence[Path],
) -> str:
    """The whole report in one page without external parts."""
    ecn, fcn = results["ecn"], results["fcn"]
    pictures = "".join(
        f'<p><img alt="{html.escape(path.stem)}" src="data:image/png;base64,'
        f'{base64.b64encode(path.read_bytes()).decode()}"></p>'
        for path in images
    )
    failed = [check for mode in MODES for check in checks[mode] if not check.passed]
    verdict = (
        f"<p class='bad'>{len(failed)} counters contradict each other.</p>"
        if failed
        else "<p class='good'>The counters of all hops agree.</p>"
    )
    queue_note = (
        "Queue depths are read from the switch every 2 ms."
        if fcn.queue_source == "traffic manager"
        else "Queue depth cannot be read from this switch: shown are packets received less "
        "packets sent, counted on its interfaces, packets being processed included."
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Fast congestion notification</title>
<style>{STYLE}</style></head><body>
<h1>Fast congestion notification: {fcn.reaction_ms:.1f} ms instead of {ecn.reaction_ms:.1f} ms</h1>
<p>From the onset of congestion at {html.escape(scenario.bottleneck[0])} to the first rate cut of a
sender, median: {ecn.reaction_ms:.2f} ms with end-to-end ECN only, {fcn.reaction_ms:.2f} ms with
FCN. The notifications' propagation delays alone are {ecn.first.bound_ms:g} ms and
{fcn.first.bound_ms:g} ms.</p>
{_html_table(comparison(scenario, results))}
<p class="note">Onset: after {CALM_MS} ms without congestion, the first observation of level 1 or
above: a marked packet or a Fast CNP on the link, a sample of the queue depth, or a marked packet at
a receiver; each at its timestamp less its propagation delay. {queue_note}</p>
{pictures}
<h2>Notifications at every hop</h2>
{_html_table(hop_rows(scenario, records))}
<h2>Do the counters agree?</h2>
{verdict}
{_html_checks(checks)}
<h2>Parameters</h2>
{_html_parameters(scenario, target)}
<p class="note">Measured {datetime.now(UTC):%Y-%m-%d %H:%M} UTC.</p>
</body></html>
"""
