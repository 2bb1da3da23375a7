"""The TNA programs fit their chips, as recorded; test_contract.py checks of which sources."""

import json
from pathlib import Path

import pytest

MANIFEST = Path(__file__).resolve().parents[2] / "p4src" / "compiled" / "tna" / "manifest.json"
# Stages of Tofino 1 the programs may take.
LIMITS = {"pe": 12, "p": 7, "two-threshold/p": 8}


@pytest.mark.parametrize("program", LIMITS)
def test_recorded_placement_is_within_its_stages(program: str) -> None:
    usage = json.loads(MANIFEST.read_text())["usage"]
    (placed,) = [u for u in usage if u["program"] == program and u["chip"] == "Tofino 1"]
    assert placed["stages"] <= LIMITS[program]
    assert placed["assembled"]


@pytest.mark.parametrize("program", LIMITS)
def test_recorded_placement_on_tofino_2(program: str) -> None:
    usage = json.loads(MANIFEST.read_text())["usage"]
    (placed,) = [u for u in usage if u["program"] == program and u["chip"] == "Tofino 2"]
    assert placed["stages"] <= 20
    assert placed["assembled"]
