"""Output of `make interop`: a table of transfers, the CNPs, the loss of a guest."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from fcn.topologies.interop.run import Report

GOOD, BAD = "[green]yes[/]", "[bold red]NO[/]"


def checks(report: Report) -> dict[str, bool]:
    """All checks and whether they hold."""
    found = {
        f"{each.transfer}: {what}": holds
        for each in report.outcomes
        for what, holds in (("succeeds", each.succeeded), ("mapping", each.mapping_right))
    }
    for family in (4, 6):
        arrived = [cnp for cnp in report.cnps if cnp.family == family]
        found |= {
            f"CNPs over IPv{family} reach the sender": bool(arrived),
            f"CNPs over IPv{family}: ICRC valid": all(cnp.icrc_valid for cnp in arrived),
            f"CNPs over IPv{family}: to a queue pair of the guest": all(
                cnp.dest_qp in report.queue_pairs[family] for cnp in arrived
            ),
        }
    found["the same routine accepts the guest's own ICRCs"] = (
        0 < report.own_checked == report.own_valid
    )
    if report.evidence is not None:
        found["every CNP passed the guest's IP, UDP and GID checks, and nothing else was lost"] = (
            report.evidence.dropped == len(report.cnps)
        )
        seen = report.evidence.cnps
        found |= {
            "the guest's kernel finds the DestQP of every CNP": (
                0 < len(report.cnps) == seen.arrived == seen.found
            ),
            "its queue pair's state, peer and P_Key match": seen.found == seen.checked,
            "the guest's kernel accepts the ICRC of every CNP": seen.checked == seen.valid,
        }
    found |= {
        f"the kernel's checks on test CNPs: {each.what}": each.holds for each in report.controls
    }
    if report.agents is not None:
        found |= {f"host agents: {what}": holds for what, holds in report.agents.checks().items()}
    return found | {f"a guest is killed: {what}": holds for what, holds in report.death.items()}


def show(console: Console, report: Report) -> None:
    table = Table(title=f"SoftRoCE over {report.tunnel}", title_justify="left", box=None)
    for column in ("transfer", "IP", "CM", "QPs", "ok", "pairs", "mapped", "unknown",
                   "wrong", "exact", "CNPs"):  # fmt: skip
        table.add_column(column, no_wrap=True)
    for each in report.outcomes:
        seen = each.comparison
        table.add_row(
            each.transfer.name,
            f"v{each.transfer.family}",
            "yes" if each.transfer.cm else "no",
            str(each.transfer.queue_pairs),
            (GOOD if each.succeeded else BAD) + (f"/{each.attempts}" if each.attempts > 1 else ""),
            str(len(seen.reported)),
            str(len(seen.right)),
            str(len(seen.unknown)),
            str(len(seen.wrong)),
            (GOOD if seen.exact and each.released else BAD) if each.transfer.cm else "-",
            str(each.cnps),
        )
    console.print(table)
    console.print(
        "ok/n: in attempt n; pairs: directions of queue pairs both guests report; mapped: with the "
        "right source QP in the controller's mapping; exact: all of them and nothing else, and "
        "nothing after the end",
        style="dim",
        highlight=False,
    )
    valid = sum(cnp.icrc_valid for cnp in report.cnps)
    console.print(
        f"{len(report.cnps)} CNPs on the sender's TAP, {valid} with a valid ICRC; by the same "
        f"routine that of {report.own_valid} of {report.own_checked} of the guest's own packets is",
        highlight=False,
    )
    if report.evidence is not None:
        passed = report.evidence.cnps
        console.print(
            f"the guest's kernel: of {passed.arrived} CNPs it finds the DestQP of {passed.found}, "
            f"state, peer and P_Key match for {passed.checked}, it accepts the ICRC of "
            f"{passed.valid}; of {report.evidence.entered} RoCEv2 packets it accepted "
            f"{report.evidence.counted}, all but the CNPs, which Linux does not handle",
            highlight=False,
        )
    told = ", ".join(f"{each.what} {each.seen}" for each in report.controls)
    console.print(f"test CNPs: {told}; {report.seconds:.0f} s", highlight=False)
    if report.agents is not None:
        named = ", ".join(
            f"IPv{each.family} {len(each.by_agent)} of {len(each.pairs)}"
            for each in report.agents.flows
        )
        console.print(
            f"host agents: flows learned: {named}; {report.agents.accepted} reports accepted, "
            f"{report.agents.refused} of another host's queue pairs rejected; "
            f"{report.agents.seconds:.0f} s",
            highlight=False,
        )
    for what, holds in checks(report).items():
        if not holds:
            console.print(f"[bold red]failed:[/] {what}", highlight=False)
    for each in report.outcomes:
        if not each.succeeded:
            console.print(each.client.output + each.server.output, markup=False, highlight=False)


def write(report: Report, path: Path) -> None:
    def plain(value: object) -> Any:  # noqa: ANN401 (JSON value)
        return sorted(map(str, value)) if isinstance(value, (set, frozenset)) else str(value)

    data = asdict(report) | {"checks": checks(report)}
    path.write_text(json.dumps(data, indent=2, default=plain) + "\n")
