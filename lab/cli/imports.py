"""`fcn lab import`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fcn.contract.command_line import Commands
from fcn.controller.cli.common import ended_by, marked, mistyped, say
from fcn.controller.cli.common import out as console
from fcn.lab.errors import LabError

if TYPE_CHECKING:
    from fcn.lab.imports.network import Imported

EXIT_FILE = 3

app = Commands(
    help="Topologies and flows of other simulators, as a scenario and the network it names.",
    no_args_is_help=True,
)

Out = Annotated[
    Path | None,
    typer.Option("-o", "--out", help="Scenario to write; default: NAME.yaml here.", dir_okay=False),
]


@app.command()
def hpcc(
    topology: Annotated[Path, typer.Argument(help="HPCC's topology.txt.")],
    flow: Annotated[Path, typer.Argument(help="HPCC's flow.txt.")],
    out: Out = None,
) -> None:
    """Topology and flows of HPCC's simulator."""
    from fcn.lab.imports.hpcc import read_hpcc

    with ended_by(LabError, code=EXIT_FILE):
        _write(read_hpcc(topology, flow), out or Path(f"{topology.stem}-{flow.stem}.yaml"))


@app.command()
def htsim(
    matrix: Annotated[Path, typer.Argument(help="A connection matrix, NAME.cm.")],
    out: Out = None,
    leaf: Annotated[int, typer.Option(min=1, max=254, help="Hosts of a leaf.")] = 16,
    spines: Annotated[
        int, typer.Option(min=1, max=64, help="Spines, each linked to all leaves.")
    ] = 4,
    rate: Annotated[str, typer.Option(help="Of the hosts' links.")] = "100 Gb/s",
    delay: Annotated[str, typer.Option(help="Of every link, as 1us or 200m.")] = "1us",
) -> None:
    """A connection matrix of htsim, in a network of leaves and spines, which it does not say."""
    from fcn.contract.units import parse_rate
    from fcn.lab.imports.htsim import LeafSpine, read_htsim
    from fcn.topologies.units import parse_delay

    with mistyped():
        shape = LeafSpine(leaf, spines, parse_rate(rate), parse_delay(delay))
    with ended_by(LabError, code=EXIT_FILE):
        _write(read_htsim(matrix, shape), out or Path(f"{matrix.stem}.yaml"))


def _write(imported: "Imported", file: Path) -> None:
    from fcn.lab.imports.write import write_scenario

    plan = write_scenario(imported, file)
    say(
        f"{file}: {len(imported.hosts)} hosts, "
        f"{len(imported.edges) + len(imported.cores)} switches, {len(imported.flows)} flows, "
        f"{plan.scenario.duration / 1e6:g} ms; network {plan.scenario.network}"
    )
    for note in imported.notes:
        console.print(f"[yellow]note:[/] {marked(note)}", highlight=False, soft_wrap=True)
