"""`python -m fcn.topologies.failover`: a link dies under RDMA traffic, and is mended.

Exit status 0: the PE took another path as soon as it could know, the controller being stopped, and
the first one again when the link was mended. 1: otherwise, or something failed; the reason is
printed.
"""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from fcn.contract.command_line import Commands
from fcn.topologies.command import FAILURES, choose_target, say_failure
from fcn.topologies.failover.measure import MeasureError, measure, problems
from fcn.topologies.failover.report import draw, result_table
from fcn.topologies.failover.run import carry_out
from fcn.topologies.isolation import enter
from fcn.topologies.network import make_directory

console = Console()


def main(
    target: Annotated[str, typer.Option(help="softswitch or bmv2; default: what is here")] = "",
    out: Annotated[Path, typer.Option(help="where results go")] = Path("out/failover"),
) -> None:
    """Run the demo."""
    chosen = choose_target(target)
    try:
        enter("fcn.topologies.failover", sys.argv[1:], page=True)
        make_directory(out)
        console.print(f"two disjoint paths from PE1 to PE2 on {chosen}: starting")
        record = carry_out(chosen, out, lambda what: console.print(what, highlight=False))
        measured = measure(record)
        console.print(result_table(measured))
        (out / "result.json").write_text(json.dumps(asdict(measured), indent=2) + "\n")
        draw(record, measured, f"A link dies, on {chosen}", out / "failover.png")
        console.print(f"written: {out / 'failover.png'}, {out / 'result.json'}")
        wrong = list(problems(record, measured))
    except (*FAILURES, MeasureError) as error:
        wrong = [str(error)]
    for problem in wrong:
        say_failure(console, problem)
    if wrong:
        raise typer.Exit(1)


if __name__ == "__main__":
    app = Commands(add_completion=False)
    app.command()(main)
    app()
