"""docs/findings.md, and the README's part of it: two templates with their numbers.

`{{GRID|MODE|CASE|MEASURE}}` is a number, `{{A - B}}` the difference of two such numbers, and
`{{table GRID|CASE|MEASURES}}` a table of all modes of the grid.
"""

import re
from collections.abc import Mapping

from fcn.bench.findings.numbers import GRIDS_FOLDER, Number, Numbers
from fcn.bench.harness import BenchError, with_part
from fcn.lab.report.amounts import NOTHING, show
from fcn.lab.sweep.measures import MEASURES

TEMPLATE = GRIDS_FOLDER / "findings.md.in"
README_TEMPLATE = TEMPLATE.with_name("readme.md.in")
DOCUMENT = GRIDS_FOLDER.resolve().parents[1] / "docs" / "findings.md"
README = DOCUMENT.parents[1] / "README.md"

TITLES: Mapping[str, str] = {
    "goodput_bps": "goodput",
    "completed": "messages done",
    "fct_p99_ns": "completion, p99",
    "slowdown_mean": "slowdown, mean",
    "slowdown_small_p99": "small ones, p99",
    "slowdown_large_p99": "large ones, p99",
    "iteration_mean_ns": "iteration, mean",
    "iteration_max_ns": "longest",
    "job_max_ns": "last job done",
    "queue_max_octets": "peak queue",
    "reaction_median_ns": "reaction",
    "frames_lost": "lost",
    "retransmitted": "sent again",
    "cuts": "cuts",
    "pauses": "pauses",
    "paused_ns": "paused",
    "held": "held",
}
_FIELD = re.compile(r"\{\{(.+?)\}\}")


def render(template: str, grids: Mapping[str, Numbers]) -> str:
    """The document. Raises BenchError, which names what there is no number of."""
    return _FIELD.sub(lambda found: _value(found[1].strip(), grids), template)


def in_readme(text: str, grids: Mapping[str, Numbers]) -> str:
    """The README with what it says of the findings. Raises BenchError."""
    part = render(README_TEMPLATE.read_text(), grids)
    return with_part(text, "findings", "make findings", part)


def write(grids: Mapping[str, Numbers]) -> None:
    """Write both, or none where a number is missing."""
    made = render(TEMPLATE.read_text(), grids), in_readme(README.read_text(), grids)
    for file, text in zip((DOCUMENT, README), made, strict=True):
        file.write_text(text)


def table(numbers: Numbers, case: str, measures: list[str]) -> str:
    """Markdown: a row of each mode. `*` is worse than `ecn`, `†` worse than `none`."""
    lines = ["| mode | " + " | ".join(TITLES[each] for each in measures) + " |"]
    lines.append("|---" * (len(measures) + 1) + "|")
    for mode in numbers.modes:
        cells = [_cell(numbers, mode, case, each) for each in measures]
        lines.append(f"| `{mode}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(numbers: Numbers, mode: str, case: str, measure: str) -> str:
    found = numbers.get(mode, case, measure)
    if found is None:
        return NOTHING
    marks = ""
    for sign, other in (("\\*", "ecn"), ("†", "none")):
        beside = numbers.get(other, case, measure)
        if beside is not None and other != mode and found.worse_than(beside):
            marks += sign
    return f"{found}{marks}"


def _value(text: str, grids: Mapping[str, Numbers]) -> str:
    if text.startswith("table "):
        name, case, measures = text.removeprefix("table ").split("|")
        return table(_grid(name, grids), case, measures.split())
    parts = [_number(each.strip(), grids) for each in text.split(" - ")]
    if len(parts) == 1:
        return str(parts[0])
    if len(parts) != 2:
        raise BenchError(f"{text}: not a difference of two numbers")
    return show(parts[0].mean - parts[1].mean, MEASURES[parts[0].measure])


def _number(text: str, grids: Mapping[str, Numbers]) -> Number:
    try:
        name, mode, case, measure = text.split("|")
    except ValueError:
        raise BenchError(f"{text}: not GRID|MODE|CASE|MEASURE") from None
    return _grid(name, grids).need(mode, case, measure)


def _grid(name: str, grids: Mapping[str, Numbers]) -> Numbers:
    if name not in grids:
        raise BenchError(f"{name}: no grid")
    return grids[name]
