"""Profiles: which modes the programs of fcn have (p4src/v1model/profiles).

Every program has what all nodes need, with Fast CNPs and END.CON; a profile adds modes to that.
"""

from collections.abc import Set
from enum import StrEnum

from fcn.contract.constants import PROFILE_MODES


class Mode(StrEnum):
    """What a program can have besides what all have; a folder of p4src."""

    TWO_THRESHOLD = "two-threshold mode"
    FLOW_CONTROL = "flow control"
    FANTEL = "links and paths"


FULL = "full"
"""The profile with every mode."""

LEAST = "fcn"
"""The profile without any of them."""

PROFILES: dict[str, frozenset[Mode]] = {
    name: frozenset(Mode[mode] for mode in modes) for name, modes in PROFILE_MODES.items()
}
"""The modes of each profile."""


def profiles_with(modes: Set[Mode]) -> list[str]:
    """The profiles that have these modes, those with the fewest others first."""
    having = [name for name, own in PROFILES.items() if own >= modes]
    return sorted(having, key=lambda name: (len(PROFILES[name]), name))
