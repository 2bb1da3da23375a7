"""The states of a flow, and what leads from one to another (docs/learning.md has the picture).

A wrong sender is worse than none: the wrong host would slow down. What a person registered stays
until a person deletes it. A connection manager's handshake and a host agent's report are statements
of the hosts themselves, the later of which counts; a host can be silent about the end of a
connection, so strong evidence ends them (checks.py). Inference is evidence only.
"""

from enum import Enum, StrEnum

from fcn.controller.flows.provenance import Origin


class State(Enum):
    """Whether a flow has a label at some PE, and whether its sender is known: (label, sender)."""

    ABSENT = (False, False)
    UNKNOWN = (True, False)
    """Its packets are watched, as evidence of the sender."""
    KNOWN = (True, True)
    WAITING = (False, True)
    """It sends nothing."""


class End(StrEnum):
    """What may end something of a flow."""

    BY_HAND = "deleted"
    DISCONNECTED = "connection closed"
    """By a message with both communication IDs of the handshake, or a newer handshake of one of its
    queue pairs."""
    UNSEEN_DISCONNECT = "disconnected without a known handshake"
    """By a DREQ of a connection of which no handshake is known."""
    SILENCE = "idle"
    """No packet for the flow's timeout; or its last label was taken back."""
    CONTRADICTED = "packets contradict it"
    """Reports of both directions do not belong to one connection."""
    DISPROVED = "packets show another connection"
    """The same, as clearly as it takes to end what hosts stated (checks.py)."""
    PARTNER_ENDED = "the reverse flow has ended or another sender"
    """The pairing with the reverse flow holds no more."""
    UNCERTAIN = "packets may be of another connection"
    """Neither PSNs nor ports tell that it is the same (continuity.py)."""


DISCONNECTS = frozenset({End.DISCONNECTED, End.UNSEEN_DISCONNECT})

REFUTATIONS = frozenset({End.CONTRADICTED, End.DISPROVED})

OF_EVIDENCE = REFUTATIONS | {End.PARTNER_ENDED, End.UNCERTAIN}
"""What ends only what is known of the sender: the flow goes on."""

STATED = frozenset({Origin.CM, Origin.AGENT, Origin.MANUAL})
"""Origins that only strong evidence ends."""

MAY_REPLACE: dict[Origin, frozenset[Origin]] = {
    Origin.MANUAL: frozenset({Origin.MANUAL}),
    Origin.CM: STATED,
    Origin.AGENT: STATED,
    Origin.INFERRED: STATED | {Origin.INFERRED},
    Origin.RESTORED: STATED | {Origin.INFERRED},
}
"""By origin of the known sender: the origins of another sender that takes its place."""

MAY_END: dict[Origin, frozenset[End]] = {
    Origin.MANUAL: frozenset({End.BY_HAND}),
    # A silent connection is still one: a checkpoint may come every quarter of an hour.
    Origin.CM: frozenset({End.BY_HAND, End.DISCONNECTED, End.DISPROVED, End.UNCERTAIN}),
    # Within a silence queue pairs may have changed hands, and what said so will say it again.
    Origin.AGENT: frozenset(
        {End.BY_HAND, End.DISCONNECTED, End.SILENCE, End.DISPROVED, End.UNCERTAIN}
    ),
    Origin.INFERRED: frozenset(End),
    Origin.RESTORED: frozenset(End) - {End.UNSEEN_DISCONNECT, End.PARTNER_ENDED},
}
"""By origin of the known sender: what makes the controller forget it."""


def after(labelled: bool, known_by: Origin | None, reason: End) -> State:
    """The state of a flow after this; `labelled`: it has a label somewhere, `known_by`: the origin
    of what is known of its sender."""
    keeps = known_by is not None and reason not in MAY_END[known_by]
    if reason is End.SILENCE:
        labelled = False
    elif reason not in OF_EVIDENCE:
        labelled = labelled and keeps
    return State((labelled, keeps))
