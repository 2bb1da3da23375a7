"""What is mistyped is refused where it can do no good, and noted where it does nothing (yet)."""

from typing import Any

import pytest
import yaml
from parsing import parsed
from spoilt import cases, spoil
from test_config import example, refused

from fcn.controller.config.check_modes import mode_warnings
from fcn.controller.config.check_unused import unused_notes

Data = dict[str, Any]

REFUSED = """\
nodes.pe1.ports += {number: 3, role: core}
nodes.pe1.ports += {number: 4, role: core}
links += ['pe1:3', 'pe1:4']
  @links[3] both ends are of pe1
nodes.pe1.ports[0].hosts = {10.1.0.1: '02:00:00:00:00:09'}
  @10.1.0.1 this node's own address
nodes.pe1.ports[0].hosts = {10.1.0.255: '02:00:00:00:00:09'}
  @10.1.0.255 broadcast address
nodes.pe1.ports[0].hosts = {10.7.0.1: '02:00:00:00:00:09'}
  @10.7.0.1 in no subnet of this port
nodes.pe1.vrfs.blue.routes += {prefix: 10.9.0.0/16, via: 10.1.0.1}
  @routes[2].via this node's own address
nodes.pe1.ports[0].addresses = [127.0.0.1/8]
  @addresses[0] not a unicast address
nodes.pe1.ports[0].addresses = [224.0.0.1/8]
  @addresses[0] not a unicast address
nodes.pe1.mac = 02:00:00:00:00:09
nodes.p1.ports[0].mac = 02:00:00:00:00:09
  @pe1.mac 02:00:00:00:00:09 already belongs to nodes.p1.ports.0.mac
nodes.p1.locator = 2001:db8:0:12::/64
  @p2.locator already nodes.p1.locator
nodes.pe1.tunnels.pe2-srv6.via = [p2, p2]
  @pe2-srv6.via[1] p2 is visited already
nodes.pe1.tunnels.x = {type: vxlan, egress: '2001:db8:0:ff::1'}
  @tunnels.x.egress an address of this node itself
nodes.pe1.tunnels.x = {type: srv6, sids: ['2001:db8:0:1::d46']}
  @tunnels.x.sids an address of this node itself
congestion.levels = {1: {interval: 1ms}}
  level 2, 3, 4
nodes.p2.thresholds[0].depths = [8 cells]
  @thresholds[0].depths[0] not a queue depth
flows.timeout = 0us
  write 100ms to
nodes.p1.cnp = {ttl: 9}
  @p1.cnp of a P node write fast_cnp
nodes.pe1.cnp.ipv4_source = 10.1.0.1
  @pe1.cnp.ipv4_source with source: peer it is the flow's destination
host_agents = {listen: '127.0.0.1:9662', certificate: /nonexistent, key: /nonexistent, ca: \
/nonexistent, hosts: {gpu-1: {vrf: blue, addresses: [10.1.0.10]}}}
  @host_agents.listen metrics listens on 127.0.0.1
host_agents = {listen: '127.0.0.1:9662', certificate: /nonexistent, key: /nonexistent, ca: \
/nonexistent, hosts: {gpu-1: {vrf: blue, addresses: [10.1.0.10]}}}
  @host_agents.ca cannot read /nonexistent
host_agents = {listen: '127.0.0.1:9662', certificate: /nonexistent, key: /nonexistent, ca: \
/nonexistent, hosts: {gpu-1: {vrf: blue, addresses: [10.1.0.10]}}}
  @host_agents.certificate cannot read /nonexistent
links[0] = ["pe1:\u0662", 'p1:1']
  @links[0][0] not of the form
nodes.pe1.program = ""
  @pe1.program at least 1
"""


@pytest.mark.parametrize(("changes", "where", "reason"), cases(REFUSED))
def test_what_can_do_no_good_is_refused(changes: tuple[str, ...], where: str, reason: str) -> None:
    data = spoil(example(), changes)
    found = refused(yaml.safe_dump(data))
    assert any(at.endswith(where) and reason in why for _, at, why in found), found


def test_a_number_that_is_octal_elsewhere_is_refused() -> None:
    text = yaml.safe_dump(example()).replace("fast_cnp_port: 1021", "fast_cnp_port: 01021")
    ((_, where, why),) = refused(text)
    assert where == "fast_cnp_port"
    assert "valid integer, got '01021'" in why


IN_TWO_THRESHOLD = """\
del congestion
del nodes.p2.thresholds
notification = two-threshold
"""
HEEDING = """\
flow_control = service
nodes.pe1.ports[0].heed_pause = true
"""
"""The PAUSE frames of a data centre that gets some."""
NOTED = f"""\
switch_tls = {{ca: /nonexistent}}
nodes.pe1.insecure = true
nodes.p1.insecure = true
nodes.p2.insecure = true
nodes.pe2.insecure = true
  @switch_tls all nodes are insecure
{IN_TWO_THRESHOLD}\
two_threshold = {{treatment: none, rate: {{rate: 5, burst: 1}}}}
  @two_threshold.rate treatment: slow, which no flow gets
{IN_TWO_THRESHOLD}\
two_threshold = {{treatment: none, hold: 30ms}}
  @two_threshold.hold no flow is treated
{HEEDING}\
nodes.pe1.ports[0].rate = 400 Gb/s
  for 83us, and holding.relief_repeat is 150us
holding.time = 2ms
  @holding flow_control is off
fantel_transport = icmpv6
  without failure_detection
failure_detection = {{relief: 50ms}}
  @failure_detection.relief of notification: fantel, and this domain has fcn
congestion.levels[2] = {{interval: 2ms}}
  @congestion.levels.2.interval 2ms is longer than that of level 1 (1ms)
trusted_prefixes = ['2001:db8:0:ff::/124']
  add 2001:db8:0:ff::11 (p1), 2001:db8:0:ff::12 (p2)
vrfs.red = {{id: 2}}
  no node has it
nodes.pe1.tunnels.spare = {{type: srv6, to: pe2}}
  no route or policy names it
nodes.pe1.policies = {{pair: {{to: pe2, paths: [{{tunnel: pe2-srv6}}], backup: []}}}}
  @nodes.pe1.policies.pair no route names it
"""


@pytest.mark.parametrize(("changes", "where", "reason"), cases(NOTED))
def test_what_does_nothing_is_noted(changes: tuple[str, ...], where: str, reason: str) -> None:
    data = spoil(example(), changes)
    ((place, why),) = unused_notes(parsed(data))
    assert place == where
    assert reason in why


@pytest.mark.parametrize(
    "changes",
    [
        "",
        f"{IN_TWO_THRESHOLD}two_threshold = {{treatment: slow, rate: {{rate: 5, burst: 1}}}}",
        f"{HEEDING}nodes.pe1.ports[0].rate = 100 Gb/s",
        "flow_control = service\nholding.time = 2ms",
        "trusted_prefixes = ['2001:db8:0:ff::/64']",
        "notification = none\ntrusted_prefixes = []",
    ],
)
def test_what_has_an_effect_is_not_noted(changes: str) -> None:
    data = spoil(example(), tuple(changes.splitlines()))
    assert list(unused_notes(parsed(data))) == []


def test_an_egress_pe_tells_nobody_of_a_port_with_fantel() -> None:
    data = example() | {"failure_detection": {}, "notification": "fantel"}
    pe1 = data["nodes"]["pe1"]
    pe1["thresholds"] = [{"port": 1, "depths": [8]}]
    for name in ("pe1", "pe2"):
        node, tunnels = data["nodes"][name], data["nodes"][name]["tunnels"]
        for index, name_of_tunnel in enumerate(tunnels):
            to = tunnels[name_of_tunnel]["to"]
            policy = {"to": to, "paths": [{"tunnel": name_of_tunnel}], "backup": []}
            node.setdefault("policies", {})[f"by-{index}"] = policy
            given = node["vrfs"]["blue"]["routes"][index]
            node["vrfs"]["blue"]["routes"][index] = {
                "prefix": given["prefix"],
                "policy": f"by-{index}",
            }
    ((where, why),) = mode_warnings(parsed(data))
    assert where == "nodes.pe1.thresholds[0]"
    assert "with notification: fantel this node tells no other PE" in why
