"""EcnDecap: the rules of decapsulation (p4src/forwarding/ecn_decap.p4)."""

from collections.abc import Iterable

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.contract.ecn import DecapRule
from fcn.controller.owners.intent import Intent


class EcnDecap:
    """The inner ECN field after decapsulation (SRF-2)."""

    def __init__(self, intent: Intent) -> None:
        self._intent = intent

    def set_rules(self, rules: Iterable[DecapRule]) -> None:
        """Replace all rules by these."""
        entries = [
            P4TableEntry(
                "decap_ecn",
                match=P4TableMatch(inner_ecn=rule.inner, outer_ecn=rule.outer),
                action=P4TableAction(rule.verdict, **rule.parameters),
            )
            for rule in rules
        ]
        self._intent.replace_table("decap_ecn", entries)
