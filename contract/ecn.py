"""The rules of ECN decapsulation, as entries of table `decap_ecn`."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from fcn.contract.constants import enum_members

_ECN = enum_members("Ecn")
_EVENTS = enum_members("Event")
_DROP_REASONS = enum_members("DropReason")


class Ecn(IntEnum):
    """Codepoints of the ECN field (RFC 3168 section 5)."""

    NOT_ECT = _ECN["NOT_ECT"]
    ECT1 = _ECN["ECT1"]
    ECT0 = _ECN["ECT0"]
    CE = _ECN["CE"]


class Verdict(StrEnum):
    """How the inner ECN field is set: an action of `decap_ecn`."""

    KEEP_INNER = "keep_inner"
    TAKE_OUTER = "take_outer"
    DISCARD = "discard"


@dataclass(frozen=True, slots=True)
class DecapRule:
    """The rule for one combination of inner and outer ECN field. `event` (member of Event) is
    counted."""

    inner: Ecn
    outer: Ecn
    verdict: Verdict
    event: str = "NONE"

    @property
    def parameters(self) -> dict[str, int]:
        if self.verdict is Verdict.TAKE_OUTER:
            return {}
        event = {"event": _EVENTS[self.event]}
        if self.verdict is Verdict.DISCARD:
            return event | {"reason": _DROP_REASONS["ECN_NOT_ECT_CE"]}
        return event


_UNUSED = "ECN_UNUSED_COMBINATION"
"""RFC 6040 marks the combination (!)."""

_DANGEROUS = "ECN_DANGEROUS_COMBINATION"
"""RFC 6040 marks the combination (!!!)."""

_KEEP, _TAKE, _DISCARD = Verdict.KEEP_INNER, Verdict.TAKE_OUTER, Verdict.DISCARD

CLASSIC_RULES = (
    DecapRule(Ecn.NOT_ECT, Ecn.NOT_ECT, _KEEP),
    DecapRule(Ecn.NOT_ECT, Ecn.ECT0, _KEEP, _DANGEROUS),
    DecapRule(Ecn.NOT_ECT, Ecn.ECT1, _KEEP, _DANGEROUS),
    DecapRule(Ecn.NOT_ECT, Ecn.CE, _DISCARD, _DANGEROUS),
    DecapRule(Ecn.ECT0, Ecn.NOT_ECT, _KEEP),
    DecapRule(Ecn.ECT0, Ecn.ECT0, _KEEP),
    DecapRule(Ecn.ECT0, Ecn.ECT1, _TAKE),
    DecapRule(Ecn.ECT0, Ecn.CE, _TAKE),
    DecapRule(Ecn.ECT1, Ecn.NOT_ECT, _KEEP),
    DecapRule(Ecn.ECT1, Ecn.ECT0, _KEEP, _UNUSED),
    DecapRule(Ecn.ECT1, Ecn.ECT1, _KEEP),
    DecapRule(Ecn.ECT1, Ecn.CE, _TAKE),
    DecapRule(Ecn.CE, Ecn.NOT_ECT, _KEEP),
    DecapRule(Ecn.CE, Ecn.ECT0, _KEEP),
    DecapRule(Ecn.CE, Ecn.ECT1, _KEEP, _DANGEROUS),
    DecapRule(Ecn.CE, Ecn.CE, _KEEP),
)
"""RFC 6040 section 4.2, every combination (SRF-2)."""

_LIGHT = "LIGHT_CE"
"""Light congestion on the way: the inner codepoint stays, the mark is counted."""

_LIGHT_RULES = (
    DecapRule(Ecn.ECT0, Ecn.ECT1, _KEEP, _LIGHT),
    DecapRule(Ecn.ECT1, Ecn.ECT0, _KEEP),
    DecapRule(Ecn.ECT1, Ecn.ECT1, _KEEP, _LIGHT),
)

TWO_THRESHOLD_RULES = tuple(
    next((own for own in _LIGHT_RULES if (own.inner, own.outer) == (rule.inner, rule.outer)), rule)
    for rule in CLASSIC_RULES
)
"""Figure 2 of draft-hu-rtgwg-pre-ecn-wan-00 (PEC-5). ECT(1) in ECT(0) is what the ingress PE makes
of it in this mode, so no event."""
