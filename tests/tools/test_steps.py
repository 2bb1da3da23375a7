"""A step of the P4 programs has one job: its `apply` is short, and no mode is asked for in it."""

import re
from collections.abc import Iterator

from tools.p4.programs import P4SRC

MOST_LINES = 40
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
CONTROL = re.compile(r"^control (\w+)[^;{]*\{(.*?)^\}", re.MULTILINE | re.DOTALL)
APPLY = re.compile(r"^    apply \{\n(.*?)^    \}", re.MULTILINE | re.DOTALL)
DIRECTIVE = re.compile(r"^ *#", re.MULTILINE)


def controls() -> Iterator[tuple[str, str]]:
    """File and name, and body, of each control but deparsers, which list headers in wire order."""
    for file in sorted(P4SRC.rglob("*.p4")):
        text = COMMENT.sub("", file.read_text("utf-8"))
        for name, body in CONTROL.findall(text):
            if not name.endswith("Deparser"):
                yield f"{file.relative_to(P4SRC)} {name}", body


def lines(body: str) -> int:
    return sum(1 for line in "".join(APPLY.findall(body)).splitlines() if line.strip())


def test_steps_are_short() -> None:
    lengths = {name: lines(body) for name, body in controls()}
    assert lengths["v1model/pe.p4 PeIngress"] > 10
    assert lengths["tna/pe.p4 PeIngress"] > 10
    assert [name for name, length in lengths.items() if length > MOST_LINES] == []


def test_steps_do_not_ask_for_modes() -> None:
    assert [name for name, body in controls() if DIRECTIVE.search(body)] == []
