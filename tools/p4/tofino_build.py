"""Runs the Tofino compiler and assembler on one program for one chip.

Both tools are part of p4lang/p4c (backends/tofino) and not included in this project.
"""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tools.p4.programs import P4SRC, chip_source
from tools.p4.tofino_conditions import lost_fields

COMPILER = "p4c-barefoot"
ASSEMBLER = "bfas"
UNREACHABLE = "Can't match parser state due to previous match"
TIME_LIMIT = 3600  # seconds, also on a busy machine; placement tries many table orders
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
    # Otherwise the egress reads 65 octets of every packet, and a shorter one comes out longer
    # (docs/tofino.md).
    Chip("Tofino 1", "tofino", 1, "tna", 12, compiler_flags=("--disable-parse-min-depth-limit",)),
    Chip("Tofino 2", "tofino2", 2, "t2na", 20, compiler_flags=("--no-clot",)),
)


class ToolError(Exception):
    """A tool failed; the message has the end of its output."""


def compiler_version() -> str | None:
    """What the installed compiler calls its version, None where one of the tools is missing.

    Raises ToolError where it cannot be run.
    """
    if shutil.which(COMPILER) is None or shutil.which(ASSEMBLER) is None:
        return None
    try:
        run = subprocess.run([COMPILER, "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise ToolError(f"{COMPILER} on PATH cannot be run: {error.strerror}") from error
    found = re.search(r"Version (\S+)", run.stdout + run.stderr)
    return found.group(1) if found else "of unknown version"


def run(command: list[str], log: Path) -> None:
    """Run a tool. Raises ToolError, with the end of its output."""
    try:
        done = subprocess.run(
            command, cwd=P4SRC, capture_output=True, text=True, check=False, timeout=TIME_LIMIT
        )
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"{command[0]}: not done after {TIME_LIMIT} s") from error
    except OSError as error:
        raise ToolError(f"{command[0]} on PATH cannot be run: {error.strerror}") from error
    log.write_text(done.stdout + done.stderr)
    if done.returncode != 0:
        said = (done.stdout + done.stderr).splitlines()
        lines = [line for line in said if "error" in line] or said
        status = f"exit status {done.returncode}"
        raise ToolError(f"{command[0]}: " + "\n".join(lines[-5:] or [status]))


def p4info_of(program: str, directory: Path) -> Path:
    """The P4Info that compile_program makes."""
    return directory / f"{Path(program).name}.p4info.txtpb"


def compile_program(program: str, chip: Chip, directory: Path, *, place: bool = True) -> None:
    """Place `program` for `chip`; writes assembly, reports and P4Info below `directory`.

    Without `place`, the P4Info is all there is. Raises ToolError.
    """
    p4info = p4info_of(program, directory)
    run(
        [
            COMPILER,
            "--target",
            chip.target,
            "--arch",
            chip.arch,
            "--std=p4-16",
            f"-D__TARGET_TOFINO__={chip.number}",
            *chip.compiler_flags,
            *([] if place else ["--skip-compilation", "pipe"]),
            "-g",
            "--p4runtime-force-std-externs",
            "--p4runtime-files",
            str(p4info),
            "-o",
            str(directory),
            chip_source(program),
        ],
        directory / "compiler.log",
    )
    if not p4info.is_file():
        raise ToolError(f"{COMPILER} on PATH reported success, but made no P4Info")


def assembly(directory: Path) -> Path:
    """The compiler's output, input of the assembler."""
    found = next(directory.glob("**/*.bfa"), None)
    if found is None:
        raise ToolError(f"{COMPILER} on PATH reported success, but made no assembly")
    return found


def assemble(program: str, chip: Chip, directory: Path) -> None:
    """Assemble the chip's configuration. Raises ToolError.

    The compiler can lose match conditions of parser states, for which the assembler only issues a
    warning, and fields of other conditions; here that is a ToolError.
    """
    for condition, field in lost_fields(assembly(directory).read_text()):
        raise ToolError(f"{COMPILER}: {program}: {field} is not matched in {condition}")
    (directory / "assembled" / "logs").mkdir(parents=True)
    run(
        [
            ASSEMBLER,
            "--target",
            chip.target,
            *chip.assembler_flags,
            "-o",
            str(directory / "assembled"),
            str(assembly(directory)),
        ],
        directory / "assembler.log",
    )
    if UNREACHABLE in (directory / "assembler.log").read_text():
        raise ToolError(f"{ASSEMBLER}: {program} has unreachable parser states")
