"""All transfers on one network: their success, the mapping, the CNPs received."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from fcn.controller.northbound.client import FcnClient
from fcn.hosts.guest.channel import GuestError
from fcn.hosts.guest.image import Image
from fcn.topologies.guest_host import GuestHost
from fcn.topologies.interop.agents import AgentReport, agent_sections, host_agents
from fcn.topologies.interop.controls import Control, controls
from fcn.topologies.interop.evidence import Evidence, collect, watch
from fcn.topologies.interop.execution import (
    ATTEMPTS,
    TRANSFER_TIMEOUT_S,
    Outcome,
    all_released,
    carry_out,
    ended,
    start,
)
from fcn.topologies.interop.mapping import compare
from fcn.topologies.interop.sniffer import Cnp, Sniffer
from fcn.topologies.interop.topology import FAR, FLOW_TIMEOUT_S, NEAR, interop, settings
from fcn.topologies.interop.transfers import Transfer, long_write, rping, transfers
from fcn.topologies.model import TunnelType
from fcn.topologies.network import Network, Target


@dataclass
class Report:
    """The results of one type of tunnel."""

    tunnel: TunnelType
    outcomes: list[Outcome] = field(default_factory=list)
    cnps: list[Cnp] = field(default_factory=list)
    queue_pairs: dict[int, set[int]] = field(default_factory=lambda: {4: set(), 6: set()})
    own_checked: int = 0
    own_valid: int = 0
    evidence: Evidence | None = None
    controls: tuple[Control, ...] = ()
    agents: AgentReport | None = None
    death: dict[str, bool] = field(default_factory=dict)
    seconds: float = 0.0


def run(
    tunnel: TunnelType,
    target: Target,
    image: Image,
    directory: Path,
    progress: Callable[[str], None],
    *,
    with_agents: bool,
) -> Report:
    """Boot, transfer, congest, kill a guest; raises ProcessError, GuestError, ControllerError.

    `progress` is called with each step; `with_agents`: also run host agents in the guests.
    """
    begun = time.monotonic()
    report = Report(tunnel)
    make_host = partial(GuestHost, image=image, directory=directory)
    topology, agents = interop(tunnel), directory / "agents"
    chosen = settings(agent_sections(topology, agents))
    with Network(topology, target, chosen, directory, make_host) as network:
        near, far = network.host(NEAR), network.host(FAR)
        if not isinstance(near, GuestHost) or not isinstance(far, GuestHost):
            raise TypeError("the hosts of this network are guests")
        progress("booting guests")
        for host in (near, far):
            host.wait_ready()
        network.wait_for_ping(NEAR, FAR)
        # A connection attempt without a listener uses up one QP number, so that the numbers of both
        # ends differ from now on and confusing them is detected.
        far.channel.run(f"rping -c -a {near.address(4)} -C 1 || true")
        before = watch(near)
        with Sniffer(near) as sniffer:
            for transfer in transfers(near, far):
                progress(str(transfer))
                report.outcomes.append(carry_out(near, far, transfer, sniffer, report.queue_pairs))
                network.check()
        report.cnps = list(sniffer.cnps)
        report.own_checked, report.own_valid = sniffer.own_checked, sniffer.own_valid
        report.evidence = collect(near).since(before)
        progress("valid and invalid test CNPs to the guest's kernel")
        report.controls = controls(near, far)
        if with_agents:
            progress("host agents in the guests")
            report.agents = host_agents(near, far, agents)
        progress("killing a guest during a transfer")
        report.death = _kill_receiver(network, near, far)
        network.check()
    report.seconds = time.monotonic() - begun
    return report


def _start_mapped(near: GuestHost, far: GuestHost, transfer: Transfer) -> int:
    """Start a transfer; the client's number once it is under way and mapped."""
    for _ in range(ATTEMPTS):
        client, server = start(near, far, transfer)
        while not near.channel.done(client):
            seen = compare(near, far, transfer.family)
            if len(seen.reported) >= 2 * transfer.queue_pairs and not seen.missing:
                return client
        ended(far, server, time.monotonic())
    raise GuestError(f"{transfer} ended in all of {ATTEMPTS} attempts before the guest was killed")


def _kill_receiver(network: Network, near: GuestHost, far: GuestHost) -> dict[str, bool]:
    """Kill the receiver during a transfer; returns the checks and whether they hold."""
    client = _start_mapped(near, far, long_write(near, far))
    far.kill_guest()
    # Debian's rdma_rxe keeps such queue pairs in RTS for minutes; the client is killed, as a user
    # would.
    failed = ended(near, client, time.monotonic()).status != 0
    # Without a disconnect the mappings end with the flow timeout (FCN-4).
    released = all_released(4 * FLOW_TIMEOUT_S)
    far.boot()
    far.wait_ready()
    network.wait_for_ping(NEAR, FAR)
    again = rping(4, far.address(4), count=10)
    client, server = start(near, far, again)
    deadline = time.monotonic() + TRANSFER_TIMEOUT_S
    statuses = [
        ended(host, number, deadline).status for host, number in ((near, client), (far, server))
    ]
    with FcnClient(network.api) as controller:
        states = [node.state for node in controller.status().nodes]
    return {
        "the sender's transfer fails": failed,
        "its mappings are removed": released,
        "after a reboot, with the same QP numbers, rping succeeds": statuses == [0, 0],
        "controller and switches are up": states == ["up"] * len(network.topology.nodes),
    }
