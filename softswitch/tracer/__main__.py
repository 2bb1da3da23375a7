"""`fcn trace`, as `python -m fcn.softswitch.tracer`: what packets pass in a program.

Exit codes: 0 stories were told, 1 none, or it cannot be asked for, 2 usage error.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from fcn.contract.command_line import Commands
from fcn.contract.ports import LAST_PORT
from fcn.softswitch.proto import trace_pb2 as pb
from fcn.softswitch.stories.filters import SHORT
from fcn.softswitch.stories.story import Story
from fcn.softswitch.tracer.alone import Alone, read_config, read_entries, updates
from fcn.softswitch.tracer.frames import read_hex, read_pcap
from fcn.softswitch.tracer.live import Where, copy_of, tell
from fcn.softswitch.tracer.show import ShowError, say, show


def main(
    port: Annotated[
        int | None, typer.Option(help="Port by which the packets come.", min=0, max=LAST_PORT)
    ] = None,
    match: Annotated[
        list[str] | None,
        typer.Option(
            "--match",
            "-m",
            metavar="FIELD=VALUE[/MASK]",
            help=f"Only packets with this; repeat for more. FIELD: {', '.join(SHORT)}, or one of "
            "the program, such as ipv4.ttl.",
        ),
    ] = None,
    count: Annotated[int, typer.Option("--count", "-c", help="Stories.", min=1, max=1000)] = 1,
    seconds: Annotated[float, typer.Option(help="Wait for them so long.", min=0.1, max=600)] = 10,
    switch: Annotated[
        str, typer.Option(help="A softswitch that runs: host:port or unix:/path, on this machine.")
    ] = "",
    device_id: Annotated[int, typer.Option(help="Of the switch, to read its entries.")] = 0,
    ca: Annotated[Path | None, typer.Option(help="PEM: CA of the switch's certificate.")] = None,
    certificate: Annotated[Path | None, typer.Option(help="PEM: for mutual TLS.")] = None,
    key: Annotated[Path | None, typer.Option(help="PEM: its key.")] = None,
    name: Annotated[str, typer.Option(help="In the switch's certificate, if not its host.")] = "",
    node: Annotated[str, typer.Option(hidden=True)] = "",
    program: Annotated[
        Path | None, typer.Option(help="JSON of p4c-bm2-ss: run it here, with no switch.")
    ] = None,
    p4info: Annotated[Path | None, typer.Option(help="Default: beside the JSON.")] = None,
    entries: Annotated[
        Path | None, typer.Option(help="WriteRequest or ReadResponse in text format.")
    ] = None,
    packet: Annotated[
        list[str] | None, typer.Option(metavar="HEX", help="A frame; repeat for more.")
    ] = None,
    pcap: Annotated[Path | None, typer.Option(help="Frames of a capture, --count of them.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Also what changes nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="A story a line, as JSON.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write a page with the stories.")] = None,
) -> None:
    """Tell what packets pass: parser states, tables, actions, changes, copies, and why they end.

    fcn trace NODE: packets that pass a switch of the network now (--api as of other commands).
    fcn trace NODE --packet HEX --port N: what a copy of that switch would do with a packet.
    fcn trace --program X.json --packet HEX --port N: any v1model program, with no switch.
    """
    if bool(switch) == (program is not None):
        raise typer.BadParameter("give a node or --switch, or --program")
    frames = packet is not None or pcap is not None
    if program is not None and not frames:
        raise typer.BadParameter("--program needs packets: --packet HEX or --pcap FILE")
    if frames and match:
        raise typer.BadParameter("--match chooses among packets that pass; these are given")
    if frames and port is None:
        raise typer.BadParameter("--port says by which port the packets come")
    if entries is not None and not frames:
        raise typer.BadParameter("--entries are for packets that are given: --packet or --pcap")
    where = Where(switch, ca, certificate, key, name)
    try:
        if frames:
            given = _frames(packet or [], pcap, count)
            if program is not None:
                config, state = read_config(program, p4info), []
            else:
                config, found = copy_of(where, device_id)
                state = updates(found)
            state += read_entries(entries) if entries else []
            alone = Alone(config, state, node)
            stories: Iterable[Story] = alone.tell(given, port or 0)
        else:
            request = pb.TellRequest(
                port=port, match=match or [], count=count, milliseconds=int(seconds * 1000)
            )
            stories = _live(where, request, node)
        told = show(stories, full=full, as_json=as_json, html=html)
    except ShowError as error:
        say(f"error: {error}")
        raise typer.Exit(1) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    raise typer.Exit(0 if told else 1)


def _frames(packets: list[str], pcap: Path | None, count: int) -> list[bytes]:
    return [*map(read_hex, packets), *([] if pcap is None else read_pcap(pcap, count))]


def _live(where: Where, request: pb.TellRequest, node: str) -> Iterator[Story]:
    say("the program is built once more, to tell of packets; the first time that takes a while")
    for told in tell(where, request, lambda: say("waiting for packets")):
        if isinstance(told, Story):
            told.node = node
            yield told
            continue
        if told.lost:
            say(f"{told.lost} records had no room: the stories lack them")
        if not told.stories:
            say(f"no packet like that came; {told.passed} others did")


if __name__ == "__main__":
    app = Commands(add_completion=False)
    app.command(name="trace")(main)
    app(prog_name="fcn trace")
