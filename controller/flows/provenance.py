"""How the sender of a flow became known, in the words a switch keeps with the entry.

A PE's table entry carries it as P4Runtime metadata (TableEntry.metadata, which the switch stores
and does not read), so that after a restart the controller still knows what a person registered,
and which connection a disconnect belongs to.
"""

import re
from enum import StrEnum
from typing import NamedTuple


class Origin(StrEnum):
    """How a flow's sender, or a flow without a known one, became known."""

    DATA = "data"
    CM = "cm"
    INFERRED = "inferred"
    AGENT = "agent"
    MANUAL = "manual"
    RESTORED = "restored"


class CommIds(NamedTuple):
    """Communication IDs of the connection a flow belongs to (IBTA volume 1, chapter 12).

    `own` is that of the host that sends the flow, `peer` of the one that receives it; `initiated`:
    whether the sender of the flow sent the REQ.
    """

    initiated: bool
    own: int
    peer: int


_CM_TEXT = re.compile(r"cm (initiator|responder) ([0-9a-f]{1,8}) ([0-9a-f]{1,8})", re.ASCII)


_SAID = {origin.value: origin for origin in (Origin.INFERRED, Origin.AGENT, Origin.MANUAL)}


def to_text(origin: Origin, comm_ids: CommIds | None) -> str:
    """What is stored with an entry whose sender is known."""
    if comm_ids is None:
        return origin.value
    role = "initiator" if comm_ids.initiated else "responder"
    return f"{origin.value} {role} {comm_ids.own:x} {comm_ids.peer:x}"


def from_text(text: str) -> tuple[Origin, CommIds | None]:
    """The meaning of `to_text`; RESTORED for anything else, as an entry of somebody else."""
    if found := _CM_TEXT.fullmatch(text):
        role, own, peer = found.groups()
        return Origin.CM, CommIds(role == "initiator", int(own, 16), int(peer, 16))
    return _SAID.get(text, Origin.RESTORED), None
