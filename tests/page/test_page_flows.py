"""Lists of flows, and the story of one."""

import pytest
from scripted_controller import flow

from fcn.controller.northbound.story import story
from fcn.controller.proto import fcn_pb2 as pb
from fcn.page.flows import MOST, FlowLists


def test_flows_that_are_notified_now_come_first() -> None:
    lists = FlowLists()
    old, new, gone = (flow(number) for number in range(3))
    old.notifications, gone.notifications = 100, 7
    first = lists.see(1.0, [new, old, gone], {})
    assert [(row.notifications, row.notified) for row in first.rows] == [(100, 0), (7, 0), (0, 0)]
    new.notifications = 5
    second = lists.see(2.0, [old, new], {})
    assert [(row.notifications, row.notified) for row in second.rows] == [(5, 5), (100, 0)]
    # Labelled anew, it counts from zero.
    old.notifications = 3
    assert [row.notified for row in lists.see(3.0, [old], {}).rows] == [0]


def test_what_the_sender_does() -> None:
    lists, each = FlowLists(), flow(1)
    stories = []
    for time, (packets, notifications) in enumerate([(0, 0), (1000, 0), (1400, 5), (1500, 9)]):
        each.packets, each.notifications = packets, notifications
        (row,) = lists.see(float(time), [each], {}).rows
        stories.append(" ".join(row.story))
    assert "packets a second" not in stories[0]
    assert stories[1].endswith("It sends 1,000 packets a second.")
    for told, rate in zip(stories[2:], (400, 100), strict=True):
        assert f"It sends {rate} packets a second. Before notifications came it sent 1,000" in told
    # Labelled anew, its counters begin at zero.
    each.packets = 10
    (row,) = lists.see(9.0, [each], {}).rows
    assert "packets a second" not in " ".join(row.story)


def test_of_many_flows_some_are_shown() -> None:
    found = FlowLists().see(1.0, [flow(number) for number in range(MOST + 5)], {})
    assert (found.total, len(found.rows)) == (MOST + 5, MOST)


def told(each: pb.Flow, counts: dict[str, int] | None = None) -> str:
    return " ".join(story(each, counts or {}))


@pytest.mark.parametrize(
    ("origin", "says"),
    [
        ("cm", "from messages of its connection manager"),
        ("inferred", "by inference"),
        ("agent", "from the agent on its host"),
        ("manual", "from an operator"),
        ("restored", "from the switch"),
    ],
)
def test_how_the_sender_became_known(origin: str, says: str) -> None:
    text = told(flow(1, origin=origin))
    assert "from 10.1.0.3 to queue pair 0x101 of 10.2.0.2" in text
    assert "the label 0x80001" in text
    assert f"Queue pair 0x11 sends it; the controller learned that {says}" in text
    assert "No notification came" in text


def test_what_was_suppressed_and_why() -> None:
    counts = {"FLOW_INTERVAL": 9, "NODE_RATE_LIMIT": 0, "NO_ROUTE": 3}
    text = told(flow(1, notifications=12), counts)
    assert "12 notifications came for its label; each became a CNP" in text
    assert "9 because a flow's last CNP was too recent" in text
    assert "NODE_RATE_LIMIT" not in text
    assert "suppressed" not in told(flow(1), counts)


def test_a_sender_that_is_not_known_hears_nothing() -> None:
    text = told(flow(1, source_qp=None, origin="data", notifications=4))
    assert "the sender hears nothing" in text
    assert "no handshake, agent or inference told" in text


def test_a_flow_without_a_label() -> None:
    text = told(flow(1, label=None, node="", packets=None, octets=None, notifications=None))
    assert "It has no label now" in text
    assert "notification" not in text
