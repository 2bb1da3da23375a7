"""Runs the Tofino compiler and assembler on one program for one chip.

Both tools are part of p4lang/p4c (backends/tofino) and not included in this project.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tools.p4.programs import P4SRC

COMPILER = "p4c-barefoot"
ASSEMBLER = "bfas"
UNREACHABLE = "Can't match parser state due to previous match"
TIME_LIMIT = 1800  # seconds; placement tries many table orders
HOW_TO_GET = (
    f"{COMPILER} and {ASSEMBLER} are not on PATH. Both are built from github.com/p4lang/p4c with "
    "its Tofino backend enabled, as described in p4c's documentation, and with the fix that "
    "docs/tofino.md describes."
)


@dataclass(frozen=True)
class Chip:
    """Resources of one pipe of a chip: stages; SRAM and TCAM blocks and hash units per stage."""

    name: str
    target: str
    number: int
    arch: str
    stages: int
    srams: int = 80
    tcams: int = 24
    hash_units: int = 6
    assembler_flags: tuple[str, ...] = ()
    compiler_flags: tuple[str, ...] = ()


CHIPS = (
    Chip("Tofino 1", "tofino", 1, "tna", 12),
    Chip("Tofino 2", "tofino2", 2, "t2na", 20, compiler_flags=("--no-clot",)),
)


class ToolError(Exception):
    """A tool failed; the message has the end of its output."""


class TooSlowError(ToolError):
    """A tool did not end within TIME_LIMIT."""


def compiler_version() -> str | None:
    """Version of the installed compiler, None when one of the tools is missing."""
    if shutil.which(COMPILER) is None or shutil.which(ASSEMBLER) is None:
        return None
    run = subprocess.run([COMPILER, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"Version (\S+)", run.stdout + run.stderr)
    return found.group(1) if found else "of unknown version"


def run(command: list[str], log: Path) -> None:
    """Run a tool. Raises ToolError, with the end of its output, or TooSlowError."""
    try:
        done = subprocess.run(
            command, cwd=P4SRC, capture_output=True, text=True, check=False, timeout=TIME_LIMIT
        )
    except subprocess.TimeoutExpired as error:
        raise TooSlowError(f"{command[0]}: not done after {TIME_LIMIT} s") from error
    log.write_text(done.stdout + done.stderr)
    if done.returncode != 0:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "error" in line]
        raise ToolError(f"{command[0]}: " + "\n".join(lines[-5:] or ["failed, see " + str(log)]))


def compile_program(
    program: str, chip: Chip, directory: Path, flows: int | None = None, *, place: bool = True
) -> None:
    """Place `program` for `chip`; writes assembly, reports and P4Info below `directory`.

    `flows` is the size of each flow table, None the one in the sources. Without `place`, only the
    P4Info is written.
    """
    run(
        [
            COMPILER,
            "--target",
            chip.target,
            "--arch",
            chip.arch,
            "--std=p4-16",
            f"-D__TARGET_TOFINO__={chip.number}",
            *([f"-DFLOWS={flows}"] if flows else []),
            *chip.compiler_flags,
            *([] if place else ["--skip-compilation", "pipe"]),
            "-g",
            "--p4runtime-force-std-externs",
            "--p4runtime-files",
            str(directory / f"{program}.p4info.txtpb"),
            "-o",
            str(directory),
            f"tna/{program}.p4",
        ],
        directory / "compiler.log",
    )


def assembly(directory: Path) -> Path:
    """The compiler's output, input of the assembler."""
    return next(directory.glob("**/*.bfa"))


def assemble(program: str, chip: Chip, directory: Path) -> None:
    """Assemble the chip's configuration. Raises ToolError.

    The compiler can lose match conditions of parser states, for which the assembler only issues a
    warning; here that is a ToolError.
    """
    (directory / "assembled" / "logs").mkdir(parents=True)
    run(
        [
            ASSEMBLER,
            "--target",
            chip.target,
            *chip.assembler_flags,
            "--log-hashes",
            "-o",
            str(directory / "assembled"),
            str(assembly(directory)),
        ],
        directory / "assembler.log",
    )
    if UNREACHABLE in (directory / "assembler.log").read_text():
        raise ToolError(f"{ASSEMBLER}: {program} has unreachable parser states")
