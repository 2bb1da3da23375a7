"""`fcn host-agent` in the guests: source queue pairs reported by the hosts (FCN-3 a).

The agent is the one installed on this machine, run on the guest's kernel over its 9p share; it
reaches the controller over the guest's management network.
"""

import re
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from fcn.controller.hostagent.reports import HostRefusal
from fcn.hosts.guest.channel import GuestError
from fcn.hosts.processes import wait_until
from fcn.topologies.api import fcn_command, topology_client
from fcn.topologies.guest_host import HOST_ROOT, GuestHost
from fcn.topologies.interop.certificates import Authority
from fcn.topologies.interop.execution import ended, start
from fcn.topologies.interop.mapping import Pair, reported
from fcn.topologies.interop.transfers import QUEUE_PAIRS, Transfer, quiet_send
from fcn.topologies.model import Topology

AGENTS_PORT = 9663
METRICS_ENDPOINT = "127.0.0.1:9662"
CONTROLLER_NAME = "fcn.example.net"
INTERVAL = "1s"
ACCEPTED = "fcn_agent_reports_total"
REFUSED = "fcn_agent_reports_refused_total"
# Python starts slowly on an emulated machine, from files over 9p.
START_TIMEOUT_S = 180.0
LEARN_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class AgentFlows:
    """The flows of one transfer: as the guests report them; those the controller learned correctly
    from the agents; those it has with a wrong queue pair, of any origin."""

    family: int
    pairs: frozenset[Pair]
    by_agent: frozenset[Pair]
    wrong: frozenset[Pair]

    @property
    def complete(self) -> bool:
        """Whether the controller learned the queue pairs of all flows from the agents."""
        return len(self.pairs) >= 2 * QUEUE_PAIRS and self.pairs == self.by_agent


@dataclass(frozen=True, slots=True)
class AgentReport:
    """Results of the agents: flows, reports as the controller counts them, whether the agent that
    reported another host's queue pairs received the rejection, seconds."""

    flows: tuple[AgentFlows, ...]
    accepted: int
    refused: int
    told: bool
    seconds: float

    def checks(self) -> dict[str, bool]:
        """The checks and whether they hold."""
        return {
            f"every flow over IPv{each.family} has the queue pair from them, none a wrong one": (
                each.complete and not each.wrong
            )
            for each in self.flows
        } | {
            "another host's queue pairs are rejected, with a reason, and counted": self.told
            and self.refused > 0
        }


def agent_sections(topology: Topology, directory: Path) -> dict[str, object]:
    """Sections of the controller's configuration, with new certificates in `directory`."""
    authority = Authority(directory)
    own = authority.sign(CONTROLLER_NAME)
    hosts = {}
    for host in topology.hosts:
        authority.sign(host.name)
        addresses = topology.addresses(host.name)
        hosts[host.name] = {
            "vrf": host.vrf,
            "addresses": [str(addresses.ipv4.ip), str(addresses.ipv6.ip)],
        }
    return {
        "metrics": METRICS_ENDPOINT,
        "host_agents": {
            "listen": f"0.0.0.0:{AGENTS_PORT}",
            "certificate": str(own.certificate),
            "key": str(own.key),
            "ca": str(authority.ca),
            "hosts": hosts,
        },
    }


class Agent:
    """Context manager: an agent in `host` with the certificate of `name`; `said`: its output."""

    def __init__(self, host: GuestHost, name: str, directory: Path) -> None:
        self.said = ""
        self._host = host
        self._log = directory / f"{name}-in-{host.name}.log"
        self._pid_file = f"/run/agent-{name}"
        directory = directory.absolute()
        # The guest's one CPU is busy with the transfers.
        self._number = host.channel.start(
            f"echo $$ >{self._pid_file}; exec chroot {HOST_ROOT} nice -n -10 "
            f"{fcn_command()} host-agent {host.management[0].ip}:{AGENTS_PORT} "
            f"--certificate {directory / name}.pem --key {directory / name}.key "
            f"--ca {directory}/ca.pem --controller-name {CONTROLLER_NAME} --interval {INTERVAL}"
        )

    def check(self) -> None:
        """Raise GuestError when it has ended."""
        if self._host.channel.done(self._number):
            raise GuestError(f"an agent in {self._host.name} has ended; see {self._log}")

    def __enter__(self) -> "Agent":
        return self

    def __exit__(self, *_: object) -> None:
        self._host.channel.run(f"kill $(cat {self._pid_file}) || true")
        self.said = self._host.channel.wait(self._number).output
        self._log.write_text(self.said)


def host_agents(near: GuestHost, far: GuestHost, directory: Path) -> AgentReport:
    """Run agents in both guests, and in `far` first another one with the certificate of `near`.

    `directory` has the certificates and receives the agents' output.
    """
    begun = time.monotonic()
    for host in (near, far):
        host.mount_host()
    with Agent(near, near.name, directory) as first, Agent(far, far.name, directory) as second:
        with Agent(far, near.name, directory) as impostor:

            def reporting() -> bool:
                for agent in (first, second, impostor):
                    agent.check()
                return _count(ACCEPTED, near.name) > 0 < _count(ACCEPTED, far.name) * _foreign()

            wait_until(reporting, START_TIMEOUT_S, f"the agents do not report; see {directory}")
        flows = tuple(_named(near, far, quiet_send(near, far, family)) for family in (4, 6))
        return AgentReport(
            flows,
            sum(_count(ACCEPTED, host.name) for host in (near, far)),
            _foreign(),
            "is refused by the controller" in impostor.said,
            time.monotonic() - begun,
        )


def _named(near: GuestHost, far: GuestHost, transfer: Transfer) -> AgentFlows:
    """Run a transfer until all its flows are learned from the agents, or for LEARN_TIMEOUT_S."""
    client, server = start(near, far, transfer)
    deadline = time.monotonic() + LEARN_TIMEOUT_S
    seen = _look(near, far, transfer.family)
    while not seen.complete and time.monotonic() < deadline:
        seen = _look(near, far, transfer.family)
    for host, number in ((near, client), (far, server)):
        ended(host, number, time.monotonic())
    return seen


def _look(near: GuestHost, far: GuestHost, family: int) -> AgentFlows:
    pairs = reported(near, far, family)
    truth = {(each.src, each.dst, each.dest_qp): each.source_qp for each in pairs}
    by_agent, wrong = set(), set()
    with topology_client() as client:
        flows = client.flows(unlabelled=True)
    for flow in flows:
        key = (flow.key.src, flow.key.dst, flow.key.dest_qp)
        if key not in truth or not flow.HasField("source_qp"):
            continue
        known = Pair(flow.key.src, flow.key.dst, flow.source_qp, flow.key.dest_qp)
        if known not in pairs:
            wrong.add(known)
        elif flow.origin == "agent":
            by_agent.add(known)
    return AgentFlows(family, pairs, frozenset(by_agent), frozenset(wrong))


def _foreign() -> int:
    """Reports rejected because of addresses of another host."""
    return _count(REFUSED, HostRefusal.FOREIGN_ADDRESS.value)


def _count(counter: str, label: str) -> int:
    """A counter with one label from the controller's metrics; 0 when it is not there."""
    with urlopen(f"http://{METRICS_ENDPOINT}/metrics") as page:
        text = page.read().decode()
    found = re.search(rf'^{counter}{{\w+="{label}"}} (\d+)', text, re.MULTILINE)
    return int(found[1]) if found else 0
