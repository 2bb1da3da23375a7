"""The TNA programs fit their chips, as recorded; test_contract.py checks of which sources."""

import json
from pathlib import Path

import pytest

from tools.p4.programs import CHIP_PROGRAMS

MANIFEST = Path(__file__).resolve().parents[2] / "p4src" / "compiled" / "tna" / "manifest.json"
LIMITS = {"pe": 12, "p": 5, "two-threshold/p": 6, "flow-control/p": 7, "fantel/p": 12}
"""Stages of Tofino 1 that the programs may take."""


@pytest.mark.parametrize(
    ("program", "chip"), [(name, chip) for name, chips in CHIP_PROGRAMS.items() for chip in chips]
)
def test_recorded_placement_is_within_its_stages(program: str, chip: int) -> None:
    usage = json.loads(MANIFEST.read_text())["usage"]
    (placed,) = [u for u in usage if (u["program"], u["chip"]) == (program, f"Tofino {chip}")]
    assert placed["stages"] <= (20 if chip == 2 else LIMITS[program])
    assert placed["assembled"]
