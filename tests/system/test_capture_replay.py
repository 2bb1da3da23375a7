"""A real capture, replayed from both DC sides through PE1 - P - PE2 under the real controller.

The capture is of two Debian 12 kernels with SoftRoCE: RDMA-CM over IPv4 and IPv6, RDMA writes with
and without CM. FCN-1, FCN-3, FCN-4, FCN-5.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ptf_tests.replay.capture import FlowId, exchanged_qps, live_flows, routable_packets, source_qps

CAPTURE = Path(__file__).parents[1] / "data" / "softroce-rping-write-v4v6.pcap"
V4 = ("192.168.7.2", "192.168.7.1")
V6 = ("fd00:7::2", "fd00:7::1")
CM_QPS = {V4: (0x11, 0x13, 0x14), V6: (0x12,)}
"""Queue pairs of the capture's connections; both ends happen to have the same number."""
QP_WITHOUT_CM = 0x15
RUN_TIMEOUT = 300


def replay(target: str, tunnel: str, directory: Path) -> dict[str, Any]:
    """Run the replay and return its report."""
    if os.geteuid() != 0:
        pytest.skip("needs root: the replay makes network namespaces")
    if target == "bmv2" and shutil.which("simple_switch_grpc") is None:
        pytest.skip("simple_switch_grpc is not on PATH")
    report = directory / "report.json"
    command = [sys.executable, "-m", "ptf_tests.replay", str(CAPTURE)]
    command += ["--target", target, "--tunnel", tunnel]
    command += ["--report", str(report), "--log-dir", str(directory)]
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=RUN_TIMEOUT, check=False
    )
    assert report.is_file(), f"the replay ended early:\n{result.stdout}{result.stderr}"
    content: dict[str, Any] = json.loads(report.read_text())
    return content


@pytest.mark.parametrize(
    ("target", "tunnel"),
    [("softswitch", "srv6"), ("softswitch", "vxlan"), ("bmv2", "srv6"), ("bmv2", "vxlan")],
)
def test_capture_crosses_the_wan_unchanged_and_is_learned(
    target: str, tunnel: str, tmp_path: Path
) -> None:
    report = replay(target, tunnel, tmp_path)
    assert report["lost"] == []
    assert report["changed"] == []
    assert report["unexpected"] == []
    assert report["misknown"] == []
    assert report["drops"] == {}
    assert report["sent"] > 450
    assert report["roce"] > 400
    assert report["checkpoints"] >= 5


def test_the_capture_holds_what_the_replay_is_to_find() -> None:
    packets = routable_packets(CAPTURE)
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
