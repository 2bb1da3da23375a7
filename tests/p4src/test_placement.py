"""The TNA programs fit their chips: as recorded, and compiled afresh where the compiler is."""

import json
from pathlib import Path

import pytest

MANIFEST = Path(__file__).resolve().parents[2] / "p4src" / "compiled" / "tna" / "manifest.json"
# Stages of Tofino 1 the programs may take.
LIMITS = {"pe": 12, "p": 6}

pytestmark = pytest.mark.skipif(
    not MANIFEST.exists(),
    reason="the TNA programs have not been compiled for Tofino yet; see docs/tofino.md",
)


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
