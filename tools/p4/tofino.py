"""Compile, place and assemble the TNA programs for Tofino 1 and 2 and record what the tools report.

`python -m tools.p4.tofino` runs p4c-barefoot and bfas on the programs for both chips and writes
p4src/compiled/tna/ (P4Info, manifest) and the tables of docs/tofino.md.
`--changed` needs no compiler: it says in the manifest and in docs/tofino.md which sources are not
as they were placed, for whoever changes them where the compiler is not to be had.
`--check` needs none either: it fails when what has changed is not said, outputs differ, or
docs/tofino.md is not as the manifest says; where the same compiler is installed it also recompiles
the P4Info and compares.
`--package FOLDER` builds the programs for one chip only (`--chip`: Tofino 1 or 2), and puts there
what a switch takes and what `FCN_P4` may name: P4Info, `pe.bin`, `p.bin`, constants.json; those of
a profile in a folder of its name. Nothing is recorded.
`--commit` is the commit of p4lang/p4c the compiler was built from, which its version does not
contain; it is recorded in the manifest and docs/tofino.md.

Exit status: 0 success, 1 failure, 2 tools not installed.
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from fcn.bench.harness import BenchError
from tools.p4.programs import CHIP_PROGRAMS, chip_sources, same_compiler
from tools.p4.tofino_build import (
    CHIPS,
    HOW_TO_GET,
    Chip,
    ToolError,
    assemble,
    compile_program,
    compiler_version,
    p4info_of,
)
from tools.p4.tofino_package import package
from tools.p4.tofino_record import (
    COMPILED,
    DOCUMENT,
    changed_files,
    documented,
    outputs,
    record,
    record_changed,
    recorded,
)
from tools.p4.tofino_reports import Usage, usage


def say(progress: str) -> None:
    """Print a line in one write and flush it, because several programs are placed concurrently."""
    sys.stdout.write(progress + "\n")
    sys.stdout.flush()


def first_chip(program: str) -> Chip:
    """The first chip that a program is for: its P4Info is kept."""
    return next(chip for chip in CHIPS if chip.number == CHIP_PROGRAMS[program][0])


def build(program: str, chip: Chip, directory: Path) -> Usage:
    """Place and assemble one program, and print the result."""
    directory.mkdir(parents=True)
    say(f"{program} for {chip.name}: placing")
    compile_program(program, chip, directory)
    assembled = True
    try:
        assemble(program, chip, directory)
    except ToolError as error:
        print(error, file=sys.stderr)
        assembled = False
    result = usage(program, chip, directory, assembled)
    say(
        f"{program} for {chip.name}: {result.stages} of {chip.stages} stages, "
        f"{'assembled' if assembled else 'not assembled'}"
    )
    return result


def build_all(chips: Iterable[Chip], directory: Path) -> list[Usage]:
    """Build all programs for the chips, each in a folder of its name in that of its chip. What has
    not begun when one fails, or at Ctrl-C, is left. Raises ToolError."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        builds = [
            pool.submit(build, program, chip, directory / chip.target / program)
            for program, numbers in CHIP_PROGRAMS.items()
            for chip in chips
            if chip.number in numbers
        ]
        try:
            return [done.result() for done in builds]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def write(commit: str) -> int:
    """Build all programs and record the results; `commit`: that of the compiler's sources."""
    version = compiler_version()
    if version is None:
        print(HOW_TO_GET, file=sys.stderr)
        return 2
    sources = chip_sources()
    with tempfile.TemporaryDirectory() as name:
        results = build_all(CHIPS, Path(name))
        if changed := changed_files(sources):
            raise ToolError(f"changed while they were placed: {', '.join(changed)}; run it again")
        COMPILED.mkdir(parents=True, exist_ok=True)
        for program in CHIP_PROGRAMS:
            place = (COMPILED / program).parent
            place.mkdir(exist_ok=True)
            made = Path(name) / first_chip(program).target / program
            shutil.copy(p4info_of(program, made), place)
    record(results, version, commit, sources)
    return 0 if all(result.assembled for result in results) else 1


def make_package(folder: Path, chip: Chip) -> int:
    """Build the programs for a chip, and package them."""
    if compiler_version() is None:
        print(HOW_TO_GET, file=sys.stderr)
        return 2
    # Whether it can be written shows before what takes minutes.
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()
    with tempfile.TemporaryDirectory() as name:
        results = build_all([chip], Path(name))
        if not all(result.assembled for result in results):
            return 1
        package([result.program for result in results], Path(name) / chip.target, folder)
    say(f"{folder} has the programs for {chip.name}")
    return 0


def check() -> int:
    """Compare committed outputs with the sources; with the same compiler, recompile the P4Info."""
    manifest = recorded()
    changed = changed_files(manifest["sources"])
    if changed != manifest["changed"]:
        print(
            f"the programs for chips have changed since they were placed: {', '.join(changed)}; "
            "run `make tofino`, or, without its tools, `python -m tools.p4.tofino --changed`",
            file=sys.stderr,
        )
        return 1
    if different := sorted({name for name, _ in outputs().items() ^ manifest["outputs"].items()}):
        print(f"p4src/compiled/tna/{different[0]} differs from the manifest", file=sys.stderr)
        return 1
    if documented(manifest) != DOCUMENT.read_text():
        print(
            "docs/tofino.md does not have what the manifest says; run `python -m tools.p4.tofino "
            "--changed`",
            file=sys.stderr,
        )
        return 1
    version = compiler_version()
    if version is None or not same_compiler(version, manifest["compiler"]):
        print(f"p4src/compiled/tna matches its sources (not recompiled: compiler is {version})")
        return 0
    with tempfile.TemporaryDirectory() as name:
        for program in CHIP_PROGRAMS:
            directory = Path(name) / program
            directory.mkdir(parents=True)
            compile_program(program, first_chip(program), directory, place=False)
            fresh = p4info_of(program, directory).read_bytes()
            if fresh != p4info_of(program, (COMPILED / program).parent).read_bytes():
                print(f"{program}: p4c {version} generates a different P4Info", file=sys.stderr)
                return 1
    print(f"p4src/compiled/tna matches the output of p4c {version}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--check", action="store_true", help="compare, write nothing")
    choice.add_argument("--changed", action="store_true", help="say what was not placed again")
    choice.add_argument("--package", type=Path, metavar="FOLDER", help="what a switch takes")
    parser.add_argument(
        "--chip",
        type=int,
        choices=[chip.number for chip in CHIPS],
        help="the generation of Tofino --package is for; default: 1",
    )
    parser.add_argument("--commit", help="commit of p4lang/p4c the compiler was built from")
    options = parser.parse_args()
    if options.chip is not None and options.package is None:
        parser.error("--chip is for --package FOLDER, which is not given")
    is_recorded = not (options.check or options.changed or options.package is not None)
    if options.commit is not None and not is_recorded:
        parser.error("--commit is recorded when all is placed: give it alone")
    try:
        if options.check:
            return check()
        if options.changed:
            record_changed()
            return 0
        if options.package is not None:
            (chip,) = (chip for chip in CHIPS if chip.number == (options.chip or 1))
            return make_package(options.package, chip)
        return write(options.commit or "not named")
    except (BenchError, OSError, ToolError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
