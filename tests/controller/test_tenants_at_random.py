"""Customers come, go, and change numbers and ports at random, with the same addresses, while their
hosts connect, switches restart and channels are cut: what is known of a flow was said by its own
customer's hosts, and switches hold what the controller knows."""

import asyncio
import random
from copy import deepcopy
from ipaddress import ip_address
from typing import Any

import pytest
import yaml
from switches import QuietEngine, all_up
from virtual import VirtualSwitch, virtual_plane

from fcn.contract.constants import CmAttribute
from fcn.controller.app import ControlPlane
from fcn.controller.config import parse_config
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.provenance import Origin
from fcn.controller.flows.service import FlowError
from fcn.controller.northbound.network import ApplyError

pytestmark = pytest.mark.virtual_time

Network = dict[str, Any]
Switches = dict[str, VirtualSwitch]
STEPS = 40
PES = ("pe1", "pe2")
HOSTS = {
    name: [ip_address(f"10.{site}.0.{number}") for number in (10, 11)]
    for site, name in enumerate(PES, start=1)
}
NAMES = ("blue", "red", "green", "grey")
QPS = {name: range(1000 * number, 1000 * number + 6) for number, name in enumerate(NAMES, start=1)}
"""Of each customer, whose hosts never name another's."""
IDS, PORTS = range(1, 6), (31, 32, 33)


class History:
    """What happens, by `rng`."""

    def __init__(self, network: Network, switches: Switches, rng: random.Random) -> None:
        self._example, self._switches, self._rng = network, switches, rng
        self._last_id = 100
        self.where: dict[str, tuple[int, int]] = {}
        """Number and port of each customer."""
        self.plane: ControlPlane = virtual_plane(parse_config(self._file()))

    def _file(self) -> str:
        """Of some customers."""
        rng, found = self._rng, deepcopy(self._example)
        names = rng.sample(NAMES, rng.choice((1, 2, 3)))
        places = zip(rng.sample(IDS, len(names)), rng.sample(PORTS, len(names)), strict=True)
        self.where = dict(zip(names, places, strict=True))
        found["vrfs"] = {name: {"id": number} for name, (number, _) in self.where.items()}
        for site, name in enumerate(PES, start=1):
            node = found["nodes"][name]
            node["features"] = "all"
            node["ports"] = [port for port in node["ports"] if port["role"] == "core"]
            node["ports"] += [
                {"number": port, "role": "dc", "vrf": vrf, "addresses": [f"10.{site}.0.1/24"]}
                for vrf, (_, port) in self.where.items()
            ]
            route = {"prefix": f"10.{3 - site}.0.0/24", "tunnel": f"pe{3 - site}-srv6"}
            node["vrfs"] = {
                vrf: {"service_sid": f"2001:db8:0:{site}::d{number}", "routes": [dict(route)]}
                for number, vrf in enumerate(NAMES)
                if vrf in self.where
            }
        return yaml.safe_dump(found)

    def _engines(self) -> dict[str, QuietEngine]:
        """Of the PEs that have a program, and somebody who hears them."""
        found = {name: self._switches[name] for name in PES}
        return {
            name: switch.engine
            for name, switch in found.items()
            if switch.engines and switch.engine.events is not None
        }

    async def step(self) -> None:
        """One thing happens."""
        kinds = ("connect", "connect", "send", "disconnect", "idle", "register", "apply", "apply",
                 "restart", "cut", "wait")  # fmt: skip
        rng, switch = self._rng, self._switches[self._rng.choice(PES)]
        match rng.choice(kinds):
            case "register":
                vrf, a, b = rng.choice(list(self.where)), *map(rng.choice, HOSTS.values())
                dest_qp, source_qp = rng.sample(QPS[vrf], 2)
                try:
                    self.plane.flows.add(FlowKey(vrf, a, b, dest_qp), source_qp)
                except FlowError:
                    return
            case "apply":
                before = self.where
                switch.engine.full = rng.choice(("", "", "route_ipv4")) if switch.engines else ""
                try:
                    await self.plane.apply(self._file(), "network.yaml")
                except ApplyError:
                    self.where = before
                for each in self._switches.values():
                    for engine in each.engines[-1:]:
                        engine.full = ""
            case "restart":
                await switch.stop()
                await switch.start()
            case "cut":
                (switch.link.restore if switch.link.is_cut else switch.link.cut)()
            case "wait":
                await asyncio.sleep(rng.choice((0.01, 5, 40)))
            case "idle":
                for engine in self._engines().values():
                    engine.fall_idle("flow_ipv4")
            case kind:
                self._report(kind)
        await asyncio.sleep(rng.choice((0, 0.001, 0.05, 0.5)))

    def _report(self, kind: str) -> None:
        """Hosts of a customer send, and the PEs say so."""
        rng, engines = self._rng, self._engines()
        vrf = rng.choice(list(self.where))
        number, port = self.where[vrf]
        a, b = (int(rng.choice(hosts)) for hosts in HOSTS.values())
        own, peer = rng.sample(QPS[vrf], 2)
        self._last_id += rng.choice((0, 1))
        ids = self._last_id, self._last_id + 5000
        items: tuple[tuple[int, ...], tuple[int, ...]]
        digest = "cm_ipv4_t"
        if kind == "connect":
            items = (
                (number, a, b, CmAttribute.REQ, ids[0], 0, own, port),
                (number, b, a, CmAttribute.REP, ids[1], ids[0], peer, port),
            )
        elif kind == "disconnect":
            items = (
                (number, a, b, CmAttribute.DREQ, *ids, peer, port),
                (number, b, a, CmAttribute.DREP, *ids[::-1], 0, port),
            )
        else:
            digest = "new_flow_ipv4_t"
            items = (
                (number, a, b, peer, 0xFFFF, 5, 50000, 4, port),
                (number, b, a, own, 0xFFFF, 5, 50000, 4, port),
            )
        for name, item in zip(PES, items, strict=True):
            if name in engines:
                engines[name].digest(digest, item)

    def check(self) -> None:
        """Nobody has what is another's."""
        for flow in self.plane.flows.all():
            assert flow.source_qp is None or flow.source_qp in QPS[flow.key.vrf], flow


@pytest.mark.parametrize(
    "seed",
    [101, 119, *(pytest.param(each, marks=pytest.mark.exhaustive) for each in range(100, 160))],
)
async def test_nobody_gets_what_was_said_of_another(
    network: Network, switches: Switches, caplog: pytest.LogCaptureFixture, seed: int
) -> None:
    caplog.set_level("ERROR")
    history = History(network, switches, random.Random(seed))
    plane = history.plane
    async with plane.running():
        await all_up(plane)
        for _ in range(STEPS):
            await history.step()
            history.check()
        for switch in switches.values():
            switch.link.restore()
        await all_up(plane)
        await asyncio.sleep(31)
        history.check()
        for node in plane.nodes.values():
            assert await node.settled()
            assert not node.failures
        labels = [flow.label for flow in plane.flows.all()]
        assert len(set(labels)) == len(labels)
        for key, sender in plane.flows._senders:
            assert key.vrf in history.where or sender.origin is Origin.MANUAL
        for name in PES:
            for table in ("flow_ipv4", "flow_by_label_ipv4"):
                assert switches[name].engine.size(table) == len(plane.flows.on_node(name))
    assert not caplog.records
