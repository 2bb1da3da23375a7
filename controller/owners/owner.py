"""What every owner does: it encodes the entries of its control's tables, and intends them."""

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
    """An entry of a table."""
    call = P4TableAction(action, **parameters)
    return P4TableEntry(table, match=P4TableMatch(match), action=call, priority=priority)


class Owner:
    """Encodes entries for the target of the intent's program."""

    def __init__(self, intent: Intent) -> None:
        self._intent = intent
        self._target = target_of(intent.schema.p4info)

    def _put(
        self,
        table: str,
        match: Mapping[str, object],
        action: str,
        priority: int = 0,
        /,
        **parameters: object,
    ) -> None:
        self._intent.put(entry(table, match, action, priority, **parameters))

    def _set(self, table: str, action: str, /, **parameters: object) -> None:
        """Intend the default action of a table without a key."""
        call = P4TableAction(action, **parameters)
        self._intent.put(P4TableEntry(table, action=call, is_default_action=True))

    def _ticks(self, microseconds: int) -> int:
        return self._target.time_unit.ticks(microseconds)
