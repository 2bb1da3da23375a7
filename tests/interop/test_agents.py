"""The checks on host agents in the report, and the agents' certificates."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from fcn.controller.config import parse_config
from fcn.topologies.controller_config import controller_config
from fcn.topologies.interop.agents import AgentFlows, AgentReport, agent_sections
from fcn.topologies.interop.certificates import Authority
from fcn.topologies.interop.mapping import Pair
from fcn.topologies.interop.topology import interop, settings

needs_openssl = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="openssl is not installed (Debian package openssl)"
)

PAIRS = frozenset(Pair("a", "b", 17 + n, 33 + n) for n in range(4)) | frozenset(
    Pair("b", "a", 33 + n, 17 + n) for n in range(4)
)
ALL = AgentFlows(4, PAIRS, PAIRS, frozenset())
GOOD = AgentReport((ALL, replace(ALL, family=6)), accepted=5, refused=1, told=True, seconds=1.0)


def test_all_flows_named_by_agents_is_good() -> None:
    assert all(GOOD.checks().values())


@pytest.mark.parametrize(
    "bad",
    [
        replace(GOOD, refused=0),
        replace(GOOD, told=False),
        replace(GOOD, flows=(replace(ALL, by_agent=PAIRS - {min(PAIRS)}),)),
        replace(GOOD, flows=(replace(ALL, wrong=frozenset({Pair("a", "b", 1, 33)})),)),
        replace(GOOD, flows=(AgentFlows(4, frozenset(), frozenset(), frozenset()),)),
    ],
)
def test_anything_else_is_not(bad: AgentReport) -> None:
    assert list(bad.checks().values()).count(False) == 1


@needs_openssl
def test_certificates_are_of_their_ca_and_sign_no_others(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "ours")
    host = authority.sign("g1")
    verify = ["openssl", "verify", "-CAfile", str(authority.ca), str(host.certificate)]
    subprocess.run(verify, check=True, capture_output=True)
    shown = subprocess.run(
        ["openssl", "x509", "-noout", "-text", "-in", str(host.certificate)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "CA:FALSE" in shown
    assert "DNS:g1" in shown


@needs_openssl
def test_the_controller_takes_the_configuration(tmp_path: Path) -> None:
    topology = interop("srv6")
    sections = agent_sections(topology, tmp_path)
    config = parse_config(yaml.safe_dump(controller_config(topology, settings(sections))))
    assert config.host_agents is not None
    assert {
        name: [str(address) for address in host.addresses]
        for name, host in config.host_agents.hosts.items()
    } == {"g1": ["10.1.1.10", "2001:db8:1:1::10"], "g2": ["10.2.1.10", "2001:db8:2:1::10"]}
    assert Path(config.host_agents.key).read_text().startswith("-----BEGIN")
