"""What tenants can cause to be said is bounded, by kind: log, events and refusals alike."""

import io
import logging
import random
from ipaddress import ip_address
from typing import Any

import pytest
import yaml
from tenants import DC_PORT

from fcn.contract.constants import CmAttribute
from fcn.controller.clock import Clock
from fcn.controller.config import parse_config
from fcn.controller.events import LIMIT, LIMIT_INTERVAL, EventBus, Kind
from fcn.controller.flows.connections import CmMessage
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.service import FlowService
from fcn.controller.logs import JsonFormatter, KeyValueFormatter
from fcn.controller.node.failures import LOG_INTERVAL, Failures
from fcn.controller.throttle import Throttle

LINE = 1000
"""Octets of the longest line of an event."""


class Seconds:
    """Moved by the test."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_limit_holds_for_an_interval_and_says_what_it_held_back() -> None:
    clock = Seconds()
    throttle: Throttle[str] = Throttle(clock, 2, 60.0)
    assert [throttle.admit("a") for _ in range(5)] == [0, 0, None, None, None]
    assert throttle.admit("b") == 0
    assert list(throttle.overdue()) == []
    clock.now += 59.9
    assert throttle.admit("a") is None
    clock.now += 0.1
    assert [throttle.admit("a") for _ in range(3)] == [4, 0, None]
    clock.now += 60.0
    assert list(throttle.overdue()) == [("a", 1)]
    assert list(throttle.overdue()) == []
    assert throttle.admit("a") == 0


async def test_what_is_not_told_is_counted_and_never_put_into_words() -> None:
    clock = Seconds()
    bus = EventBus(Clock(clock, clock))
    said = 0

    def words() -> str:
        nonlocal said
        said += 1
        return "words"

    with bus.watch() as events:
        for _ in range(LIMIT + 70):
            bus.emit(Kind.CM_MESSAGE, "pe1", words, vrf="red")
        bus.emit(Kind.CM_MESSAGE, "pe1", words, vrf="blue")
        bus.tell_suppressed()
        assert said == LIMIT + 1
        clock.now += LIMIT_INTERVAL
        bus.emit(Kind.CM_MESSAGE, "pe1", words, vrf="red")
        for _ in range(LIMIT):
            bus.emit(Kind.CM_MESSAGE, "pe1", words, vrf="red")
        clock.now += LIMIT_INTERVAL
        bus.tell_suppressed()
        bus.emit(Kind.FEATURES, "", "end")
        told = []
        async for event in events:
            if event.kind is Kind.FEATURES:
                break
            told.append((event.kind, event.fields.get("vrf"), event.fields.get("count")))
    cm = (Kind.CM_MESSAGE, "red", None)
    assert told[: LIMIT + 1] == [*[cm] * LIMIT, (Kind.CM_MESSAGE, "blue", None)]
    assert told[LIMIT + 1 : LIMIT + 3] == [(Kind.SUPPRESSED, "red", "70"), cm]
    assert told[-1] == (Kind.SUPPRESSED, "red", "1")


class Edge:
    """A PE without tables."""

    learning = True

    def heard_for(self) -> float:
        return 3600.0

    def capacity(self, ip_version: int) -> int:
        return 64

    def install(self, flow: Flow, before: Flow | None = None) -> None:
        """Nothing."""

    def remove(self, flow: Flow, successor: str | None = None) -> None:
        """Nothing."""


@pytest.mark.parametrize("formatter", [KeyValueFormatter(), JsonFormatter()])
def test_a_storm_does_not_fill_the_disk(
    network: dict[str, Any], formatter: logging.Formatter, caplog: pytest.LogCaptureFixture
) -> None:
    """Ten minutes of handshakes, packets from nowhere and new flows; the log is as long as that
    many kinds of events may make it, not as the number of messages."""
    clock, text = Seconds(), io.StringIO()
    time = Clock(clock, clock)
    caplog.set_level(logging.CRITICAL)
    log = logging.getLogger("fcn.event")
    handler = logging.StreamHandler(text)
    handler.setFormatter(formatter)
    log.setLevel(logging.INFO)
    log.addHandler(handler)
    config = parse_config(yaml.safe_dump(network))
    edges = {name: Edge() for name, node in config.nodes.items() if node.role == "pe"}
    service = FlowService(config, edges, EventBus(time), time, random.Random(1))
    a, b = ip_address("10.1.0.10"), ip_address("10.2.0.20")
    messages = 0
    try:
        for number in range(4_000):
            clock.now += 600 / 4_000
            qpn = 2 + number
            for node, source, target, *message in (
                ("pe1", a, b, CmAttribute.REQ, number, 0, qpn),
                ("pe2", b, a, CmAttribute.REP, number, number, qpn),
                ("pe2", a, b, CmAttribute.REQ, number, 0, qpn),
            ):
                sent = CmMessage("blue", source, target, *message)
                service.connection_message(node, DC_PORT, sent)
                messages += 1
    finally:
        log.removeHandler(handler)
        log.setLevel(logging.NOTSET)
    assert messages == 12_000
    kinds = (Kind.CM_MESSAGE, Kind.SOURCE_QP, Kind.FLOW_LABELLED, Kind.FLOW_REMOVED, Kind.REFUSED)
    lines = text.getvalue().splitlines()
    # Before the first minute is over, and once a minute; one line each says what was left out.
    assert len(lines) <= len(kinds) * (LIMIT + 1) * 11
    assert max(map(len, lines)) < LINE
    assert "more cm-message events of VRF blue were not told" in text.getvalue()


def test_failures_of_a_kind_are_logged_once_a_while(caplog: pytest.LogCaptureFixture) -> None:
    clock = Seconds()
    failures = Failures("pe1", clock)
    for _ in range(1000):
        with failures.survived("packet", b"\x01\x02"):
            raise ValueError
    clock.now += LOG_INTERVAL
    with failures.survived("packet", b"\xff"):
        raise ValueError
    assert failures.counts == {"packet": 1001}
    said = [record.getMessage() for record in caplog.records]
    assert said == [
        "pe1: cannot handle a packet (1 so far): 0102",
        "pe1: cannot handle a packet (1001 so far): ff",
    ]
