"""Controllers, switches and the channels between them fail at random while flows are learned, end
and are registered, and switches lie about who is primary, in virtual time; afterwards nothing may
be lost, or be there twice. One of three controllers is always left."""

import asyncio
import logging
import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from rivals import CALM, Rivals, rivals, until_ruled
from tenants import BLUE, DC_PORT
from virtual import VirtualSwitch, virtual_time_loop

from fcn.controller.app import ControlPlane
from fcn.controller.config.load import EXAMPLE
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.service import FlowError
from fcn.controller.leadership.ids import run_of

HOSTS = {"pe1": ip_address("10.1.0.10"), "pe2": ip_address("10.2.0.20")}
REGISTERED = range(1000, 1010)
"""Destination queue pairs of flows that are registered by command."""
Flows = dict[tuple[str, FlowKey], int | None]
"""Labels by PE and flow."""


@dataclass
class Chaos:
    """What happens to `rivals`, by `rng`, and what has to be there afterwards."""

    rivals: Rivals
    rng: random.Random
    kills: int = 0
    lasting: Flows = field(default_factory=dict)
    """Labelled on switches that have neither restarted nor reported the flow as idle since."""
    said: set[FlowKey] = field(default_factory=set)
    lie: asyncio.Task[None] | None = None

    async def run(self, accidents: int) -> None:
        """Let as many things fail, and then all come back."""
        await self.rivals.start(1)
        for _ in range(accidents):
            self._learn()
            await self._accident()
            await asyncio.sleep(self.rng.expovariate(2.0))
            self._see()
        if self.lie is not None:
            await self.lie
        self.rivals.restore_all()
        await until_ruled(self.rivals, [1, 2, 3], CALM)
        self._learn()
        await asyncio.sleep(1)
        self._see()

    def leader(self) -> ControlPlane | None:
        """The one controller that rules all switches, if one does."""
        number = next((each for each in self.rivals.planes if self.rivals.rule_all(each)), None)
        return None if number is None else self.rivals.planes[number]

    def faults(self, known: Flows, held: Flows) -> Iterator[str]:
        """What is wrong with what the leader knows and the switches hold in the end."""
        if known != held:
            yield f"leader and switches differ: {set(known.items()) ^ set(held.items())}"
        if len(set(held.values())) != len(held):
            yield f"a label is there twice: {sorted(held.values(), key=str)}"
        for place, label in self.lasting.items():
            if held.get(place) != label:
                yield f"{place} had label {label}, and has {held.get(place)}"
        if lost := self.said - {key for _, key in held}:
            yield f"registered flows are lost: {lost}"

    def _learn(self) -> None:
        """Some packets of flows that their switch does not know."""
        for node, host in HOSTS.items():
            switch = self.rivals.switches[node]
            if not switch.engines or switch.engine.events is None:
                continue
            other = next(each for name, each in HOSTS.items() if name != node)
            for qp in self.rng.sample(range(100), 10):
                packet = (BLUE, int(host), int(other), qp, 0xFFFF, 5, 50000, 4, DC_PORT)
                switch.engine.digest("new_flow_ipv4_t", packet)

    def _see(self) -> None:
        leader = self.leader()
        if leader is not None:
            for place, label in _flows(leader).items():
                # Of a switch it is cut off from it does not know that it has started anew.
                if self._is_heard(place[0]):
                    self.lasting.setdefault(place, label)
        # As `follow` does; a command was answered a while ago.
        for number in self.rivals.leaders():
            image = self.rivals.planes[number].store.image()
            for plane in self.rivals.planes.values():
                plane.keep(image)

    async def _accident(self) -> None:
        number = self.rng.choice((1, 2, 3))
        name = self.rng.choice(list(self.rivals.switches))
        switch = self.rivals.switches[name]
        kinds = ("controller", "controller", "switch", "channel", "idle", "command", "lie")
        match self.rng.choice(kinds):
            case "controller" if number not in self.rivals.running:
                await self.rivals.start(number)
            case "controller" if len(self.rivals.running) > 1:
                self.kills += 1
                await self.rivals.end(number)
            case "switch":
                self._forget(name)
                await switch.stop()
                await switch.start()
            case "channel":
                link = self.rivals.links.get((number, name))
                if link is not None:
                    (link.restore if link.is_cut else link.cut)()
            case "idle" if self._is_heard(name):
                self._forget(name)
                switch.engine.fall_idle("flow_ipv4")
            case "command":
                self._command()
            case "lie" if self.lie is None or self.lie.done():
                self.lie = asyncio.create_task(self._lie(switch))

    async def _lie(self, switch: VirtualSwitch) -> None:
        """One of the controllers is primary there, a switch says."""
        with switch.lying(run_of(self.rng.choice((1, 2, 3)))):
            await asyncio.sleep(self.rng.uniform(0.1, 20.0))

    def _is_heard(self, node: str) -> bool:
        """Whether what a switch says arrives at once."""
        switch = self.rivals.switches[node]
        cut = any(link.is_cut for (_, name), link in self.rivals.links.items() if name == node)
        return bool(switch.engines) and switch.engine.events is not None and not cut

    def _forget(self, node: str) -> None:
        self.lasting = {place: label for place, label in self.lasting.items() if place[0] != node}

    def _command(self) -> None:
        leader = self.leader()
        if leader is None:
            return
        key = FlowKey("blue", HOSTS["pe1"], HOSTS["pe2"], self.rng.choice(REGISTERED))
        try:
            if key in self.said:
                leader.flows.delete(key)
                self.said.discard(key)
                self.lasting.pop(("pe1", key), None)
            else:
                leader.flows.add(key, 7, 0)
                self.said.add(key)
        except FlowError:
            # No command is told while nothing is connected.
            return
        self._see()


def _flows(plane: ControlPlane) -> Flows:
    return {(flow.node, flow.key): flow.label for flow in plane.flows.all()}


async def chaos(around: Rivals, seed: int, accidents: int) -> tuple[Chaos, list[str]]:
    """Run it, and return what is wrong afterwards."""
    found = Chaos(around, random.Random(seed))
    await found.run(accidents)
    leader = found.leader()
    assert leader is not None
    known = _flows(leader)
    # One that knows nothing else reads what the switches hold.
    for number in around.running:
        await around.end(number)
    for switch in around.switches.values():
        switch.forget_kept()
    fresh = await around.start(4)
    await until_ruled(around, [4], CALM)
    return found, list(found.faults(known, _flows(fresh)))


async def _once(seed: int, *, named: bool) -> tuple[Chaos, list[str]]:
    network: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text())
    del network["metrics"]
    with TemporaryDirectory() as folder:
        async with rivals(network, named=named, folder=Path(folder)) as found:
            return await chaos(found, seed, 100)


def main(kills: int) -> int:
    """Until as many controllers were ended; the seeds that went wrong are printed."""
    logging.disable(logging.CRITICAL)
    done = wrong = 0
    for seed in count():
        for named in (False, True):
            with asyncio.Runner(loop_factory=virtual_time_loop) as runner:
                found, faults = runner.run(_once(seed, named=named))
            done += found.kills
            wrong += bool(faults)
            print(
                f"seed {seed}{' named' if named else ''}: {found.kills} ends, {done} of {kills};",
                f"{len(found.lasting)} flows stayed; {'; '.join(faults) or 'in order'}",
                flush=True,
            )
            if done >= kills:
                print(f"{done} ends of controllers, {wrong} runs not in order")
                return 1 if wrong else 0
    raise AssertionError("there is always another seed")


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
