"""A real capture, replayed from both DC sides through PE1 - P - PE2 under the real controller.

The capture is of two Debian 12 kernels with SoftRoCE: RDMA-CM over IPv4 and IPv6, RDMA writes with
and without CM. FCN-1, FCN-3, FCN-4, FCN-5.
"""

from collections.abc import Callable
from typing import Any

import pytest

from fcn.ptf_tests.lib.captures import SOFTROCE
from fcn.ptf_tests.replay.capture import (
    FlowId,
    exchanged_qps,
    live_flows,
    routable_packets,
    source_qps,
)

V4 = ("192.168.7.2", "192.168.7.1")
V6 = ("fd00:7::2", "fd00:7::1")
CM_QPS = {V4: (0x11, 0x13, 0x14), V6: (0x12,)}
"""Queue pairs of the capture's connections; both ends happen to have the same number."""
QP_WITHOUT_CM = 0x15


@pytest.mark.parametrize(
    ("target", "tunnel"),
    [("softswitch", "srv6"), ("softswitch", "vxlan"), ("bmv2", "srv6"), ("bmv2", "vxlan")],
)
def test_capture_crosses_the_wan_unchanged_and_is_learned(
    target: str, tunnel: str, run_system: Callable[..., dict[str, Any]]
) -> None:
    report = run_system("fcn.ptf_tests.replay", target, "--tunnel", tunnel, str(SOFTROCE))
    assert report["lost"] == []
    assert report["changed"] == []
    assert report["unexpected"] == []
    assert report["misknown"] == []
    assert report["drops"] == {}
    assert report["sent"] > 450
    assert report["roce"] > 400
    assert report["checkpoints"] >= 5


def test_the_capture_holds_what_the_replay_is_to_find() -> None:
    packets = routable_packets(SOFTROCE)
    expected = {
        FlowId(src, dst, qp): qp
        for ends, qps in CM_QPS.items()
        for qp in qps
        for src, dst in (ends, ends[::-1])
    }
    assert source_qps(packets) == expected
    without_cm = {FlowId(*V4, QP_WITHOUT_CM), FlowId(*V4[::-1], QP_WITHOUT_CM)}
    assert exchanged_qps(packets) == dict.fromkeys(without_cm, QP_WITHOUT_CM)
    states = list(live_flows(packets))
    assert {FlowId(*V4, QP_WITHOUT_CM): frozenset({None})} in states
    assert states[-1] == dict.fromkeys(without_cm, frozenset({None, QP_WITHOUT_CM}))
