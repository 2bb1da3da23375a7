"""Compile, place and assemble the TNA programs for Tofino 1 and 2 and record what the tools report.

`tofino.py` runs p4c-barefoot and bfas on both programs for both chips and writes
p4src/compiled/tna/ (P4Info, ICRC hash matrices, manifest) and the tables of docs/tofino.md.
`tofino.py --sweep` also grows the flow tables until they no longer fit and draws the plot.
`tofino.py --check` needs no compiler: it fails when the sources or outputs are not those of the
manifest; where the same compiler is installed it also recompiles the P4Info and compares.
`--commit` names the commit of p4lang/p4c the compiler was built from, which it does not know
itself; it is recorded and stands in docs/tofino.md.

Both tools are part of p4lang/p4c (backends/tofino); nothing of them is kept here. Exit status: 0
done, 1 failed, 2 tools not installed.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from tools.p4.tofino_hashes import HashLogError, hash_matrix

ROOT = Path(__file__).resolve().parents[2] / "p4src"
COMPILED = ROOT / "compiled" / "tna"
DOCUMENT = ROOT.parent / "docs" / "tofino.md"
SWEEP_RESULTS = ROOT.parent / "docs" / "tofino-flows.json"
SWEEP_PLOT = ROOT.parent / "docs" / "tofino-flows.png"
COMPILER = "p4c-barefoot"
ASSEMBLER = "bfas"
PROGRAMS = ("pe", "p")
# The ICRC of a CNP, by IP version: what the compiler calls the tables that hash, and the result.
ICRC = "sender_notification_icrc_crc"
ICRC_HASHES = {
    "ipv4": "tbl_sender_notification_icrc_hash_ipv4",
    "ipv6": "tbl_sender_notification_icrc_hash_ipv6",
}
# Flows per address family that the sweep tries.
SWEEP = (16384, 32768, 49152, 65536)
# Stages a program takes, or why there are none.
Outcome = int | str
UNREACHABLE = "Can't match parser state due to previous match"
TIME_LIMIT = 1800  # seconds; placement tries many orders of tables
HOW_TO_GET = (
    f"{COMPILER} and {ASSEMBLER} are not on PATH. Both are built from github.com/p4lang/p4c with "
    "its Tofino backend enabled, as p4c's own documentation says, and with the fix that "
    "docs/tofino.md names."
)


@dataclass(frozen=True)
class Chip:
    """What one pipe of a chip has: stages, and per stage SRAM and TCAM blocks and hash units."""

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


@dataclass(frozen=True)
class Usage:
    """What a placed program takes of one pipe, counted from the compiler's report."""

    program: str
    chip: str
    stages: int
    srams: int
    tcams: int
    phv_bits: int
    hash_units: int
    parser_rows_ingress: int
    parser_rows_egress: int
    assembled: bool


class ToolError(Exception):
    """A tool refused a program; the message carries its last words."""


class TooSlowError(ToolError):
    """A tool did not end in TIME_LIMIT."""


def sources() -> list[Path]:
    """The P4 files of the TNA programs, in a stable order."""
    return sorted([*ROOT.glob("common/*.p4"), *ROOT.glob("tna/*.p4")])


def digest(paths: Iterable[Path]) -> str:
    """SHA-256 over names and contents."""
    total = hashlib.sha256()
    for path in paths:
        total.update(f"{path.relative_to(ROOT)}\0".encode())
        total.update(path.read_bytes())
    return total.hexdigest()


def compiler_version() -> str | None:
    """What the installed compiler calls its version, None where one of the tools is missing."""
    if shutil.which(COMPILER) is None or shutil.which(ASSEMBLER) is None:
        return None
    run = subprocess.run([COMPILER, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"Version (\S+)", run.stdout + run.stderr)
    return found.group(1) if found else "of unknown version"


def run(command: list[str], log: Path) -> None:
    """Run a tool; ToolError with the end of what it said when it fails or takes too long."""
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=TIME_LIMIT
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
    """Place `program` for `chip`: assembly, reports and P4Info below `directory`.

    `flows` is the size of each flow table; None leaves what the sources say. Without `place`,
    the P4Info is all there is.
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
    """What the compiler hands to the assembler."""
    return next(directory.glob("**/*.bfa"))


def assemble(program: str, chip: Chip, directory: Path) -> None:
    """Make the chip's configuration from the assembly.

    The compiler has been seen to lose what parser states match on, which the assembler only warns
    of; here that is a ToolError.
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
        raise ToolError(f"{ASSEMBLER}: {program} has parser states that nothing reaches")


def usage(program: str, chip: Chip, directory: Path, assembled: bool) -> Usage:
    """Count a placement's resources in the compiler's resources.json and phv.json."""
    report = json.loads(next(directory.glob("**/resources.json")).read_text())["resources"]
    stages = report["mau"]["mau_stages"]
    used = [s["stage_number"] for s in stages if s["logical_tables"]["ids"]]
    rows = {p["gress"]: len(p["states"]) for p in report["parser"]["parsers"]}
    phv = json.loads(next(directory.glob("**/phv.json")).read_text())
    bits = {
        (container["phv_number"], bit)
        for container in phv["containers"]
        for piece in container["slices"]
        for bit in range(piece["slice_info"]["lsb"], piece["slice_info"]["msb"] + 1)
    }
    return Usage(
        program=program,
        chip=chip.name,
        stages=max(used) + 1,
        srams=sum(len(s["rams"]["srams"]) for s in stages),
        tcams=sum(len(s["tcams"]["tcams"]) for s in stages),
        phv_bits=len(bits),
        hash_units=sum(len(s["hash_distribution_units"]["units"]) for s in stages),
        parser_rows_ingress=rows.get("ingress", 0),
        parser_rows_egress=rows.get("egress", 0),
        assembled=assembled,
    )


def icrc_matrices(directory: Path) -> dict[str, object]:
    """The matrices of a PE's ICRC hashes as assembled; seeds and columns in hexadecimal."""
    text = assembly(directory).read_text()
    log = (directory / "assembled" / "logs" / "mau.hashes.log").read_text()
    matrices: dict[str, object] = {}
    for version, table in ICRC_HASHES.items():
        matrix = hash_matrix(text, log, table, ICRC)
        matrices[version] = {
            "seed": f"{matrix.seed:08x}",
            "columns": {
                field: " ".join(f"{flips:08x}" for flips in columns)
                for field, columns in matrix.columns.items()
            },
        }
    return matrices


def report_table(results: Iterable[Usage]) -> str:
    """Markdown: one row per program and chip, against what one pipe has."""
    chips = {chip.name: chip for chip in CHIPS}
    lines = [
        "| program | chip | stages | SRAM blocks | TCAM blocks | PHV bits "
        "| hash-distribution units | parser rows in / out | assembled |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for r in results:
        chip = chips[r.chip]
        lines.append(
            f"| {r.program} | {r.chip} | {r.stages} of {chip.stages} "
            f"| {r.srams} of {chip.stages * chip.srams} | {r.tcams} of {chip.stages * chip.tcams} "
            f"| {r.phv_bits} | {r.hash_units} of {chip.stages * chip.hash_units} "
            f"| {r.parser_rows_ingress} / {r.parser_rows_egress} of 256 each "
            f"| {'yes' if r.assembled else 'no'} |"
        )
    return "\n".join(lines)


def sweep_table(results: dict[str, dict[str, Outcome]]) -> str:
    """Markdown: stages of the PE by flows per address family."""
    limits = {chip.name: chip.stages for chip in CHIPS}
    lines = [
        "| flows per family | " + " | ".join(results) + " |",
        "|---" * (len(results) + 1) + "|",
    ]
    for flows in SWEEP:
        cells = [
            f"{stages} stages{'' if stages <= limits[chip] else ': does not fit'}"
            if isinstance(stages := by_flows[str(flows)], int)
            else stages
            for chip, by_flows in results.items()
        ]
        lines.append(f"| {flows} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def replace_between(text: str, name: str, content: str) -> str:
    """The document with what stands between the two markers called `name` replaced."""
    begin, end = f"<!-- {name}: written by tools/p4/tofino.py -->", f"<!-- end of {name} -->"
    if begin not in text or end not in text:
        raise ToolError(f"{DOCUMENT} has no marker {begin!r} ... {end!r}")
    head, rest = text.split(begin, 1)
    return f"{head}{begin}\n{content}\n{end}{rest.split(end, 1)[1]}"


def say(progress: str) -> None:
    """A line at once and whole, for several programs are placed at a time."""
    sys.stdout.write(progress + "\n")
    sys.stdout.flush()


def build(program: str, chip: Chip, directory: Path) -> Usage:
    """Place and assemble one program, and say so."""
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


def write(commit: str) -> int:
    """Build everything and record it, and `commit` as what the compiler was built from."""
    version = compiler_version()
    if version is None:
        print(HOW_TO_GET, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            builds = [
                pool.submit(build, program, chip, Path(name) / chip.target / program)
                for program in PROGRAMS
                for chip in CHIPS
            ]
            results = [done.result() for done in builds]
        COMPILED.mkdir(parents=True, exist_ok=True)
        first = Path(name) / CHIPS[0].target
        for program in PROGRAMS:
            shutil.copy(first / program / f"{program}.p4info.txtpb", COMPILED)
        targets = {chip.name: chip.target for chip in CHIPS}
        matrices = {
            result.chip: icrc_matrices(Path(name) / targets[result.chip] / result.program)
            for result in results
            if result.program == "pe" and result.assembled
        }
        (COMPILED / "icrc.json").write_text(json.dumps(matrices, indent=2) + "\n")
    outputs = sorted(path for path in COMPILED.iterdir() if path.name != "manifest.json")
    manifest = {
        "sources": digest(sources()),
        "outputs": {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in outputs},
        "compiler": version,
        "commit": commit,
        "usage": [asdict(result) for result in results],
    }
    (COMPILED / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    text = replace_between(DOCUMENT.read_text(), "resources", report_table(results))
    text = replace_between(text, "compiler", f"{COMPILER} {version}, p4lang/p4c commit {commit}")
    DOCUMENT.write_text(text)
    return 0 if all(result.assembled for result in results) else 1


def sweep() -> int:
    """Grow the flow tables of the PE on every chip; write results, table and plot."""
    if compiler_version() is None:
        print(HOW_TO_GET, file=sys.stderr)
        return 2
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tries = {
            chip.name: {str(flows): pool.submit(stages_for, flows, chip) for flows in SWEEP}
            for chip in CHIPS
        }
        results = {
            chip: {flows: tried.result() for flows, tried in by_flows.items()}
            for chip, by_flows in tries.items()
        }
    SWEEP_RESULTS.write_text(json.dumps(results, indent=2) + "\n")
    DOCUMENT.write_text(replace_between(DOCUMENT.read_text(), "flows", sweep_table(results)))
    plot(results)
    return 0


def stages_for(flows: int, chip: Chip) -> Outcome:
    """Place the PE with flow tables of `flows` entries each."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        outcome: Outcome
        try:
            compile_program("pe", chip, directory, flows)
            outcome = usage("pe", chip, directory, assembled=False).stages
        except TooSlowError:
            outcome = f"not placed in {TIME_LIMIT // 60} minutes"
        except ToolError as error:
            outcome = "does not fit"
            print(f"{flows} flows on {chip.name}: {error}", file=sys.stderr)
    say(f"{flows} flows on {chip.name}: {outcome}")
    return outcome


def plot(results: dict[str, dict[str, Outcome]]) -> None:
    """Stages the PE would take against flows per family, with every chip's limit."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    for chip in CHIPS:
        placed = {int(f): n for f, n in results[chip.name].items() if isinstance(n, int)}
        (line,) = axes.plot(list(placed), list(placed.values()), marker="o", label=chip.name)
        axes.axhline(chip.stages, color=line.get_color(), linestyle=":", linewidth=1)
    axes.set(
        xlabel="flows per address family",
        ylabel="stages of the PE (dotted: the chip's)",
    )
    axes.set_xticks(SWEEP, [f"{flows:,}" for flows in SWEEP])
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(bottom=0)
    axes.legend()
    figure.savefig(SWEEP_PLOT, dpi=120)


def check() -> int:
    """Compare what is committed with the sources; with the same compiler, recompile the P4Info."""
    recorded = json.loads((COMPILED / "manifest.json").read_text())
    if recorded["sources"] != digest(sources()):
        print("p4src/compiled/tna was made of other sources; run `make tofino`", file=sys.stderr)
        return 1
    for name, expected in recorded["outputs"].items():
        if hashlib.sha256((COMPILED / name).read_bytes()).hexdigest() != expected:
            print(f"p4src/compiled/tna/{name} is not what the manifest says", file=sys.stderr)
            return 1
    version = compiler_version()
    if version != recorded["compiler"]:
        print(f"p4src/compiled/tna matches its sources (not recompiled: compiler is {version})")
        return 0
    with tempfile.TemporaryDirectory() as name:
        for program in PROGRAMS:
            directory = Path(name) / program
            directory.mkdir()
            compile_program(program, CHIPS[0], directory, place=False)
            fresh = (directory / f"{program}.p4info.txtpb").read_bytes()
            if fresh != (COMPILED / f"{program}.p4info.txtpb").read_bytes():
                print(f"{program}: p4c {version} makes another P4Info", file=sys.stderr)
                return 1
    print(f"p4src/compiled/tna is what p4c {version} makes of the sources")
    return 0


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--check", action="store_true", help="compare, write nothing")
    choice.add_argument("--sweep", action="store_true", help="how many flows fit")
    parser.add_argument(
        "--commit", default="not named", help="commit of p4lang/p4c the compiler was built from"
    )
    options = parser.parse_args()
    try:
        if options.check:
            return check()
        return sweep() if options.sweep else write(options.commit)
    except (ToolError, HashLogError) as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
