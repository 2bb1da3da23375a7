"""FlowLearning: what a PE reports of its customers' flows (p4src/common/flow_learning.p4)."""

from finsy import P4DigestEntry, P4TableAction, P4TableEntry

from fcn.contract.targets import Target
from fcn.controller.owners.intent import Intent

NEW_FLOW_DIGESTS = ("new_flow_ipv4_t", "new_flow_ipv6_t")
CM_DIGESTS = ("cm_ipv4_t", "cm_ipv6_t")

MAX_LIST_SIZE = 256
MAX_DELAY_NS = 5_000_000
ACK_TIMEOUT_NS = 1_000_000_000


class FlowLearning:
    """New flows and connection set-ups, reported or not (FCN-3, FCN-16)."""

    def __init__(self, intent: Intent, target: Target) -> None:
        self._intent = intent
        self._target = target

    def report_digests(self) -> None:
        """Deliver reports in lists, so that a burst is few messages and one flow waits little."""
        for digest in (*NEW_FLOW_DIGESTS, *CM_DIGESTS):
            self._intent.put(
                P4DigestEntry(
                    digest,
                    max_list_size=MAX_LIST_SIZE,
                    max_timeout_ns=MAX_DELAY_NS,
                    ack_timeout_ns=ACK_TIMEOUT_NS,
                )
            )

    def enable(self, window: int) -> None:
        """Report a flow again at the earliest after `window` microseconds."""
        self._set(P4TableAction("learning_on", window=self._target.ticks(window)))

    def disable(self) -> None:
        """Report nothing."""
        self._set(P4TableAction("learning_off"))

    def _set(self, action: P4TableAction) -> None:
        self._intent.put(P4TableEntry("flow_learning", action=action, is_default_action=True))
