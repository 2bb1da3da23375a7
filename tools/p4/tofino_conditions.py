"""Finds conditions of which the compiler has lost a field (docs/upstream/condition-or.md)."""

import re
from collections.abc import Iterator

_GATEWAY = re.compile(r"^( *)gateway(?: .*)?:\n((?:\1 .*\n)+)", re.MULTILINE)
_CONDITION = re.compile(r'expression: "(.*)"')
_MATCHED = re.compile(r"^ *(?:match|xor): \{(.*)\}", re.MULTILINE)
_FIELD = re.compile(r"[A-Za-z_]\w*(?:[.$]+\w+)+")


def lost_fields(assembly: str) -> Iterator[tuple[str, str]]:
    """Condition and field, where no gateway of the condition matches the field. A condition may be
    split over several."""
    matched: dict[str, str] = {}
    for gateway in _GATEWAY.finditer(assembly):
        for condition in _CONDITION.findall(gateway[2]):
            fields = " ".join(_MATCHED.findall(gateway[2]))
            matched[condition] = f"{matched.get(condition, '')} {fields}"
    for condition, fields in matched.items():
        for field in dict.fromkeys(_FIELD.findall(condition)):
            if field not in fields:
                yield condition, field
