"""Reads the resources of a placed program from the compiler's reports."""

import json
from dataclasses import dataclass
from pathlib import Path

from tools.p4.tofino_build import Chip


@dataclass(frozen=True)
class Usage:
    """Resources a placed program uses in one pipe, from the compiler's report."""

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
