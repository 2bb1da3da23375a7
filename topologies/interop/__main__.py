"""`python -m fcn.topologies.interop`: two SoftRoCE guests across DC1 - PE1 - P - PE2 - DC2."""

import sys
from functools import partial
from pathlib import Path
from typing import Annotated, get_args

import typer
from rich.console import Console
from rich.status import Status

from fcn.hosts.guest.channel import GuestError
from fcn.hosts.guest.debian import PackageError
from fcn.hosts.guest.extra_module import BuildError as ModuleBuildError
from fcn.hosts.guest.image import ImageError, guest_image
from fcn.hosts.guest.kernel_modules import ModuleError
from fcn.hosts.guest.qemu import accelerator
from fcn.topologies.command import FAILURES, choose_target
from fcn.topologies.interop import report as reports
from fcn.topologies.interop.run import run
from fcn.topologies.isolation import enter
from fcn.topologies.model import TunnelType

console = Console()
TUNNELS = get_args(TunnelType)
GUEST_FAILURES = (GuestError, ImageError, ModuleBuildError, ModuleError, PackageError)


def main(
    target: Annotated[str, typer.Option(help="softswitch or bmv2")] = "",
    tunnel: Annotated[list[str], typer.Option(help=f"of {', '.join(TUNNELS)}")] = ["srv6", "vxlan"],  # noqa: B006 (typer's way)
    out: Annotated[Path, typer.Option(help="logs and results")] = Path("out/interop"),
) -> None:
    """Run every transfer over every tunnel; exit status 1 when a check fails."""
    chosen = choose_target(target)
    kinds = [kind for kind in TUNNELS if kind in tunnel]
    if len(kinds) != len(set(tunnel)):
        raise typer.BadParameter(f"tunnels are {', '.join(TUNNELS)}")
    good = True
    try:
        # Packages are downloaded before entering namespaces, which have no route to the outside.
        image = guest_image()
        chosen_accelerator = accelerator(image)
        enter("fcn.topologies.interop", sys.argv[1:])
        console.print(f"switches: {chosen}, guests: {chosen_accelerator}, logs in {out}")
        for kind in kinds:
            directory = out / kind
            directory.mkdir(parents=True, exist_ok=True)
            with console.status(kind) as status:
                report = run(
                    kind,
                    chosen,
                    image,
                    directory,
                    partial(_say, status, kind),
                    # Host agents do not depend on the type of tunnel: one run is enough.
                    with_agents=kind == kinds[0],
                )
            reports.show(console, report)
            reports.write(report, directory / "report.json")
            good &= all(reports.checks(report).values())
    except (*FAILURES, *GUEST_FAILURES) as error:
        console.print(f"[red]{error}", soft_wrap=True)
        raise typer.Exit(1) from error
    raise typer.Exit(0 if good else 1)


def _say(status: Status, kind: str, what: str) -> None:
    """Show the step that begins: in place on a terminal, otherwise as a line."""
    if console.is_terminal:
        status.update(f"{kind}: {what}")
    else:
        console.print(f"{kind}: {what}", highlight=False)


if __name__ == "__main__":
    typer.run(main)
