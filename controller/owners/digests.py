"""How a switch sends the digests it is asked for."""

from collections.abc import Iterable

from finsy import P4DigestEntry

from fcn.controller.owners.intent import Intent

MAX_DELAY_NS = 5_000_000
ACK_TIMEOUT_NS = 1_000_000_000


def enable_digests(intent: Intent, names: Iterable[str], list_size: int) -> None:
    """Have the switch send these digests in lists of up to `list_size`, MAX_DELAY_NS late at most.

    What was sent is not sent again until it is acknowledged, or ACK_TIMEOUT_NS have passed.
    """
    for name in names:
        intent.put(
            P4DigestEntry(
                name,
                max_list_size=list_size,
                max_timeout_ns=MAX_DELAY_NS,
                ack_timeout_ns=ACK_TIMEOUT_NS,
            )
        )
