"""What every benchmark has beside what it measures: options, tables, files of results."""

import argparse
import json
import math
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

RESULTS = Path(__file__).parent / "results"
ROOT = RESULTS.resolve().parents[1]
LABORATORY = ROOT / "docs" / "laboratory.md"


class BenchError(Exception):
    """A run in which nothing can be measured; the message says why."""


def positive(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return value


def whole(text: str) -> int:
    """A number of runs, packets or the like."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number above 0")
    return value


def options_of(
    name: str, text: str | None, *, results: bool = True, document: Path | None = None
) -> argparse.ArgumentParser:
    """The command line of `python -m fcn.bench.NAME`; results: with the file of its numbers;
    document: that has its figures."""
    parser = argparse.ArgumentParser(prog=f"python -m fcn.bench.{name}", description=text)
    if results:
        parser.add_argument("--results", type=Path, default=RESULTS / f"{name}.json")
    if document:
        parser.add_argument("--document", type=Path, default=document, help="in which figures are")
    return parser


def machine() -> dict[str, str]:
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    return {
        "cpu": model,
        "cores": str(os.cpu_count()),
        "kernel": platform.release(),
        "commit": _commit(),
    }


def _commit() -> str:
    """The commit that is measured; `changed` behind it where files are not as it has them, other
    than those that benchmarks write. Empty where there is no git."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(ROOT), *arguments]
        return subprocess.check_output(command, stderr=subprocess.DEVNULL, text=True).strip()

    written = (":!bench/results", ":!docs", ":!README.md")
    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", *written)
        return git("rev-parse", "--short=8", "HEAD") + (" changed" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return ""


def with_part(text: str, name: str, command: str, part: str) -> str:
    """A document whose lines of this name, which the command writes, are these. Raises BenchError
    where it has no place for them."""
    begin, end = f"<!-- {name}: written by {command} -->\n", f"<!-- end of {name} -->"
    head, begun, rest = text.partition(begin)
    _, ended, tail = rest.partition(end)
    if not (begun and ended):
        raise BenchError(f"there is no {begin.strip()} … {end}")
    return f"{head}{begin}{part}{end}{tail}"


def write_part(document: Path, name: str, part: str) -> None:
    """Put what `python -m fcn.bench.NAME` writes into a document. Raises BenchError."""
    text = with_part(document.read_text(), name, f"python -m fcn.bench.{name}", part)
    document.write_text(text)


def table_of(
    title: str, names: Iterable[str], numbers: Sequence[str] = (), *, caption: str | None = None
) -> Table:
    made = Table(*names, title=title, caption=caption)
    for column in numbers:
        made.add_column(column, justify="right")
    return made


def write_results(file: Path, content: object) -> None:
    file.parent.mkdir(exist_ok=True)
    plain = json.loads(json.dumps(content, default=_plain))
    file.write_text(_rows(plain) + "\n")


def _rows(value: Any, indent: str = "\n") -> str:  # noqa: ANN401 - whatever JSON has
    """JSON, a row a line: lists and objects of numbers and texts are not broken."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if not any(isinstance(each, dict | list) for each in inside):
        return json.dumps(value)
    deeper = indent + "  "
    if isinstance(value, list):
        return f"[{deeper}{f',{deeper}'.join(_rows(each, deeper) for each in value)}{indent}]"
    items = (f"{json.dumps(key)}: {_rows(each, deeper)}" for key, each in value.items())
    return f"{{{deeper}{f',{deeper}'.join(items)}{indent}}}"


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{value!r} is no result")
