"""The rules of ECN decapsulation, against the figure they are from."""

import itertools

import pytest

from fcn.contract.constants import enum_members
from fcn.contract.ecn import CLASSIC_RULES, DecapRule, Ecn, Verdict

# RFC 6040 section 4.2, figure 4: a row is an arriving inner field, a column an arriving outer one.
OUTER = ("Not-ECT", "ECT(0)", "ECT(1)", "CE")
FIGURE = {
    "Not-ECT": ("Not-ECT", "Not-ECT (!!!)", "Not-ECT (!!!)", "<drop> (!!!)"),
    "ECT(0)": ("ECT(0)", "ECT(0)", "ECT(1)", "CE"),
    "ECT(1)": ("ECT(1)", "ECT(1) (!)", "ECT(1)", "CE"),
    "CE": ("CE", "CE", "CE (!!!)", "CE"),
}
EVENTS = {"": "NONE", "(!)": "ECN_UNUSED_COMBINATION", "(!!!)": "ECN_DANGEROUS_COMBINATION"}
CODEPOINTS = {"Not-ECT": 0b00, "ECT(1)": 0b01, "ECT(0)": 0b10, "CE": 0b11}
"""RFC 3168 section 5, figure 1."""


def outcome(rule: DecapRule) -> int | None:
    """The outgoing field; None: dropped."""
    return {
        Verdict.KEEP_INNER: int(rule.inner),
        Verdict.TAKE_OUTER: int(rule.outer),
        Verdict.DISCARD: None,
    }[rule.verdict]


def test_codepoints_are_those_of_rfc_3168() -> None:
    names = {"Not-ECT": Ecn.NOT_ECT, "ECT(1)": Ecn.ECT1, "ECT(0)": Ecn.ECT0, "CE": Ecn.CE}
    assert {name: int(codepoint) for name, codepoint in names.items()} == CODEPOINTS


def test_every_combination_has_one_rule() -> None:
    combinations = [(rule.inner, rule.outer) for rule in CLASSIC_RULES]
    assert sorted(combinations) == sorted(itertools.product(Ecn, Ecn))


@pytest.mark.parametrize("rule", CLASSIC_RULES, ids=lambda r: f"{r.inner.name}-{r.outer.name}")
def test_classic_rules_are_those_of_rfc_6040(rule: DecapRule) -> None:
    (inner,) = (name for name, value in CODEPOINTS.items() if value == rule.inner)
    (column,) = (i for i, name in enumerate(OUTER) if CODEPOINTS[name] == rule.outer)
    field, _, mark = FIGURE[inner][column].partition(" ")
    assert outcome(rule) == CODEPOINTS.get(field)
    assert rule.event == EVENTS[mark]


def test_parameters_are_those_of_the_action() -> None:
    """What is counted is a member of Event, why it is dropped one of DropReason."""
    dangerous = enum_members("Event")["ECN_DANGEROUS_COMBINATION"]
    assert DecapRule(Ecn.ECT0, Ecn.CE, Verdict.TAKE_OUTER).parameters == {}
    assert DecapRule(Ecn.CE, Ecn.CE, Verdict.KEEP_INNER).parameters == {"event": 0}
    (discard,) = (rule for rule in CLASSIC_RULES if rule.verdict is Verdict.DISCARD)
    assert discard.parameters == {
        "event": dangerous,
        "reason": enum_members("DropReason")["ECN_NOT_ECT_CE"],
    }
