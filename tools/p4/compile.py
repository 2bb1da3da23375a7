"""Compile the v1model programs, or check that the committed outputs match the sources.

`python -m tools.p4.compile` runs p4c and writes p4src/compiled/: per profile and program the BMv2
JSON and the P4Info, the P4 constants Python needs (constants.json, with those of every architecture
and the modes of every profile), and manifest.json with hashes of the sources and outputs and the
compiler's version. `--check` needs no compiler: it fails when the sources or outputs differ from
the manifest, the constants from the sources, or a program reads a local variable before it writes
it (assigned.py); where the same p4c is installed it also recompiles and compares. `--constants`
writes constants.json only, and needs no compiler either.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.p4.assigned import UnknownError, read_before_written, uncleared
from tools.p4.direct import direct
from tools.p4.programs import (
    COMPILED,
    MANIFEST,
    P4SRC,
    PROFILE_SOURCES,
    PROFILES,
    PROGRAMS,
    digest,
    profile_folder,
    same_compiler,
    sources,
)
from tools.p4.unreset import Json, flat

COMPILER = "p4c-bm2-ss"
# The controls ensure that one header of each pair is valid; p4c cannot determine which.
FLAGS = (
    "--arch=v1model",
    "--std=p4-16",
    "--Wdisable=invalid-header",
    "--Wdisable=unused",
    "--Wdisable=removed",
    # Headers and `out` arguments: assigned.py proves of the compiled program what is needed.
    "--Wdisable=uninitialized-use",
    "--Wdisable=uninitialized-out-param",
)
CONSTANT_SOURCES = (
    "base/sizes.p4",
    "base/types.p4",
    "flow_control/flow_control_types.p4",
    "fantel/links/link_types.p4",
    "fantel/paths/path_types.p4",
)
# By architecture name in P4Info: file with its constants, and its value of __TARGET_TOFINO__.
ARCHITECTURES = {
    "v1model": ("base/v1model/externs.p4", 0),
    "tna": ("base/tna/externs.p4", 1),
    "t2na": ("base/tna/externs.p4", 2),
}
CHIP_CONDITION = re.compile(r"#if __TARGET_TOFINO__ == (\d+)$")
CONSTANT = re.compile(r"^const [\w<>]+ (\w+) = (0[xX][0-9a-fA-F]+|\d+);", re.MULTILINE)
ENUM = re.compile(r"^enum bit<\d+> (\w+) \{(.*?)^\}", re.MULTILINE | re.DOTALL)
SWITCHED_ON = re.compile(r"^#define HAS_(\w+) 1$", re.MULTILINE)
MEMBER = re.compile(r"(\w+) = (0[xX][0-9a-fA-F]+|\d+)")


class CompilerError(Exception):
    """p4c on PATH is another program, or refused a source; the message says what to do."""


def compiler_version() -> str | None:
    place = shutil.which(COMPILER)
    if place is None:
        return None
    try:
        run = subprocess.run([place, "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise CompilerError(f"{place} is not a p4c: {error.strerror}; correct PATH") from None
    text = (run.stdout + run.stderr).strip()
    if run.returncode or not text:
        raise CompilerError(
            f"{place} is not a p4c: asked for its version it says {text!r} "
            f"(exit status {run.returncode}); correct PATH"
        )
    found = re.search(r"Version (\S+) \(SHA: (\w+)", text)
    return " ".join(found.groups()) if found else text


def outputs(directory: Path) -> list[Path]:
    """The files a compilation writes to `directory`."""
    files = [directory / "constants.json"]
    for profile in PROFILES:
        folder = profile_folder(directory, profile)
        for program in PROGRAMS:
            files += [folder / f"{program}.json", folder / f"{program}.p4info.txtpb"]
    return sorted(files)


def for_chip(text: str, chip: int) -> str:
    """P4 source preprocessed for `__TARGET_TOFINO__ == chip`; other conditions are kept."""
    kept: list[str] = []
    # One entry per open condition: whether its lines are kept, None for conditions on other macros.
    open_conditions: list[bool | None] = []
    for line in text.splitlines():
        condition = CHIP_CONDITION.match(line)
        if condition:
            open_conditions.append(int(condition[1]) == chip)
        elif line.startswith("#if"):
            open_conditions.append(None)
        elif line.startswith("#else") and open_conditions[-1] is not None:
            open_conditions[-1] = not open_conditions[-1]
        elif line.startswith("#endif"):
            open_conditions.pop()
        elif False not in open_conditions:
            kept.append(line)
    return "\n".join(kept)


def numbers(text: str) -> dict[str, object]:
    """Numeric constants and enums of a source, by name."""
    values: dict[str, object] = {key: int(value, 0) for key, value in CONSTANT.findall(text)}
    for enum, body in ENUM.findall(text):
        values[enum] = {key: int(value, 0) for key, value in MEMBER.findall(body)}
    return values


def constants() -> dict[str, object]:
    """Constants and enums of the shared sources, and of each architecture under its name."""
    values: dict[str, object] = {}
    for name in CONSTANT_SOURCES:
        values |= numbers((P4SRC / name).read_text())
    values["profiles"] = {profile: modes_of(profile) for profile in PROFILES}
    values["architectures"] = {
        architecture: numbers(for_chip((P4SRC / name).read_text(), chip))
        for architecture, (name, chip) in ARCHITECTURES.items()
    }
    return values


def modes_of(profile: str) -> list[str]:
    """The modes that the programs of a profile have, besides those of every program. Raises
    CompilerError where they differ."""
    found = {
        tuple(sorted(SWITCHED_ON.findall((PROFILE_SOURCES / profile / f"{name}.p4").read_text())))
        for name in PROGRAMS
    }
    if len(found) != 1:
        raise CompilerError(f"v1model/profiles/{profile}: the programs differ in their modes")
    return list(found.pop())


def constants_text() -> str:
    """The content of constants.json for the present sources."""
    return json.dumps(constants(), indent=2) + "\n"


def prove(name: str, program: Json) -> None:
    """Raises CompilerError when a local variable may be read before it is written (assigned.py)."""
    try:
        found = read_before_written(program)
    except UnknownError as error:
        raise CompilerError(f"{name}: tools/p4/assigned.py does not know {error}") from None
    if found:
        reads = "\n".join(f"  {read.local} in {read.where}" for read in found)
        raise CompilerError(
            f"{name} reads before an assignment what BMv2 does not clear (tools/p4/unreset.py); "
            f"assign a first value:\n{reads}"
        )


def compile_into(directory: Path) -> None:
    """Run p4c on every program of every profile and write the outputs to `directory`. Raises
    CompilerError.
    """
    for profile in PROFILES:
        folder = profile_folder(directory, profile)
        folder.mkdir(parents=True, exist_ok=True)
        for program in PROGRAMS:
            compile_program(f"v1model/profiles/{profile}/{program}.p4", folder, program)
    (directory / "constants.json").write_text(constants_text())


def compile_program(source: str, folder: Path, program: str) -> None:
    """Run p4c on one program. Raises CompilerError.

    The BMv2 JSON is p4c's output, modified so that locals and temporaries are not cleared for every
    packet (unreset.py), and statements are called without tables (direct.py).
    """
    compiled, p4info = folder / f"{program}.json", folder / f"{program}.p4info.txtpb"
    files = ["--p4runtime-files", str(p4info), "-o", str(compiled)]
    done = subprocess.run([COMPILER, *FLAGS, *files, source], cwd=P4SRC, check=False)
    if done.returncode or not (compiled.is_file() and p4info.is_file()):
        raise CompilerError(
            f"{COMPILER} did not compile {source} (exit status {done.returncode}); "
            "what it says is above, and p4src/compiled is as it was"
        )
    made = direct(json.loads(compiled.read_text()))
    try:
        made = uncleared(flat(made))
    except UnknownError as error:
        raise CompilerError(f"{source}: tools/p4/assigned.py does not know {error}") from None
    prove(source, made)
    compiled.write_text(program_text(made))


def program_text(program: Json) -> str:
    """A compiled program, a line for each of its headers, actions, pipelines and the like."""
    short = json.JSONEncoder(separators=(",", ":")).encode

    def text(part: object) -> str:
        return "[" + ",\n".join(map(short, part)) + "]" if isinstance(part, list) else short(part)

    return "{" + ",\n".join(f"{short(name)}:{text(part)}" for name, part in program.items()) + "}\n"


def manifest(directory: Path, version: str) -> dict[str, str]:
    """The manifest: hashes of sources and outputs, compiler version."""
    return {
        "sources": digest(sources("v1model"), P4SRC),
        "outputs": digest(outputs(directory), directory),
        "p4c": version,
    }


def write() -> int:
    """Compile and write all outputs."""
    version = compiler_version()
    if version is None:
        print(f"{COMPILER} is not on PATH; README.md says how to install it", file=sys.stderr)
        return 1
    COMPILED.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        fresh = Path(name)
        compile_into(fresh)
        for file in outputs(fresh):
            place = COMPILED / file.relative_to(fresh)
            place.parent.mkdir(exist_ok=True)
            shutil.copyfile(file, place)
    write_manifest(manifest(COMPILED, version))
    print(f"p4src/compiled written by p4c {version}")
    return 0


def write_manifest(content: dict[str, str]) -> None:
    """Write manifest.json to the folder of the outputs."""
    (COMPILED / MANIFEST).write_text(json.dumps(content, indent=2) + "\n")


def write_constants() -> int:
    """Update constants.json and its hash; the compiled programs are not changed."""
    recorded = json.loads((COMPILED / MANIFEST).read_text())
    (COMPILED / "constants.json").write_text(constants_text())
    write_manifest(recorded | {"outputs": digest(outputs(COMPILED), COMPILED)})
    print("p4src/compiled/constants.json written")
    return 0


def check() -> int:
    """Compare the committed outputs with the sources."""
    recorded = json.loads((COMPILED / MANIFEST).read_text())
    present = manifest(COMPILED, recorded["p4c"])
    for what in ("sources", "outputs"):
        if present[what] != recorded[what]:
            print(
                f"p4src: the {what} do not match p4src/compiled/manifest.json; "
                "run `make p4` and commit the result",
                file=sys.stderr,
            )
            return 1
    for compiled in outputs(COMPILED):
        if compiled.suffix == ".json" and compiled.name != "constants.json":
            prove(str(compiled.relative_to(COMPILED)), json.loads(compiled.read_text()))
    # The manifest covers the v1model sources; constants.json also depends on the TNA sources.
    if (COMPILED / "constants.json").read_text() != constants_text():
        print(
            "p4src/compiled/constants.json does not match the sources; "
            "run `python -m tools.p4.compile --constants` and commit the result",
            file=sys.stderr,
        )
        return 1
    version = compiler_version()
    if version is None or not same_compiler(version, recorded["p4c"]):
        print(f"p4src/compiled matches its sources (not recompiled: p4c here is {version})")
        return 0
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        compile_into(directory)
        for committed, fresh in zip(outputs(COMPILED), outputs(directory), strict=True):
            if committed.read_bytes() != fresh.read_bytes():
                print(
                    f"{committed.relative_to(COMPILED)}: differs from what p4c {version} generates",
                    file=sys.stderr,
                )
                return 1
    print(f"p4src/compiled matches the output of p4c {version}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--check", action="store_true", help="compare, write nothing")
    what.add_argument("--constants", action="store_true", help="write constants.json only")
    options = parser.parse_args()
    try:
        if options.constants:
            return write_constants()
        return check() if options.check else write()
    except CompilerError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
