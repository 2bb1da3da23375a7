"""A PE with learning enabled: digests are compared with the counted events (FCN-3)."""

from typing import Any

from fcn.contract.names import CM_DIGESTS, NEW_FLOW_DIGESTS
from fcn.ptf_tests.lib.beds import BLUE, RED, PeTest
from fcn.ptf_tests.lib.counters import read_counter

DIGESTS = (*NEW_FLOW_DIGESTS.values(), *CM_DIGESTS.values())
LONG_WINDOW_US = 60_000_000


class LearningTest(PeTest):
    """Learning is enabled, with a window longer than any test."""

    window_us = LONG_WINDOW_US

    def configure(self) -> None:
        super().configure()
        self.pe.learn_flows(DIGESTS, self.window_us)

    def reports(self, port: int, *frames: bytes) -> list[tuple[str, dict[str, Any]]]:
        """The digest messages an exchange causes; asserts that as many events are counted, but for
        those that the limit of a VRF kept back."""
        before, refused = self.counts(), self._refused()
        self.exchange(port, *frames)
        growth = self.growth(before)
        count = growth.get("event NEW_FLOW", 0) + growth.get("event CM_MESSAGE", 0)
        count -= self._refused() - refused
        messages: list[tuple[str, dict[str, Any]]] = []

        def complete() -> bool:
            messages.extend(self.digests())
            return len(messages) >= count

        self.wait_for(f"{count} digest messages", complete)
        self.assertEqual(len(messages), count, f"more digests than events: {messages}")
        return messages

    def _refused(self) -> int:
        cells = read_counter(self.client, "vrf_refused", RED, BLUE)
        return sum(packets for packets, _ in cells.values())
