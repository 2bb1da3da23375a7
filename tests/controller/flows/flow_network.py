"""A flow service between the PEs of two hosts, and their connections."""

import random
from ipaddress import ip_address
from typing import Any

import yaml
from edges import Edge
from tenants import DC_PORT

from fcn.contract.constants import CmAttribute
from fcn.controller.clock import Clock
from fcn.controller.config import Config, parse_config
from fcn.controller.config.notation import Address
from fcn.controller.events import EventBus
from fcn.controller.flows.connections import CmMessage
from fcn.controller.flows.flow import Flow
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.service import FlowService
from fcn.controller.flows.trail import Sample, connection_port

A, B = ip_address("10.1.0.10"), ip_address("10.2.0.20")
FORTH, BACK = FlowKey("blue", A, B, 33), FlowKey("blue", B, A, 17)
WRITE, ACK, UC_SEND = 0x0A, 0x11, 0x24
PORT = connection_port(17, 33)
FORTH_2, BACK_2 = FlowKey("blue", A, B, 34), FlowKey("blue", B, A, 18)


class Network:
    """A flow service with a clock that the test advances. `room`: for flows, at each PE."""

    def __init__(self, config: Config, room: int = 16384) -> None:
        self.now = 10.0
        self.clock = Clock(lambda: self.now, lambda: self.now)
        self.psn = 100
        self.config = config
        self.edges = {name: Edge(room) for name, node in config.nodes.items() if node.role == "pe"}
        self.bus = EventBus(self.clock)
        self.service = self.controller()

    def controller(self) -> FlowService:
        return FlowService(self.config, self.edges, self.bus, self.clock, random.Random(1))

    def restart(self) -> None:
        """A new controller, which reads the flows back from the PEs."""
        held = {name: list(edge.flows.values()) for name, edge in self.edges.items()}
        self.service = self.controller()
        for name, flows in held.items():
            list(self.service.adopt(name, flows))

    def cm(self, node: str, src: Address, dst: Address, *message: int, port: int = DC_PORT) -> None:
        self.service.connection_message(node, port, CmMessage("blue", src, dst, *message))

    def sender(self, key: FlowKey) -> int | None:
        return next((flow.source_qp for flow in self.service.all() if flow.key == key), None)

    def see(self, node: str, key: FlowKey, opcode: int, psn: int, port: int = PORT) -> None:
        self.now += 0.15
        self.service.seen(node, DC_PORT, key, 0xFFFF, Sample(opcode, psn, port))

    def converse(self, times: int, port: int = PORT) -> None:
        """Requests forth and responses back, in turn."""
        for _ in range(times):
            self.psn += 1
            self.see("pe1", FORTH, WRITE, self.psn, port)
            self.see("pe2", BACK, ACK, self.psn, port)

    def connect(
        self, a_qp: int = 17, b_qp: int = 33, ids: tuple[int, int] = (0xA1, 0xB1), a: Address = A
    ) -> None:
        """A handshake of these queue pairs of `a` and B."""
        self.cm("pe1", a, B, CmAttribute.REQ, ids[0], 0, a_qp)
        self.cm("pe2", B, a, CmAttribute.REP, ids[1], ids[0], b_qp)

    def run(self, seconds: float, *connections: tuple[FlowKey, FlowKey, int]) -> None:
        """Let connections go on: requests of the flow forth from this PSN on, responses back."""
        for step in range(round(seconds / 0.3)):
            for forth, back, psn in connections:
                for key, opcode in ((forth, WRITE), (back, ACK)):
                    node = "pe1" if key.src == A else "pe2"
                    sample = Sample(opcode, (psn + step) % (1 << 24), 0xC000)
                    self.service.seen(node, DC_PORT, key, 0xFFFF, sample)
            self.now += 0.3
            self.service.infer()

    def known(self) -> dict[FlowKey, int | None]:
        """Source queue pair of every flow, as the PEs have it."""
        return {
            key: flow.source_qp for edge in self.edges.values() for key, flow in edge.flows.items()
        }

    def infer(self, wait: float = 2.0) -> None:
        self.now += wait
        self.service.infer()

    @property
    def sources(self) -> tuple[int | None, int | None]:
        return self.forth.source_qp, self.back.source_qp

    @property
    def forth(self) -> Flow:
        return self.edges["pe1"].flows[FORTH]

    @property
    def back(self) -> Flow:
        return self.edges["pe2"].flows[BACK]


def network_of(data: dict[str, Any]) -> Network:
    """All features are on."""
    for node in data["nodes"].values():
        node["features"] = "all"
    return Network(parse_config(yaml.safe_dump(data)))
