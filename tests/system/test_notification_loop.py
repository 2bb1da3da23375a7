"""Packets in, congestion at the P's real queue, standard CNPs back at the sender (FCN-1 to FCN-16).

PE1 - P - PE2 under the real controller; the flow is learned from its handshake.
"""

from collections.abc import Callable
from typing import Any

import pytest

from fcn.ptf_tests.replay.loop import BURST


@pytest.mark.parametrize("target", ["softswitch", "bmv2"])
def test_a_burst_into_a_slow_port_comes_back_as_cnps(
    target: str, run_system: Callable[..., dict[str, Any]]
) -> None:
    report = run_system("fcn.ptf_tests.replay.loop", target)
    for family in ("ipv4", "ipv6"):
        seen = report[family]
        counted = seen["counted"]
        assert seen["arrived"] == BURST, family
        assert seen["cnps"] > BURST / 2, f"{family}: most packets met a congested queue"
        assert seen["cnps_as_expected"] == seen["cnps"], f"{family}: every CNP byte for byte"
        # No hop contradicts another.
        assert counted["p CE_MARKED"] == seen["arrived_ce"]
        assert counted["p FAST_CNP_TRIGGERED"] == counted["p FAST_CNP_SENT"]
        assert counted["pe1 FAST_CNP_RECEIVED"] == counted["p FAST_CNP_SENT"]
        assert counted["pe1 CNP_SENT"] == seen["cnps"]
        suppressed = counted.get("pe1 FLOW_INTERVAL", 0) + counted.get("pe1 NODE_RATE_LIMIT", 0)
        assert counted["pe1 CNP_SENT"] + suppressed == counted["pe1 FAST_CNP_RECEIVED"]
        disabled = report[f"{family} disabled"]
        assert disabled["arrived"] == BURST
        assert disabled["cnps"] == disabled["counted"]["p FAST_CNP_TRIGGERED"] == 0
