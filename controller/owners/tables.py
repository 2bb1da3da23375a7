"""Writes tables: what is not read back from switches `controller/provision` writes with it, for the
rest there is an owner each."""

from collections.abc import Mapping

from finsy import P4TableAction, P4TableEntry, P4TableMatch

from fcn.contract.targets import target_of
from fcn.controller.owners.intent import Intent


def entry(
    table: str,
    match: Mapping[str, object],
    action: str,
    priority: int = 0,
    /,
    **parameters: object,
) -> P4TableEntry:
    call = P4TableAction(action, **parameters)
    return P4TableEntry(table, match=P4TableMatch(match), action=call, priority=priority)


class Tables:
    """Encodes entries for the target of the intent's program, and intends them."""

    def __init__(self, intent: Intent) -> None:
        self.intent = intent
        self.target = target_of(intent.schema.p4info)

    def put(
        self,
        table: str,
        match: Mapping[str, object],
        action: str,
        priority: int = 0,
        /,
        **parameters: object,
    ) -> None:
        self.intent.put(entry(table, match, action, priority, **parameters))

    def set(self, table: str, action: str, /, **parameters: object) -> None:
        """Intend the default action of a table without a key."""
        call = P4TableAction(action, **parameters)
        self.intent.put(P4TableEntry(table, action=call, is_default_action=True))

    def ticks(self, microseconds: int) -> int:
        """In the unit of the program's time parameters."""
        return self.target.ticks(microseconds)
