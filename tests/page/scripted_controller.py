"""A controller's API that says what a test has it say, and the networks of which it speaks."""

import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc

from fcn.contract.rpc import handler_of
from fcn.controller.proto import fcn_pb2 as pb

Ends = tuple[str, int, str, int]

RATE = 10_000_000


def line_network() -> pb.GetNetworkResponse:
    """Hosts - pe1 - p1 - p2 - pe2 - hosts, of which pe1, p1 and p2 know their rate, 10 Mb/s."""
    return network(
        {"pe1": "pe", "p1": "p", "p2": "p", "pe2": "pe"},
        [("pe1", 2, "p1", 1), ("p1", 2, "p2", 1), ("p2", 2, "pe2", 2)],
        unrated={"pe2"},
    )


def network(
    roles: dict[str, str], links: Sequence[Ends], unrated: set[str] | frozenset[str] = frozenset()
) -> pb.GetNetworkResponse:
    """These nodes and links; each PE has hosts at port 1."""
    ports = {(node, port) for a, x, b, y in links for node, port in ((a, x), (b, y))}
    found = pb.GetNetworkResponse()
    for name, role in roles.items():
        node = found.nodes.add(name=name, role=role)
        if role == "pe":
            node.ports.add(number=1, name=f"h-{name}", role="dc", vrf="blue")
        for each, port in sorted(ports):
            if each == name:
                rate = None if name in unrated else RATE
                node.ports.add(number=port, name=str(port), role="core", rate=rate)
    for a, x, b, y in links:
        found.links.add(node=a, port=x, peer=b, peer_port=y)
    return found


def grid_network(rows: int = 8, columns: int = 8) -> pb.GetNetworkResponse:
    """Nodes in a grid, of which the outermost columns are PEs."""
    roles = {
        f"n{row}{column}": "pe" if column in (0, columns - 1) else "p"
        for row in range(rows)
        for column in range(columns)
    }
    links = [
        (f"n{row}{column}", 2, f"n{row}{column + 1}", 3)
        for row in range(rows)
        for column in range(columns - 1)
    ]
    links += [
        (f"n{row}{column}", 4, f"n{row + 1}{column}", 5)
        for row in range(rows - 1)
        for column in range(columns)
    ]
    return network(roles, links)


def flow(number: int, **other: object) -> pb.Flow:
    """A flow of pe1 that is known in full; its label has this number."""
    values: dict[str, Any] = {
        "key": pb.FlowKey(
            vrf="blue", src=f"10.1.0.{number % 250 + 2}", dst="10.2.0.2", dest_qp=0x100 + number
        ),
        "node": "pe1",
        "label": 0x80000 + number,
        "source_qp": 0x11,
        "origin": "cm",
        "since": 1.0,
        "packets": 10,
        "octets": 1000,
        "notifications": 0,
    }
    return pb.Flow(**(values | other))


@dataclass
class ScriptedController:
    """Answers with what it has; `amounts` are packets and octets by node, counter and cell."""

    network: pb.GetNetworkResponse
    notification: str = "fcn"
    states: dict[str, str] = field(default_factory=dict)
    amounts: dict[tuple[str, str, str], tuple[int, int]] = field(default_factory=dict)
    links: list[pb.Link] = field(default_factory=list)
    queues: pb.ListQueuesResponse = field(default_factory=pb.ListQueuesResponse)
    policies: list[pb.Policy] = field(default_factory=list)
    flows: list[pb.Flow] = field(default_factory=list)
    labels: int = 0
    flows_refused: str = ""
    events: list[pb.Event] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    _news: threading.Condition = field(default_factory=threading.Condition)
    _ended: bool = False

    def grow(self, node: str, counter: str, name: str, packets: int, octets: int = 0) -> None:
        """Count some more."""
        before = self.amounts.get((node, counter, name), (0, 0))
        self.amounts[node, counter, name] = (before[0] + packets, before[1] + octets)

    def status(self) -> pb.GetStatusResponse:
        """The state of all nodes."""
        return pb.GetStatusResponse(
            notification=self.notification,
            labels_in_use=self.labels or len(self.flows),
            nodes=[
                pb.NodeStatus(
                    name=node.name,
                    role=node.role,
                    state=self.states.get(node.name, "up"),
                    grpc="127.0.0.1:9",
                    features=["learning", "translation"] if node.role == "pe" else ["notification"],
                    flows=sum(each.node == node.name for each in self.flows),
                )
                for node in self.network.nodes
            ],
        )

    def counters(self, read: float) -> pb.GetCountersResponse:
        """The counters as read at a time."""
        return pb.GetCountersResponse(
            counters=[
                pb.Counter(node=node, counter=counter, name=name, packets=packets, octets=octets)
                for (node, counter, name), (packets, octets) in self.amounts.items()
            ],
            read={node.name: read for node in self.network.nodes},
        )

    def tell(self, kind: str, node: str, message: str) -> None:
        """An event for whoever listens."""
        with self._news:
            self.events.append(pb.Event(time=time.time(), kind=kind, node=node, message=message))
            self._news.notify_all()

    def GetNetwork(self, _request: object, _context: grpc.ServicerContext) -> pb.GetNetworkResponse:  # noqa: N802
        return self.network

    def GetStatus(self, _request: object, _context: grpc.ServicerContext) -> pb.GetStatusResponse:  # noqa: N802
        self.asked.append("status")
        return self.status()

    def GetCounters(  # noqa: N802
        self, request: pb.GetCountersRequest, _context: grpc.ServicerContext
    ) -> pb.GetCountersResponse:
        assert request.last, "the page must not have switches read"
        return self.counters(time.monotonic())

    def ListLinks(self, _request: object, _context: grpc.ServicerContext) -> pb.ListLinksResponse:  # noqa: N802
        return pb.ListLinksResponse(links=self.links)

    def ListPaths(self, _request: object, _context: grpc.ServicerContext) -> pb.ListPathsResponse:  # noqa: N802
        return pb.ListPathsResponse(policies=self.policies)

    def ListQueues(self, _request: object, _context: grpc.ServicerContext) -> pb.ListQueuesResponse:  # noqa: N802
        return self.queues

    def ListFlows(  # noqa: N802
        self, _request: object, context: grpc.ServicerContext
    ) -> Iterator[pb.ListFlowsResponse]:
        self.asked.append("flows")
        if self.flows_refused:
            context.abort(grpc.StatusCode.UNAVAILABLE, self.flows_refused)
        if self.flows:
            yield pb.ListFlowsResponse(flows=self.flows)

    def WatchEvents(self, _request: object, context: grpc.ServicerContext) -> Iterator[pb.Event]:  # noqa: N802
        context.send_initial_metadata(())
        told = len(self.events)
        while not self._ended:
            with self._news:
                self._news.wait(1.0)
                news, told = self.events[told:], len(self.events)
            yield from news

    @contextmanager
    def serving(self, endpoint: str) -> Iterator[None]:
        """Answer there meanwhile."""
        self._ended = False
        service = pb.DESCRIPTOR.services_by_name["Fcn"]
        server = grpc.server(ThreadPoolExecutor(8))
        server.add_generic_rpc_handlers((handler_of(service, self),))
        server.add_insecure_port(endpoint)
        server.start()
        try:
            yield
        finally:
            with self._news:
                self._ended = True
                self._news.notify_all()
            server.stop(None).wait()
