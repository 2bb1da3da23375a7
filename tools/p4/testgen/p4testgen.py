"""Has p4testgen derive tests from the sources of a program.

p4testgen is part of p4lang/p4c (backends/p4tools) and not included in this project. It reads a copy
of the sources in which what it cannot do is written otherwise, without another meaning for the
first packet of a fresh switch.
"""

import re
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

TOOL = "p4testgen"
HOW_TO_GET = (
    f"{TOOL} is not on PATH; it is built from github.com/p4lang/p4c with -DENABLE_TEST_TOOLS=ON"
)
_COVERAGE = re.compile(r"coverage: ([\d.]+)")
_REWRITTEN = (
    # It fills no selectors: the table has actions of its own.
    (re.compile(r"^.*: selector;\n|^.*implementation = SELECTED_BY.*\n", re.MULTILINE), ""),
    # It has no ranges: an entry is for one depth.
    (re.compile(r": range @name"), ": exact @name"),
    # It does not know a meter's color: the first packet is green.
    (
        re.compile(r"^(#define EXECUTE_METER\(name, index, color\)) .*", re.MULTILINE),
        r"\1 color = GREEN;",
    ),
    # For BMv2: it does not know what is in a header that is not there, nor in a register.
    (
        re.compile(r"^#define UNCLEARED_STRUCT header", re.MULTILINE),
        "#define UNCLEARED_STRUCT struct",
    ),
    (re.compile(r"^( *)[\w.]+\.read\(([\w.]+), .*\);", re.MULTILINE), r"\1\2 = 0;"),
)


class GenerationError(Exception):
    """p4testgen made no test; the message has the end of its output."""


@dataclass(frozen=True, slots=True)
class Source:
    """A program for an architecture: its file below p4src, and what p4testgen is told.

    ports: first and last of those by which packets come and go.
    """

    file: str
    target: str
    arch: str
    ports: tuple[tuple[int, int], ...]
    chip: int = 0


@dataclass(frozen=True, slots=True)
class Generation:
    """Files of tests, and the part of the program's statements that they pass."""

    files: tuple[Path, ...]
    coverage: float


@dataclass(frozen=True, slots=True)
class Limits:
    """tests: how many at most. seconds: after which those that are there are taken. seed: of what
    p4testgen draws. leaving: only packets of which something leaves, by any paths; otherwise paths
    are those with the most statements not passed yet, at whose end most packets are dropped."""

    tests: int
    seconds: float
    seed: int
    leaving: bool


def rewrite(p4src: Path, copy: Path) -> None:
    """Make the copy of the sources that p4testgen reads."""
    for file in p4src.glob("**/*.p4"):
        text = file.read_text()
        for pattern, instead in _REWRITTEN:
            text = pattern.sub(instead, text)
        place = copy / file.relative_to(p4src)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def generate(copy: Path, source: Source, folder: Path, limits: Limits) -> Generation:
    """Write tests of a program, of which rewrite() has made a copy, into a folder. Raises
    GenerationError."""
    folder.mkdir(parents=True)
    command = [TOOL, "--target", source.target, "--arch", source.arch, "--std", "p4-16"]
    command += [f"-D__TARGET_TOFINO__={source.chip}"] if source.chip else []
    command += ["--test-backend", "STF", "--max-tests", str(limits.tests)]
    command += ["--seed", str(limits.seed)]
    command += ["--track-coverage", "STATEMENTS", "--path-selection"]
    command += (
        ["RANDOM_BACKTRACK", "--output-packet-only"]
        if limits.leaving
        else ["GREEDY_STATEMENT_SEARCH"]
    )
    command += ["--port-ranges", ",".join(f"{first}:{last}" for first, last in source.ports)]
    command += ["--out-dir", str(folder), source.file]
    with (folder / "p4testgen.log").open("w+") as log, suppress(subprocess.TimeoutExpired):
        try:
            subprocess.run(
                command, cwd=copy, stdout=log, stderr=log, check=False, timeout=limits.seconds
            )
        except OSError as error:
            raise GenerationError(f"{TOOL} on PATH cannot be run: {error.strerror}") from error
    files = sorted(folder.glob("*.stf"), key=lambda each: int(each.stem.rpartition("_")[2]))
    if not files:
        said = (folder / "p4testgen.log").read_text(errors="replace")
        raise GenerationError(f"{TOOL} made no test of {source.file}: {said[-2000:]}")
    found = _COVERAGE.findall(files[-1].read_text())
    return Generation(tuple(files), float(found[-1]))
