"""Frames: what changed between two looks, and what nobody knows."""

from collections.abc import Sequence

import pytest
from scripted_controller import RATE, ScriptedController, flow, line_network

from fcn.controller.northbound.story import why_no_flows
from fcn.controller.proto import fcn_pb2 as pb
from fcn.page import rows
from fcn.page.model import Frame, Kind, Load, Queue, Travel
from fcn.page.snapshot import MOST_EVENTS, Answers, Snapshots


class Looks:
    """A network at which the page looks again and again."""

    def __init__(self) -> None:
        self.controller = ScriptedController(line_network())
        self.snapshots = Snapshots(self.controller.network)
        self._read = 100.0

    def look(self, seconds: float = 1.0, events: Sequence[pb.Event] = ()) -> Frame:
        """A frame, counters being read so many seconds after the last time."""
        self._read += seconds
        there = self.controller
        counters = there.counters(self._read)
        for name, state in there.states.items():
            if state == "away":
                del counters.read[name]
        kept = [each for each in counters.counters if each.node in counters.read]
        counters = pb.GetCountersResponse(counters=kept, read=counters.read)
        return self.snapshots.frame(
            Answers(
                self._read,
                there.status(),
                counters,
                there.links,
                there.policies,
                there.queues,
                events,
            )
        )


@pytest.fixture
def looks() -> Looks:
    """One that was looked at once."""
    found = Looks()
    found.controller.grow("pe1", "port_tx", "port 2", 5, 5000)
    found.look()
    return found


def test_what_was_counted_before_the_first_look_is_no_news() -> None:
    looks = Looks()
    looks.controller.grow("p2", "notifications_sent", "FAST_CNP_SENT", 9)
    frame = looks.look()
    assert frame.travels == ()
    assert all(line.loads == (Load(), Load()) for line in frame.lines)


def test_a_node_that_came_after_the_picture_is_not_shown(looks: Looks) -> None:
    """Another network may be put in force between two answers."""
    nodes = looks.controller.network.nodes
    nodes.add(name="p9", role="p")
    looks.look()
    for kind in ("ARN", "FAST_CNP"):
        looks.controller.grow("p9", "notifications_sent", f"{kind}_SENT", 9)
        looks.controller.grow("p9", "notifications_received", f"{kind}_RECEIVED", 9)
        looks.controller.grow("p2", "notifications_sent", f"{kind}_SENT", 9)
    frame = looks.look()
    assert "p9" not in [node.name for node in frame.nodes]
    assert {place for travel in frame.travels for place in travel.route} == {"p2"}


def test_links_by_utilization_in_both_directions(looks: Looks) -> None:
    looks.controller.grow("pe1", "port_tx", "port 2", 100, RATE // 8)
    looks.controller.grow("pe2", "port_tx", "port 2", 10, 1000)
    looks.controller.grow("pe2", "port_tx", "port 1", 10, 3000)
    frame = looks.look(seconds=2.0)
    assert frame.lines[0].loads == (Load(RATE / 2, 0.5), Load(0.0, 0.0))
    # The file has no rate of this one.
    assert frame.lines[2].loads[1] == Load(4000.0, None)
    assert frame.lines[4].loads[0] == Load(12000.0, None)


def test_queues_of_both_ends_and_the_longest_towards_hosts(looks: Looks) -> None:
    ports = looks.controller.network.nodes[0].ports
    ports.add(number=7, name="h7", role="dc", vrf="blue")
    looks.snapshots = Snapshots(looks.controller.network)
    waiting = [("pe1", 2, 30), ("pe1", 1, 4), ("pe1", 7, 5), ("p1", 1, 0)]
    looks.controller.queues = pb.ListQueuesResponse(
        queues=[
            pb.PortQueue(node=node, port=port, packets=packets, level=packets // 10, full=0.5)
            for node, port, packets in waiting
        ],
        untold={"p2": "its target does not"},
    )
    frame = looks.look()
    assert frame.lines[0].queues == (Queue(30, 3, 0.5), Queue(0, 0, 0.5))
    assert frame.lines[1].queues == (None, None)
    assert frame.lines[3].queues == (Queue(5, 0, 0.5), None)
    assert [node.no_queues for node in frame.nodes] == ["", "", "its target does not", ""]
    (known, unknown) = (
        next(row for row in rows.links(frame, looks.snapshots.picture) if row.texts[:2] == ends)
        for ends in (("pe1:2", "p1:1"), ("p2:1", "p1:2"))
    )
    assert known.texts[-2:] == ("30", "3")
    assert unknown.texts[-2:] == ("—", "—")
    assert unknown.details == ("Nobody knows what waits here: its target does not.",)


def test_a_look_at_the_same_counters_repeats_loads_and_no_messages(looks: Looks) -> None:
    looks.controller.grow("pe1", "port_tx", "port 2", 100, RATE // 8)
    looks.controller.grow("pe1", "notifications_sent", "CNP_SENT", 3)
    first = looks.look()
    second = looks.look(seconds=0.0)
    assert first.lines == second.lines
    assert first.travels
    assert not second.travels


def test_a_switch_that_was_started_again_counts_from_zero(looks: Looks) -> None:
    looks.controller.amounts["pe1", "port_tx", "port 2"] = (1, 100)
    looks.controller.grow("pe1", "notifications_sent", "CNP_SENT", 3)
    frame = looks.look()
    assert frame.lines[0].loads[0] == Load()
    assert not frame.travels


def test_of_a_node_that_is_away_nothing_is_known(looks: Looks) -> None:
    looks.look()
    looks.controller.states["pe1"] = "away"
    frame = looks.look()
    (pe1,) = (node for node in frame.nodes if node.name == "pe1")
    assert pe1.state == "away"
    assert frame.lines[0].loads == (Load(), Load(0.0, 0.0))


def test_messages_go_where_they_were_received(looks: Looks) -> None:
    looks.controller.grow("p2", "notifications_sent", "FAST_CNP_SENT", 40)
    looks.controller.grow("pe1", "notifications_received", "FAST_CNP_RECEIVED", 40)
    looks.controller.grow("pe1", "notifications_sent", "CNP_SENT", 25)
    looks.controller.grow("pe1", "notifications_sent", "HELLO_SENT", 25)
    assert set(looks.look().travels) == {
        Travel(Kind.FAST_CNP, ("p2", "p1", "pe1"), 40),
        Travel(Kind.CNP, ("pe1", "pe1/dc"), 25),
    }


def test_messages_are_shared_by_those_that_received_some(looks: Looks) -> None:
    """The counters of either end may be read first."""
    looks.controller.grow("pe1", "notifications_received", "FAST_CNP_RECEIVED", 30)
    looks.controller.grow("pe2", "notifications_received", "FAST_CNP_RECEIVED", 10)
    assert not looks.look().travels
    looks.controller.grow("p2", "notifications_sent", "FAST_CNP_SENT", 80)
    assert set(looks.look().travels) == {
        Travel(Kind.FAST_CNP, ("p2", "p1", "pe1"), 60),
        Travel(Kind.FAST_CNP, ("p2", "pe2"), 20),
    }


def test_an_arn_goes_to_a_neighbour_and_what_nobody_received_stays(looks: Looks) -> None:
    looks.controller.grow("p2", "notifications_sent", "ARN_SENT", 4)
    looks.controller.grow("p1", "notifications_received", "ARN_RECEIVED", 4)
    looks.controller.grow("pe1", "notifications_received", "ARN_RECEIVED", 4)
    looks.controller.grow("p1", "notifications_sent", "FANTEL_SENT", 2)
    looks.controller.grow("pe2", "notifications_received", "PAUSE_RECEIVED", 1)
    assert set(looks.look().travels) == {
        Travel(Kind.ARN, ("p2", "p1"), 4),
        Travel(Kind.FANTEL, ("p1",), 2),
        Travel(Kind.PAUSE, ("pe2/dc", "pe2"), 1),
    }


def test_what_nodes_did(looks: Looks) -> None:
    looks.controller.grow("p2", "ecn_marked", "CE_MARKED", 7)
    looks.controller.grow("p2", "flow_interval_suppressed", "FAST_CNP_INTERVAL_SUPPRESSED", 5)
    looks.controller.grow("p2", "drops", "NO_ROUTE", 2)
    (p2,) = (node for node in looks.look().nodes if node.name == "p2")
    assert (p2.marked, p2.suppressed, p2.drops) == (
        7,
        {"FAST_CNP_INTERVAL_SUPPRESSED": 5},
        {"NO_ROUTE": 2},
    )


def test_a_link_is_down_when_either_end_says_so(looks: Looks) -> None:
    looks.controller.links = [
        pb.Link(node="pe1", port=2, peer="p1", peer_port=1, state="up"),
        pb.Link(node="p1", port=1, peer="pe1", peer_port=2, state="down"),
        pb.Link(node="p1", port=2, peer="p2", peer_port=1, state="up"),
    ]
    states = [line.state for line in looks.look().lines]
    assert states == ["down", "up", "unwatched", "unwatched", "unwatched"]


def test_the_path_that_takes_over(looks: Looks) -> None:
    def path(tunnel: str, state: str, rate: float, *via: str) -> pb.Path:
        return pb.Path(tunnel=tunnel, state=state, rate=rate, via=via)

    policy = pb.Policy(
        node="pe1",
        name="both",
        to="pe2",
        paths=[
            path("first", "failed", 0.0, "p2"),
            path("second", "up", 12.0),
            path("third", "up", 0.0),
        ],
    )
    looks.controller.policies = [policy]
    first, second, third = looks.look().paths
    assert first.route == second.route == ("pe1", "p1", "p2", "pe2")
    assert [each.takes_over for each in (first, second, third)] == [False, True, False]
    policy.paths[0].state = "up"
    assert not any(each.takes_over for each in looks.look().paths)


def test_the_newest_events_are_shown(looks: Looks) -> None:
    events = [
        pb.Event(time=number, kind="link-down" if number % 2 else "link-up", message=str(number))
        for number in range(MOST_EVENTS + 2)
    ]
    shown = looks.look(events=events).events
    assert [event.message for event in shown] == [str(n) for n in range(2, MOST_EVENTS + 2)]
    assert [event.warns for event in shown[:2]] == [False, True]


def test_why_there_are_no_flows() -> None:
    controller = ScriptedController(line_network())
    assert "no RoCEv2 data packet" in why_no_flows(controller.status())
    controller.flows = [flow(1)]
    assert why_no_flows(controller.status()) == ""
    controller.flows = []
    status = controller.status()
    for node in status.nodes:
        del node.features[:]
    assert "fcn feature enable" in why_no_flows(status)
    for node in status.nodes:
        node.state = "away"
    assert "no PE is up" in why_no_flows(status)
    assert "the file has no PE" in why_no_flows(pb.GetStatusResponse())
