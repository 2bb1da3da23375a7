"""Reports that had to wait are no evidence of what two PEs saw at a time."""

import time
from functools import partial
from ipaddress import ip_address
from types import SimpleNamespace

import pytest
from switches import MemorySwitch, until

from fcn.controller.app import ControlPlane
from fcn.controller.config import Config
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.trail import SKEW, Sample
from fcn.controller.node.connection import State
from fcn.controller.node.lateness import DRIFT, Lateness
from fcn.softswitch.p4rt import digests

A, B = ip_address("10.1.0.10"), ip_address("10.2.0.20")
SECOND = 1_000_000_000


def test_lateness_is_what_a_message_waited_longer_than_others() -> None:
    now = 1000.0
    lateness = Lateness(lambda: now)
    assert lateness.of(7 * SECOND) == 0.0
    now += 1.0
    assert lateness.of(8 * SECOND) < 2 * DRIFT
    now += 1.0
    assert lateness.of(8 * SECOND) == pytest.approx(1.0, abs=0.01)
    assert lateness.of(9 * SECOND + SECOND // 2) == 0.0
    assert lateness.of(0) == 0.0


def test_a_slow_clock_is_not_taken_for_lateness_and_a_backlog_is_not_taken_for_the_clock() -> None:
    now = sent = 0.0
    lateness = Lateness(lambda: now)
    for _ in range(3600):
        now += 1.0
        sent += 1.0 - DRIFT / 2
        assert lateness.of(int(sent * SECOND)) < 0.01
    for _ in range(3600):
        now += 1.0
        late = lateness.of(int((now - 3.0) * SECOND))
    assert late > SKEW


def _before(nanoseconds: int) -> int:
    return time.time_ns() - nanoseconds


async def test_inference_uses_no_report_that_waited(
    config: Config, switches: dict[str, MemorySwitch], monkeypatch: pytest.MonkeyPatch
) -> None:
    stamps = SimpleNamespace(time_ns=time.time_ns)
    monkeypatch.setattr(digests, "time", stamps)
    plane = ControlPlane(config)
    seen: dict[int, Sample | None] = {}

    def note(_node: str, key: FlowKey, _p_key: int, sample: Sample | None) -> None:
        seen[key.dest_qp] = sample

    monkeypatch.setattr(plane.flows, "seen", note)
    async with plane.running():
        await until(lambda: all(a.status.state is State.UP for a in plane.nodes.values()))
        for dest_qp, waited in ((33, 0), (34, 2 * SECOND), (35, 0)):
            stamps.time_ns = partial(_before, waited)
            report = (1, int(A), int(B), dest_qp, 0xFFFF, 5, 50000, 0x0A)
            switches["pe1"].engine.digest("new_flow_ipv4_t", report)
            await until(lambda number=dest_qp: number in seen)
    prompt = Sample(0x0A, 5, 50000)
    assert seen == {33: prompt, 34: None, 35: prompt}
