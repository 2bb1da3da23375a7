"""One node of the network with a queue that stays full, between two hosts that heed nothing: what
it tells and asks does not change what comes (ALL-2)."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from ipaddress import IPv4Address
from itertools import pairwise

import yaml
from domain_modes import HOST_MACS, host_address, network
from mode_frames import Carried, read_frame

from fcn.contract.constants import FCN_LABEL_BIT, compiled_programs
from fcn.controller.config import Config, parse_config
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.notation import format_mac
from fcn.controller.config.tunnel_ends import tunnel_source
from fcn.controller.provision.provision import Provision
from fcn.lab.core import PortSettings, Simulation
from fcn.lab.entries import provision_of, write_entries
from fcn.packets.roce import DEFAULT_P_KEY
from fcn.ptf_tests.lib.packets import Ecn, ethernet, flow_label_of, roce, srv6
from fcn.softswitch.api import PortQueue
from fcn.softswitch.engine import load_program

FLOWS = 300
FIRST_QP = 0x1000
SECONDS = 0.05
DC_PORT = 4
LABEL = slice(15, 18)
"""Octets of a frame whose low 20 bits are the flow label."""
NS = 10**9


@dataclass(frozen=True, slots=True)
class Load:
    """So many packets per second, over a queue of this depth with so many packets in it; order: of
    the flows they are of, again and again. phase_ns: when the first comes, within a spacing."""

    per_second: int
    depth: int
    filled: int
    order: tuple[int, ...] = tuple(range(FLOWS))
    seconds: float = SECONDS
    phase_ns: int = 0

    @property
    def spacing_ns(self) -> int:
        """Between two packets."""
        return NS // self.per_second

    @property
    def each_ns(self) -> int:
        """Between two packets of a flow."""
        return FLOWS * self.spacing_ns


LIGHT, HEAVY = Load(20_000, 200, 100), Load(100_000, 5_000, 4_000)


@dataclass
class Told:
    """What came back: when each flow was told, and each name was held, in ns; paths: of messages
    about paths, pauses: of PAUSE frames."""

    flows: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    names: dict[bytes, list[int]] = field(default_factory=lambda: defaultdict(list))
    paths: list[int] = field(default_factory=list)
    pauses: list[int] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How often a flow was told."""
        return sum(map(len, self.flows.values()))


def at_p(modes: dict[str, str], load: Load) -> Told:
    """p2, with pe1 beyond its port 1 and pe2 beyond its port 2."""
    config = _config(modes)
    source = str(tunnel_source(config, "pe1", config.nodes["pe1"].tunnels["short"], "blue"))
    target = str(config.nodes["pe2"].vrfs["blue"].service_sid)
    frames = _tunnelled(source, target, _mac(config, "p2", 1))
    return _run(config, "p2", frames, (1, 2), load)


def with_many_flows(load: Load, flows: int) -> Told:
    """p2, as above, in mode fcn with so many flows of one customer, which differ in their labels
    alone; one more is another customer's."""
    config = _config({"notification": "fcn"})
    source = str(tunnel_source(config, "pe1", config.nodes["pe1"].tunnels["short"], "blue"))
    service_sid = config.nodes["pe2"].vrfs["blue"].service_sid
    assert service_sid is not None
    mac = _mac(config, "p2", 1)
    one, other = (_tunnelled(source, str(sid), mac)[0] for sid in (service_sid, service_sid + 1))
    first = int.from_bytes(one[LABEL])
    frames = tuple(
        frame[: LABEL.start] + (first | number).to_bytes(3) + frame[LABEL.stop :]
        for number, frame in enumerate([*[one] * flows, other])
    )
    return _run(config, "p2", frames, (1, 2), load)


def at_pe(modes: dict[str, str], load: Load) -> Told:
    """pe1, with a host of its data centre, and p1 beyond its port 2."""
    config = _config(modes)
    frames = _plain(_mac(config, "pe1", DC_PORT))
    return _run(config, "pe1", frames, (DC_PORT, 2), load)


def at_egress(modes: dict[str, str], load: Load) -> Told:
    """pe2, with p2 beyond its port 2, and a host of its data centre, whose port is congested."""
    config = _config(modes)
    source = str(tunnel_source(config, "pe1", config.nodes["pe1"].tunnels["short"], "blue"))
    target = str(config.nodes["pe2"].vrfs["blue"].service_sid)
    frames = _tunnelled(source, target, _mac(config, "pe2", 2))
    return _run(config, "pe2", frames, (2, DC_PORT), load)


@cache
def _tunnelled(source: str, target: str, mac: str) -> tuple[bytes, ...]:
    """A packet of each flow on its way from pe1."""
    return tuple(
        ethernet(
            srv6(
                _packet(number),
                source,
                target,
                flow_label=FCN_LABEL_BIT | number,
                traffic_class=Ecn.ECT0,
            ),
            src=HOST_MACS[DC_PORT],
            dst=mac,
        )
        for number in range(FLOWS)
    )


@cache
def _plain(mac: str) -> tuple[bytes, ...]:
    """A packet of each flow on its way to pe1."""
    return tuple(
        ethernet(_packet(number), src=HOST_MACS[DC_PORT], dst=mac) for number in range(FLOWS)
    )


def _config(modes: dict[str, str]) -> Config:
    return parse_config(yaml.safe_dump(network(modes)))


def _packet(number: int) -> bytes:
    return roce(
        host_address(1, DC_PORT), host_address(2, DC_PORT), FIRST_QP + number, sport=0xC000 + number
    )


def _mac(config: Config, name: str, number: int) -> str:
    node = config.nodes[name]
    port = node.port(number)
    assert port is not None
    return format_mac(port_mac(name, node, port))


def _run(
    config: Config, name: str, frames: tuple[bytes, ...], ports: tuple[int, int], load: Load
) -> Told:
    """Frames in turn, as many as the queue serves."""
    with Simulation(seed=1) as simulation:
        program = load_program(compiled_programs() / f"{config.nodes[name].role}.json")
        switch = simulation.add_switch(name, program)
        write_entries(_provision(config, name), switch.engine)
        hosts = [simulation.add_host(each) for each in ("near", "far")]
        links = [
            simulation.connect(switch, port, host, 0, rate_bps=None, delay_ns=0, buffer=load.depth)
            for port, host in zip(ports, hosts, strict=True)
        ]
        queue = PortQueue(depth=load.depth, rate_pps=load.per_second)
        switch.set_port(ports[1], PortSettings(queue))
        for frame in (frames * (load.filled // len(frames) + 1))[: load.filled]:
            hosts[0].send(frame)
        links[0].tap(0, snap=256)
        hosts[0].send_series(
            [frames[number] for number in load.order],
            per_second=load.per_second,
            count=round(load.seconds * load.per_second),
            start_ns=load.spacing_ns + load.phase_ns,
        )
        simulation.run_until(round(load.seconds * NS))
        told = Told()
        for each in simulation.tapped():
            _take(told, read_frame(each.time_ns, each.data, b"\xff" * 16))
        return told


def _provision(config: Config, name: str) -> Provision:
    """With a label and a sender for each flow where it is a PE."""
    provision = provision_of(config, name)
    if config.nodes[name].role == "pe":
        addresses = IPv4Address(host_address(1, DC_PORT)), IPv4Address(host_address(2, DC_PORT))
        for number in range(FLOWS):
            label = FCN_LABEL_BIT | number
            dest_qp = FIRST_QP + number
            provision.intent.put_encoded(
                provision.flow_table.label(1, *addresses, dest_qp, label, 0, watched=False)
            )
            provision.intent.put_encoded(
                provision.flow_by_label.notify_sender(
                    label, 1, addresses[1], addresses[0], number + 2, DEFAULT_P_KEY, ""
                )
            )
    return provision


def _take(told: Told, frame: Carried) -> None:
    """A frame that came back."""
    at = frame.time_ns
    match frame.kind:
        case "fast-cnp":
            word = int.from_bytes(frame.datagram[48:52])
            told.flows[(word >> 12) - FCN_LABEL_BIT].append(at)
        case "end-con-cnp":
            told.flows[flow_label_of(frame.datagram) - FCN_LABEL_BIT].append(at)
        case "cnp":
            told.flows[int.from_bytes(frame.datagram[33:36]) - 2].append(at)
        case "arn":
            # Without the metric, the level of the queue, and the time.
            told.names[frame.datagram[51:-4]].append(at)
        case "fantel":
            told.paths.append(at)
        case "pause":
            told.pauses.append(at)


def longest_gap(times: Iterable[int], begun: int, end: int) -> int:
    """Longest time without one of them."""
    seen = [begun, *sorted(each for each in times if begun <= each <= end), end]
    return max(b - a for a, b in pairwise(seen))
