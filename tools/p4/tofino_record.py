"""Records the results of a build: the tables of docs/tofino.md, the manifest."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from fcn.bench.harness import with_part
from tools.p4.programs import COMPILED as ALL_COMPILED
from tools.p4.programs import MANIFEST, P4SRC, chip_sources
from tools.p4.tofino_build import CHIPS, COMPILER, ToolError
from tools.p4.tofino_reports import Usage

COMPILED = ALL_COMPILED / "tna"
DOCUMENT = P4SRC.parent / "docs" / "tofino.md"
_KEYS = frozenset({"sources", "changed", "outputs", "compiler", "commit", "usage"})


def report_table(results: Iterable[Usage]) -> str:
    """Markdown table: resources used, of those of one pipe, per program and chip."""
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


def replace_between(text: str, name: str, content: str) -> str:
    """The document with the content between the markers of `name` replaced. Raises BenchError."""
    return with_part(text, name, "tools/p4/tofino_record.py", f"{content}\n")


def record(results: Iterable[Usage], version: str, commit: str, sources: Mapping[str, str]) -> None:
    """Write the manifest of the files in COMPILED, and the document. sources: as they were placed,
    by their name."""
    manifest = {
        "sources": sources,
        "changed": [],
        "outputs": outputs(),
        "compiler": version,
        "commit": commit,
        "usage": [asdict(result) for result in results],
    }
    (COMPILED / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    DOCUMENT.write_text(documented(manifest))


def outputs() -> dict[str, str]:
    """SHA-256 of the files in COMPILED, by their name."""
    files = (path for path in COMPILED.rglob("*") if path.is_file() and path.name != MANIFEST)
    return {
        path.relative_to(COMPILED).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(files)
    }


def recorded() -> dict[str, Any]:
    """The manifest. Raises ToolError."""
    file = COMPILED / MANIFEST
    try:
        manifest: dict[str, Any] = json.loads(file.read_text())
        if not manifest.keys() >= _KEYS:
            raise ValueError(f"it lacks {min(_KEYS - manifest.keys())}")
    except (OSError, ValueError, AttributeError) as error:
        raise ToolError(f"{file} is no manifest ({error}); run `make tofino`") from error
    return manifest


def documented(manifest: Mapping[str, Any]) -> str:
    """The document, with what a manifest says. Raises BenchError."""
    usages = [Usage(**each) for each in manifest["usage"]]
    compiler = f"{COMPILER} {manifest['compiler']}, p4lang/p4c commit {manifest['commit']}"
    text = replace_between(DOCUMENT.read_text(), "resources", report_table(usages))
    text = replace_between(text, "changed", changed_text(manifest["changed"]))
    return replace_between(text, "compiler", compiler)


def changed_files(recorded: dict[str, str]) -> list[str]:
    """The files that are not as they were placed."""
    return sorted({name for name, _ in recorded.items() ^ chip_sources().items()})


def changed_text(files: list[str]) -> str:
    """What the document says of them."""
    if not files:
        return "Nothing has changed since."
    names = ", ".join(f"`p4src/{name}`" for name in files if (P4SRC / name).exists())
    gone = ", ".join(name for name in files if not (P4SRC / name).exists())
    removed = f"; removed: {gone}" if gone else ""
    return f"Changed since, and **not placed again**: {names}{removed}."


def record_changed() -> None:
    """Say in the manifest and the document which files are not as they were placed."""
    manifest = recorded()
    manifest["changed"] = changed_files(manifest["sources"])
    (COMPILED / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    DOCUMENT.write_text(documented(manifest))
