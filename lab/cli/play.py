"""`fcn lab play`."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress

from fcn.contract.pages import PageFileError, check_page_file
from fcn.controller.cli.common import ended_by, err, fail, say
from fcn.controller.cli.common import out as console
from fcn.controller.cli.programs import page_missing
from fcn.lab.cli.reports import names_of
from fcn.lab.errors import LabError

if TYPE_CHECKING:
    from fcn.lab.report.replay_rows import Run
    from fcn.lab.result.folder import Stored
    from fcn.page.hub import Hub

_MOST_LINES = 300_000
"""Links of all moments together: a browser draws and keeps as many with ease."""


def play(
    folders: Annotated[
        list[Path], typer.Argument(help="Folder of a result; of several, to see them at once.")
    ],
    listen: Annotated[
        str, typer.Option(help="Where the page is served: host:port of this machine.")
    ] = "",
    export: Annotated[
        Path | None,
        typer.Option(help="Write the page as one file instead, for any browser.", dir_okay=False),
    ] = None,
) -> None:
    """Show runs in the browser as the live page shows a network: queues, links and messages in
    virtual time, until Ctrl-C. Of several, each moment of all is shown together."""
    if listen and export is not None:
        raise typer.BadParameter("give --listen or --export: a file is not served")
    if missing := page_missing():
        raise fail(missing)
    import asyncio

    from fcn.lab.result.folder import open_result, write_page
    from fcn.page.address import DEFAULT_LISTEN, PageError, url
    from fcn.page.address import listen as listening_on
    from fcn.page.alone import page_alone
    from fcn.page.server import serve
    from fcn.page.stories import of_runs

    names = names_of(folders)
    with ended_by(LabError, PageError, PageFileError):
        if export is not None:
            check_page_file(export)
        stored = [open_result(folder) for folder in folders]
        modes = [each.about.mode for each in stored]
        tags = modes if len(set(modes)) == len(modes) else names
        if export is not None:
            hub = _shown(dict(zip(tags, stored, strict=True)), stories=False)
            write_page(page_alone(hub), export)
            say(f"a page for any browser: {export}")
            return
        listening = listening_on(listen or DEFAULT_LISTEN)
        hub = _shown(dict(zip(tags, stored, strict=True)), stories=True)
    labels = ", ".join(each.about.label for each in stored)
    told = partial(say, f"{labels} in a browser: {url(listening)}")
    asyncio.run(serve(hub, listening, stories=of_runs(folders), ready=told))


def _shown(stored: "dict[str, Stored]", *, stories: bool) -> "Hub":
    """All that is shown of results, by what they are called in the picture; raises LabError."""
    from fcn.lab.report.beside import flows_beside, frames_beside, picture_beside
    from fcn.lab.report.replay import frames_of, picture_of
    from fcn.lab.report.replay_flows import flows_of
    from fcn.lab.report.replay_rows import octets_of, read_run
    from fcn.page.hub import FRAMES, Hub

    until_ns = max(each.about.reached_ns for each in stored.values())
    links = sum(len(each.about.network.links) for each in stored.values())
    moments = max(1, min(FRAMES, _MOST_LINES // max(links, 1)))
    if moments < FRAMES:
        console.print(f"{links:,} links: {moments} moments are shown, of {FRAMES} otherwise")
    hub = Hub()
    with Progress(console=err, transient=True, disable=not err.is_terminal) as bar:
        placing = bar.track(stored.items(), description="placing")
        pictures = {name: picture_of(each.about, stories) for name, each in placing}
        reading = bar.add_task("reading", total=sum(map(octets_of, stored.values())))
        runs: dict[str, Run] = {
            name: read_run(each, moments, until_ns, partial(bar.advance, reading))
            for name, each in stored.items()
        }
        hub.draw(picture_beside(pictures))
        hub.show(flows_beside({name: flows_of(run) for name, run in runs.items()}))
        frames = frames_beside({name: frames_of(run) for name, run in runs.items()})
        for frame in bar.track(frames, moments, description="drawing"):
            hub.show(frame)
    return hub
