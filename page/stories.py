"""Stories of packets for the page: what `fcn trace` or `fcn lab trace` tells, as a page of its own.

They run as processes: one enters the namespaces of a network, the other computes.
"""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path

from fcn.page.model import Kind
from fcn.softswitch.stories.page import BEGIN, END, note_part, story_part
from fcn.softswitch.stories.story import from_json

SECONDS = 20
"""How long a switch waits for such a packet."""

LONGEST = 64 << 20
"""Octets of a story as JSON."""

FILTERS = {
    Kind.FAST_CNP: "fast_cnp.word=0/0",
    Kind.END_CON_CNP: "roce_bth.opcode=0x81",
    Kind.ARN: "arn_arn.type=0/0",
    Kind.FANTEL: "fantel_fantel.type=0/0",
    Kind.PAUSE: "pause.opcode=0/0",
}
"""What a PE that receives such a message finds in it; of most the header alone."""

Asked = Mapping[str, str]
"""What the browser asks for: `node` with `kind`, or with `source`, `destination` and `dest_qp` of a
flow; of a run of the laboratory `frame`, and of several `run`."""

Command = Callable[[Asked], Sequence[str]]
"""The module that tells, and its arguments. Raises KeyError or ValueError for what cannot be."""


def of_network(api: str) -> Command:
    """Stories of the next packets at the switches of a controller."""

    def command(asked: Asked) -> Sequence[str]:
        node = asked["node"]
        if not node.isprintable() or node[:1] in ("", "-"):
            raise ValueError(f"{node!r} is no node")
        if "kind" in asked:
            matches = [FILTERS[Kind(asked["kind"])]]
        else:
            source, destination = (ip_address(asked[end]) for end in ("source", "destination"))
            matches = [f"src={source}", f"dst={destination}", f"dest-qp={int(asked['dest_qp'])}"]
        tests = [word for match in matches for word in ("-m", match)]
        options = ["--api", api, "--json", "--seconds", str(SECONDS)]
        return ["fcn.controller.cli.main", "trace", node, *tests, *options]

    return command


def of_runs(folders: Sequence[Path]) -> Command:
    """Stories of frames of results, by their numbers: the run is made once more."""
    results = {str(number): folder for number, folder in enumerate(folders)}

    def command(asked: Asked) -> Sequence[str]:
        number = int(asked["frame"])
        folder = results[asked.get("run", "0")]
        return ["fcn.lab", "trace", str(folder), "--frame", str(number), "--json"]

    return command


async def told(arguments: Sequence[str]) -> AsyncGenerator[bytes, None]:
    """The page, in parts as they come; the process ends with the iterator."""
    yield BEGIN.encode()
    yield note_part(f"fcn {' '.join(arguments[1:])}").encode()
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", *arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=LONGEST,
    )
    parts: asyncio.Queue[str | None] = asyncio.Queue()
    assert process.stdout is not None
    assert process.stderr is not None
    readers = [
        asyncio.create_task(_read(process.stdout, parts, _story)),
        asyncio.create_task(_read(process.stderr, parts, note_part)),
    ]
    try:
        left = len(readers)
        while left:
            part = await parts.get()
            if part is None:
                left -= 1
            else:
                yield part.encode(errors="replace")
        yield f"{note_part('That is all.')}\n{END}".encode()
    finally:
        for reader in readers:
            reader.cancel()
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def _read(
    stream: asyncio.StreamReader, parts: asyncio.Queue[str | None], part: Callable[[str], str]
) -> None:
    try:
        async for line in stream:
            await parts.put(part(line.decode(errors="replace").rstrip()))
    except ValueError as error:
        await parts.put(note_part(f"what was told cannot be shown: {error}"))
    finally:
        await parts.put(None)


def _story(line: str) -> str:
    return story_part(from_json(line), 1)
