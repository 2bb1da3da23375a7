"""A v1model program that is not fcn's in the laboratory: the one that the ECN exercise of p4lang's
tutorials asks for, with a P4Runtime controller of its own (finsy).

h1 and h11 send over s1 and s2, whose link is the slowest, to h2 and h22: RoCEv2 with DCQCN, which
heeds the marks. `python -m fcn.lab.examples.ecn` prints what comes of it; with `--no-ecn`
packets are not ECN-capable.
"""

import asyncio
import sys
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

import finsy

from fcn.controller.finsy_adapter import channels_by
from fcn.controller.logs import quiet_logs
from fcn.lab.control.loop import run
from fcn.lab.control.switch import ControlledSwitch
from fcn.lab.core import Simulation
from fcn.lab.depths import depths, measure_depth
from fcn.lab.roce import RoceHost, RoceOptions

HERE = Path(__file__).parent
GIGABIT = 10**9
CHANNEL_NS = 1_000_000
"""One way between the controller and a switch."""

SENDING_NS = 20_000_000
MTU = 1024


@dataclass(frozen=True, slots=True)
class End:
    """A host: its address and MAC, and its switch's port."""

    address: IPv4Address
    mac: str
    switch: str
    port: int


ENDS = {
    "h1": End(IPv4Address("10.0.1.1"), "08:00:00:00:01:01", "s1", 2),
    "h11": End(IPv4Address("10.0.1.11"), "08:00:00:00:01:11", "s1", 1),
    "h2": End(IPv4Address("10.0.2.2"), "08:00:00:00:02:02", "s2", 2),
    "h22": End(IPv4Address("10.0.2.22"), "08:00:00:00:02:22", "s2", 1),
}
BETWEEN = 3
"""The port of each switch towards the other one."""

ROUTER_MAC = "08:00:00:00:00:ff"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Marked packets at the receivers, cuts of the senders, packets that a queue had no room for,
    the most packets in the queue, and payload received, in octets."""

    marked: int
    cuts: int
    dropped: int
    most_packets: int
    payload: int


def routes(switch: str) -> list[finsy.P4TableEntry]:
    found = []
    for end in ENDS.values():
        own = end.switch == switch
        action = finsy.P4TableAction(
            "EcnIngress.forward",
            dst_mac=end.mac if own else ROUTER_MAC,
            port=end.port if own else BETWEEN,
        )
        match = finsy.P4TableMatch({"hdr.ipv4.dst": f"{end.address}/32"})
        found.append(finsy.P4TableEntry("EcnIngress.routes", match=match, action=action))
    return found


def experiment(*, ecn: bool = True) -> Outcome:
    """The exercise's network for 20 ms, with a queue of 200 packets."""
    with Simulation(seed=1) as simulation:
        nodes = {name: simulation.add_switch(name) for name in ("s1", "s2")}
        options = RoceOptions(mtu=MTU, ecn=2 if ecn else 0, timeout=2_000_000)
        hosts = {}
        for name, end in ENDS.items():
            host = simulation.add_host(name)
            rate = 10 * GIGABIT
            simulation.connect(
                host, 0, nodes[end.switch], end.port, rate_bps=rate, delay_ns=500, buffer=200
            )
            hosts[name] = RoceHost(host, end.address, end.mac, ROUTER_MAC, options)
        simulation.connect(
            nodes["s1"], BETWEEN, nodes["s2"], BETWEEN,
            rate_bps=5 * GIGABIT, delay_ns=10_000, buffer=200,
        )  # fmt: skip
        channels = {
            f"{name}.example:9559": ControlledSwitch(
                name, 1, node, CHANNEL_NS, simulation, lambda _request: None
            )
            for name, node in nodes.items()
        }

        async def main() -> None:
            ready: asyncio.Queue[str] = asyncio.Queue()

            async def provision(switch: finsy.Switch) -> None:
                await switch.delete_all()
                await switch.write([+entry for entry in routes(switch.name)])
                ready.put_nowait(switch.name)

            program = finsy.SwitchOptions(
                p4info=HERE / "ecn.p4info.txtpb",
                p4blob=HERE / "ecn.json",
                ready_handler=provision,
            )
            switches = [
                finsy.Switch(address.partition(".")[0], address, program) for address in channels
            ]
            async with finsy.Controller(switches):
                for _ in switches:
                    await ready.get()
                measure_depth(simulation, nodes["s1"], BETWEEN)
                for source, target in (("h1", "h2"), ("h11", "h22")):
                    sender = hosts[source]
                    connection = sender.connect(ENDS[target].address, at_ns=simulation.now_ns)
                    sender.write(connection, 100_000_000, start_ns=simulation.now_ns)
                await asyncio.sleep(SENDING_NS / 1e9)

        with channels_by(lambda address: channels[address].channel()):
            run(simulation, main())
        received = [hosts[name].receiver(0) for name in ("h2", "h22")]
        return Outcome(
            marked=sum(each.marked for each in received),
            cuts=sum(hosts[name].sender(0).cuts for name in ("h1", "h11")),
            dropped=nodes["s1"].engine.balance()["queue_full_drops"],
            most_packets=depths(simulation, nodes["s1"], BETWEEN).most_packets,
            payload=sum(each.payload for each in received),
        )


if __name__ == "__main__":
    with quiet_logs():
        sys.stdout.write(f"{experiment(ecn='--no-ecn' not in sys.argv)}\n")
