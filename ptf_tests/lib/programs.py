"""The compiled programs under test, and the numbers they share with Python."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import finsy as fy

COMPILED = Path(__file__).resolve().parents[2] / "p4src" / "compiled"

_NUMBERS: dict[str, Any] = json.loads((COMPILED / "constants.json").read_text("utf-8"))

CPU_PORT: int = _NUMBERS["CPU_PORT"]
RECIRC_PORT: int = _NUMBERS["RECIRC_PORT"]
"""Target of the clone session; has no interface."""
RECIRC_SESSION: int = _NUMBERS["CloneSession"]["RECIRC"]
FCN_LABEL_BIT: int = _NUMBERS["FCN_LABEL_BIT"]
"""FCN-2: set in labels of RoCE flows, clear in entropy labels."""


def enum_members(enum: str) -> dict[str, int]:
    """Members of an enum of the programs, by name."""
    members: dict[str, int] = _NUMBERS[enum]
    return members


@cache
def load_schema(program: str) -> fy.P4Schema:
    """P4Info and target configuration of a compiled program (`pe` or `p`)."""
    return fy.P4Schema(
        COMPILED / f"{program}.p4info.txtpb", (COMPILED / f"{program}.json").read_bytes()
    )
