"""Conditions of which the compiler has lost a field."""

from tools.p4.tofino_conditions import lost_fields

CONDITION = "(meta.a != 0 || hdr.ip.$valid == 1)"


def gateway(match: str) -> str:
    return (
        "  exact_match table 0:\n    gateway:\n      name: cond-2\n"
        f"      match: {{ {match} }}\n      0x00:\n        next: other\n"
        f'      condition: \n        expression: "{CONDITION}"\n    hit: [  other ]\n'
    )


def test_a_lost_field_is_named() -> None:
    assert list(lost_fields(gateway("0: meta.a"))) == [(CONDITION, "hdr.ip.$valid")]


def test_a_condition_may_be_split() -> None:
    """Over a gateway of a table, and one by itself."""
    alone = gateway("8: hdr.ip.$valid").split("\n", 1)[1].replace("gateway:", "gateway cond-3 4:")
    assert not list(lost_fields(gateway("0: meta.a(0..3)") + alone))
