"""Senders heed PAUSE frames at the rate that the description of the network gives their link."""

from dataclasses import replace
from pathlib import Path

from fcn.hosts.roce.options import Sender
from fcn.topologies.dc import sample
from fcn.topologies.demo import traffic
from fcn.topologies.demo.scenario import LINK_BPS, demo_scenario
from fcn.topologies.description import parse_topology

CENTRES = """\
nodes: {pe1: {role: pe}, pe2: {role: pe}}
links: [{between: [pe1, pe2]}]
data_centres:
  - {pe: pe1, hosts: 2, rate: 40 Mb/s}
  - {pe: pe2, hosts: 2}
"""


def link_rate(options: Sender) -> str:
    """As it is on the command line."""
    arguments = options.arguments()
    return arguments[arguments.index("--link-rate-bps") + 1]


def test_those_of_the_demo(tmp_path: Path) -> None:
    scenario = demo_scenario(4.0)
    hosts = tuple(
        replace(host, rate_bps=25 * 10**6) if host.name == "h2" else host
        for host in scenario.topology.hosts
    )
    limited = replace(scenario, topology=replace(scenario.topology, hosts=hosts))
    rates = [
        link_rate(traffic.sender_options(limited, flow, tmp_path / "log", 0))
        for flow in limited.flows
    ]
    assert rates == [str(LINK_BPS), "25000000"]


def test_those_of_data_centres(tmp_path: Path) -> None:
    near, far = parse_topology(CENTRES, "two.yaml").centres
    (forth, _), (back, _) = (sample.sample_flows(*ends, 2) for ends in ((near, far), (far, near)))
    rates = [link_rate(sample.sender_options(flow, 1e6, 0, tmp_path)) for flow in (forth, back)]
    assert rates == ["40000000", "0"]
