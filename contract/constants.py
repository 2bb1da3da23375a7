"""The numbers P4 and Python share, read from constants.json of the compiled programs."""

import json
import os
import sys
from enum import IntEnum
from pathlib import Path
from typing import Any, NoReturn


class PipelineError(Exception):
    """A compiled program is missing or not supported by the controller."""


def compiled_programs() -> Path:
    """Folder of the compiled programs: `$FCN_P4`, or p4src/compiled beside this package."""
    given = os.environ.get("FCN_P4")
    return Path(given) if given else Path(__file__).resolve().parents[1] / "p4src" / "compiled"


def compiled_file(name: str, *others: str, folder: Path | None = None) -> Path:
    """The first of these files that exists in `folder`, by default that of the compiled programs.

    Raises PipelineError when there is none.
    """
    place = folder or compiled_programs()
    for file in (place / each for each in (name, *others)):
        if _is_file(file):
            return file
    named = " or ".join((name, *others))
    raise PipelineError(
        f"{place / named} is missing; put it there (`make p4`), or correct the node's `program`, "
        "or FCN_P4"
    )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False  # the name is too long, or the folder is closed to us


class _Numbers(dict[str, Any]):
    """Without them no program of fcn runs, so that one ends in a line where they are not there."""

    def __missing__(self, name: str) -> NoReturn:
        file = compiled_programs() / "constants.json"
        sys.exit(f"error: {file} has no {name}: it is of another version of fcn; compile it again")


def _numbers() -> _Numbers:
    try:
        file = compiled_file("constants.json")
    except PipelineError as error:
        sys.exit(f"error: {error}")
    try:
        return _Numbers(json.loads(file.read_text("utf-8")))
    except (OSError, TypeError, ValueError) as error:
        sys.exit(f"error: {file} cannot be read: {error}")


_NUMBERS = _numbers()

_ARCHITECTURES: dict[str, dict[str, Any]] = _NUMBERS.pop("architectures", {})

PROFILE_MODES: dict[str, list[str]] = _NUMBERS.pop("profiles", {})
"""Modes that the programs of each profile have (profiles.py)."""

FCN_LABEL_BIT: int = _NUMBERS["FCN_LABEL_BIT"]
"""Set in every label given to a RoCE flow; clear in entropy labels of other traffic (FCN-2)."""

FLOW_GATE_SIZE: int = _NUMBERS["FLOW_GATE_SIZE"]
"""Cells of the per-flow rate gates; the low bits of a label are the index."""


CLOCK_ETHER_TYPE: int = _NUMBERS["CLOCK_ETHER_TYPE"]
"""Of the packet that goes round in a switch to make it look at its links."""

CORE_PATH_CELLS: int = _NUMBERS["CORE_PATH_CELLS"]
"""Paths that leave a node, each port of a path counted by itself."""

LIGHT_CONGESTION_LEVEL: int = _NUMBERS["LIGHT_CONGESTION_LEVEL"]
"""The level of a Fast CNP that says light congestion in the two-threshold mode (PEC-2)."""

VRF_CELLS: int = _NUMBERS["VRF_CELLS"]
"""Cells of what a switch keeps per VRF; the low bits of a VRF's number are the index."""

PATH_CNPS: int = _NUMBERS["PATH_CNPS"]
"""Senders that hear of it when a node says once that their path is congested."""

PATH_BUCKETS: int = _NUMBERS["PATH_BUCKETS"]
"""Groups of flows, by a hash, that a policy distributes over its paths."""

PATH_BY_HAND: int = _NUMBERS["PATH_BY_HAND"]
"""In the place of a reporter's bit: somebody says so by hand."""

PATH_REPORTERS: int = _NUMBERS["PATH_REPORTERS"]
"""Links and nodes on one path that a switch listens to, at most."""

PATH_REPORTER_CELLS: int = _NUMBERS["PATH_REPORTER_CELLS"]
"""The same on all paths of a PE."""

PATH_SLOTS: int = _NUMBERS["PATH_SLOTS"]
"""Paths of a policy, at most."""

POLICY_BIT: int = _NUMBERS["POLICY_BIT"]
"""Set in the number of a policy where that of a tunnel may be, too."""

POLICY_CELLS: int = _NUMBERS["POLICY_CELLS"]
"""Policies of a PE, at most."""


def architecture_numbers(architecture: str) -> dict[str, Any]:
    """Constants and enums of one architecture's externs.p4, by name. Raises PipelineError."""
    numbers = _ARCHITECTURES.get(architecture)
    if numbers is None:
        raise PipelineError(f"constants.json has no {architecture}; run `make p4` to rebuild it")
    return numbers


def enum_members(name: str) -> dict[str, int]:
    """Members of an enum of the programs, by name. Raises PipelineError.

    They are not in the P4Info: p4c leaves out enums that are only used as indexes of counters.
    """
    members: dict[str, int] | None = _NUMBERS.get(name)
    if not isinstance(members, dict):
        raise PipelineError(f"constants.json has no enum {name}; run `make p4` to rebuild it")
    return dict(members)


_CM = _NUMBERS["CmAttribute"]
_PUNT = _NUMBERS["PuntReason"]


class CmAttribute(IntEnum):
    """MAD attribute IDs of the connection manager (IBTA volume 1, chapter 12.6)."""

    REQ = _CM["REQ"]
    MRA = _CM["MRA"]
    REJ = _CM["REJ"]
    REP = _CM["REP"]
    RTU = _CM["RTU"]
    DREQ = _CM["DREQ"]
    DREP = _CM["DREP"]


class PuntReason(IntEnum):
    ARP = _PUNT["ARP"]
    ND = _PUNT["ND"]
    NEIGHBOR_MISS = _PUNT["NEIGHBOR_MISS"]
    LOCAL = _PUNT["LOCAL"]
    UNDERLAY_LOCAL = _PUNT["UNDERLAY_LOCAL"]
    UNDERLAY_GLEAN = _PUNT["UNDERLAY_GLEAN"]
