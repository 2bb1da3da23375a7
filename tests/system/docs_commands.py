"""Commands that the documentation shows, and what stands for its placeholders."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))

FENCED = re.compile(r"^ *```\w*\n(.*?)^ *```", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(
    r"(?:fcn|fcn-\w+|simple_switch_grpc|make|python|pip|apt-get|git|tshark|ln|export|cd|g\+\+) "
)
"""What a line begins with that is a command; others are what commands print, or no commands."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A command of a page, as it is written there."""

    page: str
    text: str


def shown(page: Path) -> Iterator[Shown]:
    """The commands of a page in their order."""
    name = str(page.relative_to(ROOT))
    for block in FENCED.findall(page.read_text()):
        for line in re.sub(r" *\\\n *", " ", block).splitlines():
            written = re.split(r" +# ", line.strip())[0].removeprefix("$ ")
            for part in written.split(" && "):
                command = part.strip().removeprefix(".venv/bin/").strip()
                if PROGRAM.match(f"{command} "):
                    yield Shown(name, command)
