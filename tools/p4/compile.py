"""Compile the v1model programs, or check that what is committed is what the sources give.

`python -m tools.p4.compile` runs p4c and writes p4src/compiled/: per program the BMv2 JSON and the
P4Info, the P4 constants Python needs (constants.json), and manifest.json with a hash of the sources
and outputs and the compiler's version. `--check` needs no compiler: it fails when the sources or
outputs are not those of the manifest; where the same p4c is installed it also recompiles and
compares.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.p4.programs import COMPILED, MANIFEST, P4SRC, PROGRAMS, digest, same_compiler, sources

COMPILER = "p4c-bm2-ss"
# The controls are written so that one header of each pair is valid; p4c cannot see which.
FLAGS = (
    "--arch=v1model",
    "--std=p4-16",
    "--Wdisable=invalid-header",
    "--Wdisable=unused",
    "--Wdisable=removed",
)
CONSTANT_SOURCES = ("common/config.p4", "common/types.p4", "v1model/externs.p4")
CONSTANT = re.compile(r"^const [\w<>]+ (\w+) = (0[xX][0-9a-fA-F]+|\d+);", re.MULTILINE)
ENUM = re.compile(r"^enum bit<\d+> (\w+) \{(.*?)^\}", re.MULTILINE | re.DOTALL)
MEMBER = re.compile(r"(\w+) = (0[xX][0-9a-fA-F]+|\d+)")


def compiler_version() -> str | None:
    """What the installed p4c calls itself, None where there is none."""
    if shutil.which(COMPILER) is None:
        return None
    run = subprocess.run([COMPILER, "--version"], capture_output=True, text=True, check=True)
    text = run.stdout + run.stderr
    found = re.search(r"Version (\S+) \(SHA: (\w+)", text)
    return " ".join(found.groups()) if found else text.strip()


def outputs(directory: Path) -> list[Path]:
    """The files a compilation leaves in `directory`."""
    names = ["constants.json"]
    for program in PROGRAMS:
        names += [f"{program}.json", f"{program}.p4info.txtpb"]
    return [directory / name for name in sorted(names)]


def constants() -> dict[str, object]:
    """Numeric constants and enums of the sources, by name."""
    values: dict[str, object] = {}
    for name in CONSTANT_SOURCES:
        text = (P4SRC / name).read_text()
        values.update({key: int(value, 0) for key, value in CONSTANT.findall(text)})
        for enum, body in ENUM.findall(text):
            values[enum] = {key: int(value, 0) for key, value in MEMBER.findall(body)}
    return values


def compile_into(directory: Path) -> None:
    """Run p4c on every program and write the outputs to `directory`."""
    for program in PROGRAMS:
        subprocess.run(
            [
                COMPILER,
                *FLAGS,
                "--p4runtime-files",
                str(directory / f"{program}.p4info.txtpb"),
                "-o",
                str(directory / f"{program}.json"),
                f"v1model/{program}.p4",
            ],
            cwd=P4SRC,
            check=True,
        )
    (directory / "constants.json").write_text(json.dumps(constants(), indent=2) + "\n")


def manifest(directory: Path, version: str) -> dict[str, str]:
    """What identifies a compilation."""
    return {
        "sources": digest(sources("v1model"), P4SRC),
        "outputs": digest(outputs(directory), directory),
        "p4c": version,
    }


def write() -> int:
    """Compile and record."""
    version = compiler_version()
    if version is None:
        print(f"{COMPILER} is not on PATH; README.md says how to install it", file=sys.stderr)
        return 1
    COMPILED.mkdir(exist_ok=True)
    compile_into(COMPILED)
    (COMPILED / MANIFEST).write_text(json.dumps(manifest(COMPILED, version), indent=2) + "\n")
    print(f"p4src/compiled written by p4c {version}")
    return 0


def check() -> int:
    """Compare the committed outputs with the sources."""
    recorded = json.loads((COMPILED / MANIFEST).read_text())
    present = manifest(COMPILED, recorded["p4c"])
    for what in ("sources", "outputs"):
        if present[what] != recorded[what]:
            print(
                f"p4src: the {what} are not those p4src/compiled was made of; "
                "run `make p4` and commit the result",
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
                print(f"{committed.name}: p4c {version} makes something else", file=sys.stderr)
                return 1
    print(f"p4src/compiled is what p4c {version} makes of the sources")
    return 0


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    return check() if parser.parse_args().check else write()


if __name__ == "__main__":
    sys.exit(main())
