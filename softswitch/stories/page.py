"""Stories as a page that needs nothing else: a tree to open and close."""

import html
from base64 import b64encode
from collections.abc import Iterator, Sequence
from hashlib import sha256

from fcn.contract.pages import GENERATOR
from fcn.softswitch.stories.story import Packet, Step, Story
from fcn.softswitch.stories.text import change_text, title

_STYLE = """
body { font: 14px/1.45 system-ui, sans-serif; margin: 2em; max-width: 75em; color: #222; }
h2 { font-size: 1.1em; margin: 1.5em 0 .3em; }
.packet { border-left: 3px solid #4477aa; padding-left: .8em; margin: .4em 0; }
.packet .packet { border-color: #ee7733; }
.part { color: #777; font-size: .85em; text-transform: uppercase; margin-top: .5em; }
details, .step { margin: .1em 0 .1em 0; }
.step { padding-left: 1.05em; }
summary { cursor: pointer; }
.table { color: #225588; } .end { color: #aa3377; } .sent { color: #228833; }
.silent { display: none; } .all .silent { display: block; color: #888; }
pre { margin: .1em 0 .2em 1.2em; white-space: pre-wrap; overflow-wrap: anywhere; }
.source { color: #999; font-size: .85em; }
"""
_SCRIPT = (
    "document.getElementById('all').onchange ="
    " e => document.body.classList.toggle('all', e.target.checked);"
)


BEGIN = "\n".join([
    "<!doctype html>",
    '<html lang="en"><head><meta charset="utf-8">',
    GENERATOR,
    "<title>Stories of packets</title>",
    f"<style>{_STYLE}</style></head><body>",
    '<label><input type="checkbox" id="all"> also what changes nothing</label>',
    f"<script>{_SCRIPT}</script>",
])  # fmt: skip
"""Of the page, before the stories; what changes nothing is hidden at first."""

END = "</body></html>\n"


def source_of(text: str) -> str:
    """What a Content-Security-Policy calls a style or script that is in the page."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


POLICY = f"default-src 'none'; style-src {source_of(_STYLE)}; script-src {source_of(_SCRIPT)}"
"""Content-Security-Policy of the page where it is served."""


def as_page(stories: Sequence[Story]) -> str:
    return "\n".join([BEGIN, *(story_part(each, at) for at, each in enumerate(stories, 1)), END])


def note_part(text: str) -> str:
    """Something said beside the stories."""
    return f"<p>{html.escape(text)}</p>"


def story_part(story: Story, number: int) -> str:
    return "\n".join(_story(story, number))


def _story(story: Story, number: int) -> Iterator[str]:
    where = f" at {html.escape(story.node)}" if story.node else ""
    yield f"<h2>Story {number}{where}</h2>"
    yield from _packet(story.packet)
    if not story.complete:
        yield f'<p class="end">not complete: {html.escape(story.missing)}</p>'


def _packet(packet: Packet) -> Iterator[str]:
    came = "" if packet.port is None else f" by port {packet.port}"
    yield f'<div class="packet"><b>packet {packet.number}</b> {html.escape(packet.how)}{came}'
    if packet.frame:
        yield f"<pre>{packet.frame}</pre>"
    part = ""
    for step in packet.steps:
        if step.part and step.part != part:
            part = step.part
            yield f'<div class="part">{html.escape(part)}</div>'
        yield from _step(step)
    yield "</div>"


def _step(step: Step) -> Iterator[str]:
    if step.copy is not None:
        yield from _packet(step.copy)
        return
    silent = step.kind in ("statement", "condition", "deparser")
    inside = _inside(step)
    kind = f"{step.kind}{' silent' if silent and not inside else ''}"
    source = f' <span class="source">{html.escape(step.source)}</span>' if step.source else ""
    head = f"{html.escape(title(step))}{source}"
    if inside:
        text = html.escape("\n".join(inside))
        yield f'<details class="{kind}"><summary>{head}</summary><pre>{text}</pre></details>'
    else:
        yield f'<div class="step {kind}">{head}</div>'


def _inside(step: Step) -> list[str]:
    lines = []
    if step.lookup is not None:
        lines += [
            f"key {key.name} = {key.value}{f'  entry {key.entry}' if key.entry else ''}"
            for key in step.lookup.keys
        ]
    for cell in step.cells:
        value = f" = {cell.value}" if cell.value else ""
        lines.append(f"{cell.kind} {cell.array}[{cell.name or cell.index}]{value}")
    lines += [change_text(each.field, each.before, each.after) for each in step.changes]
    return [*lines, *([step.frame] if step.frame else [])]
