"""EcnDecap: the rules of decapsulation (p4src/forwarding/ecn_decap.p4)."""

from collections.abc import Iterable

from fcn.contract.ecn import DecapRule
from fcn.controller.owners.owner import Owner, entry


class EcnDecap(Owner):
    """The inner ECN field after decapsulation (SRF-2)."""

    def set_rules(self, rules: Iterable[DecapRule]) -> None:
        """Replace all rules by these."""
        entries = [
            entry(
                "decap_ecn",
                {"inner_ecn": rule.inner, "outer_ecn": rule.outer},
                rule.verdict,
                **rule.parameters,
            )
            for rule in rules
        ]
        self._intent.replace_table("decap_ecn", entries)
