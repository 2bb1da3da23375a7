"""The demo's results as one self-contained HTML page: conclusions first, details folded away."""

import base64
import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime

from fcn.topologies.demo.checks import Check
from fcn.topologies.demo.conclusion import conclusion, fairness_notes, numbers
from fcn.topologies.demo.congestion import CALM_MS
from fcn.topologies.demo.drawing import drawing
from fcn.topologies.demo.modes import DEPTHS
from fcn.topologies.demo.plots import Chart, Results
from fcn.topologies.demo.report import Records, Row, comparison, details, hop_rows, queue_pair_rows
from fcn.topologies.demo.scenario import CNP_INTERVAL_US, INTERVALS, Scenario
from fcn.topologies.network import Target

Checks = Mapping[str, list[Check]]
"""By the names of the modes, in the order in which they are shown."""


def _table(head: Iterable[str], rows: Iterable[Iterable[object]], kind: str) -> str:
    """What is wider than a phone scrolls by itself, not the page."""

    def line(cell: str, values: Iterable[object]) -> str:
        cells = (f"<{cell}>{html.escape(str(value))}</{cell}>" for value in values)
        return f"<tr>{''.join(cells)}</tr>"

    body = "".join(line("td", row) for row in rows)
    head_and_body = f"<thead>{line('th', head)}</thead><tbody>{body}</tbody>"
    return f'<div class="scroll"><table class="{kind}">{head_and_body}</table></div>'


def _folded(summary: str, inside: str) -> str:
    return f"<details><summary>{html.escape(summary)}</summary>{inside}</details>"


def _checks(records: Records, checks: Checks, *, passed: bool) -> str:
    """Comparisons of counters: those that agree, or those that do not."""
    rows = [
        (records[name].mode.title, check.name, check.left, check.left_count, check.right,
         check.right_count, "=" if passed else "differs")
        for name, of_run in checks.items()
        for check in of_run
        if check.passed == passed
    ]  # fmt: skip
    head = ("run", "check", "one count", "", "the other", "", "")
    return _table(head, rows, "agreeing" if passed else "differing")


def _html_parameters(scenario: Scenario, target: Target) -> str:
    topology = scenario.topology
    links = ", ".join(f"{link.a}-{link.b} {link.delay_ms:g} ms" for link in topology.links)
    levels = ", ".join(
        f"level {number}: from {depth} packets, every {interval}"
        for number, (depth, interval) in enumerate(zip(DEPTHS, INTERVALS, strict=True), 1)
    )
    flows = "; ".join(
        f"{flow.sender} to {flow.receiver} over IPv{flow.ip_version}, from {flow.start_s:g} s to "
        f"{scenario.sending_s:g} s of each round, "
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
        "rounds": f"{scenario.rounds} of {scenario.round_s:g} s; {scenario.overload_s:g} s after "
        "each begins, all reaction points are as new: line rate, alpha 1",
        "traffic": flows,
        "other traffic, UDP without ECN": others,
        "DCQCN reaction point": values,
        "DCQCN notification point": f"a CNP per queue pair at most every {CNP_INTERVAL_US} us",
    }
    return _table((), entries.items(), "text")


STYLE = """
*{box-sizing:border-box}
body{font:16px/1.5 system-ui,sans-serif;max-width:1180px;margin:0 auto;padding:1em;color:#222;
overflow-wrap:break-word}
h1{font-size:1.5em;margin:.2em 0}h2{font-size:1.2em;margin-top:1.6em}
svg.network{display:block;width:100%;max-width:760px;height:auto;margin:.5em 0}
.conclusion{font-size:1.1em;font-weight:600;border-left:4px solid #1b7837;padding-left:.7em}
.numbers{display:grid;grid-template-columns:repeat(auto-fit,minmax(220px,1fr));gap:.8em}
.numbers section{border:1px solid #ddd;border-radius:6px;padding:.6em .8em}
.numbers h3{font-size:.9em;font-weight:400;margin:0;color:#555}
.numbers p{display:flex;justify-content:space-between;margin:.2em 0}
.numbers b{font-size:1.25em;font-variant-numeric:tabular-nums}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(340px,100%),1fr));gap:1em;
align-items:start}
.charts img{width:100%;height:auto;display:block}
.scroll{overflow-x:auto}
table{border-collapse:collapse;margin:.5em 0;font-size:.9em}
td,th{padding:.25em .6em;border-bottom:1px solid #ddd}
th{text-align:right}td{text-align:right;font-variant-numeric:tabular-nums}
td:first-child,.text td{text-align:left}
.good,.agreeing td:last-child{color:#1b7837}
.bad,.differing td:last-child{color:#b2182b;font-weight:bold}
summary{cursor:pointer;padding:.5em 0;font-weight:600}details{border-bottom:1px solid #eee}
p.note{color:#555;font-size:.9em}
@media(max-width:600px){.scroll td:first-child{min-width:9em}}
"""


def _numbers(results: Results) -> str:
    titles = [each.mode.title for each in results.values()]
    cards = "".join(
        f"<section><h3>{html.escape(number.name)}</h3>"
        + "".join(
            f"<p><span>{html.escape(title)}</span> <b>{html.escape(value)}</b></p>"
            for title, value in zip(titles, number.values, strict=True)
        )
        + "</section>"
        for number in numbers(results)
    )
    return f'<div class="numbers">{cards}</div>'


def _charts(charts: Sequence[Chart]) -> str:
    shown = "".join(
        f'<img alt="{html.escape(chart.title)}" src="data:image/png;base64,'
        f'{base64.b64encode(chart.path.read_bytes()).decode()}">'
        for chart in charts
        if chart.path is not None
    )
    empty = [chart.title for chart in charts if chart.path is None]
    nothing = "".join(f"<li>{html.escape(title)}</li>" for title in empty)
    return f'<div class="charts">{shown}</div>' + (
        _folded(f"Charts with nothing in them ({len(empty)})", f"<ul>{nothing}</ul>")
        if empty
        else ""
    )


def _verdict(records: Records, checks: Checks) -> str:
    all_of_them = [check for of_run in checks.values() for check in of_run]
    failed = sum(not check.passed for check in all_of_them)
    agree = _folded(
        f"{len(all_of_them) - failed} comparisons of counters agree",
        _checks(records, checks, passed=True),
    )
    if not failed:
        return f"<p class='good'>The counters of all hops agree.</p>{agree}"
    return (
        f"<p class='bad'>{failed} counters contradict each other.</p>"
        f"{_checks(records, checks, passed=False)}{agree}"
    )


def _paragraphs(texts: Iterable[str]) -> str:
    return "".join(f"<p>{html.escape(text)}</p>" for text in texts)


def html_page(
    scenario: Scenario,
    target: Target,
    results: Results,
    records: Records,
    checks: Checks,
    charts: Sequence[Chart],
) -> str:
    """The whole report in one page without external parts."""
    titles = [each.mode.title for each in results.values()]

    def of_modes(rows: Iterable[Row]) -> str:
        return _table(("", *titles), ((row.name, *row.values) for row in rows), "of-modes")

    queue_note = (
        "Queue depths are read from the switch every 2 ms."
        if next(iter(results.values())).queue_source == "traffic manager"
        else "Queue depth cannot be read from this switch: shown are packets received less "
        "packets sent, counted on its interfaces, packets being processed included."
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Fast congestion notification</title>
<style>{STYLE}</style></head><body>
<h1>Fast congestion notification</h1>
{drawing(scenario)}
<p class="conclusion">{html.escape(conclusion(results))}</p>
{_numbers(results)}
<h2>After an onset of congestion</h2>
{_charts([each for each in charts if not each.whole_run])}
{_paragraphs(fairness_notes(results))}
<h2>Numbers</h2>
{of_modes(comparison(results))}
<p class="note">The same traffic in {len(titles)} modes, in rounds: before each onset of congestion
all senders are in the same state, line rate and alpha 1. Onset: in each round, after {CALM_MS} ms
without congestion, the first observation of level 1 or above: a marked packet or a notice of the P
node on the link, a sample of the queue depth, or a marked packet at a receiver; each at its
timestamp less its propagation delay. Time above level 1 per onset is that of its congestion;
in the whole round there are those of senders that have recovered, too: the sooner they are back,
the more. All senders begin a round with alpha 1, so that their first cuts are the deepest: goodput
of long transfers differs less (docs/laboratory.md). {queue_note}</p>
<h2>The whole runs</h2>
{_charts([each for each in charts if each.whole_run])}
<h2>More</h2>
{_folded("Details", of_modes(details(results)))}
{_folded("Goodput and cuts of each queue pair", of_modes(queue_pair_rows(results)))}
{_folded("Notifications at every hop", of_modes(hop_rows(scenario, records)))}
{_folded("Parameters", _html_parameters(scenario, target))}
<h2>Do the counters agree?</h2>
{_verdict(records, checks)}
<p class="note">Measured {datetime.now(UTC):%Y-%m-%d %H:%M} UTC.</p>
</body></html>
"""
