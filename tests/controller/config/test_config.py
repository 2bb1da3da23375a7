"""The configuration file: a valid one is parsed, problems are reported with their line."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from spoilt import cases, spoil

from fcn import controller
from fcn.controller.config import Config, ConfigError, load_config, parse_config
from fcn.controller.config.features import Feature

EXAMPLE = Path(controller.__file__).parent / "examples" / "network.yaml"


def example() -> dict[str, Any]:
    """The example as plain data, to be modified."""
    data: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text())
    return data


def refused(text: str) -> list[tuple[int, str, str]]:
    with pytest.raises(ConfigError) as caught:
        parse_config(text, "bad.yaml")
    assert all(line.startswith("bad.yaml:") for line in str(caught.value).splitlines())
    return [(p.line, p.where, p.message) for p in caught.value.problems]


def test_example_is_valid() -> None:
    config = load_config(EXAMPLE)
    assert set(config.nodes) == {"pe1", "p1", "p2", "pe2"}
    assert config.nodes["pe1"].cnp.min_interval == 50
    assert config.flows.timeout == 60_000_000


def test_features_are_disabled_by_default() -> None:
    data = example()
    for node in data["nodes"].values():
        node.pop("features")
    assert not any(node.features for node in Config.model_validate(data).nodes.values())
    assert Config.model_validate(data).fast_cnp_port == 1021


@pytest.mark.parametrize(
    ("node", "written", "enabled"),
    [
        ("pe1", "all", set(Feature)),
        ("p1", "all", {Feature.NOTIFICATION}),
        ("pe1", ["translation", "learning"], {Feature.LEARNING, Feature.TRANSLATION}),
        ("p1", ["notification"], {Feature.NOTIFICATION}),
        ("pe1", [], set()),
    ],
)
def test_features_are_named(node: str, written: object, enabled: set[Feature]) -> None:
    data = example()
    data["nodes"][node]["features"] = written
    assert parse_config(yaml.safe_dump(data)).nodes[node].features == enabled


def test_the_api_may_be_on_a_unix_socket() -> None:
    longest = "unix:/" + "a" * 101
    assert Config.model_validate(example() | {"api": longest}).api == longest


def test_configuration_is_frozen() -> None:
    config = load_config(EXAMPLE)
    with pytest.raises(ValueError, match="frozen"):
        config.fast_cnp_port = 1


SPOILT = """\
nodes.pe1.features = [learning, cnp]
  there is no feature 'cnp'; a pe node has: learning, translation, notification
nodes.p1.features = [notification, learning]
  learning does not apply to a p node, which has: notification
nodes.p1.features = true
  expected all or a list of features (notification), got True
vrfs.blue.id = 65536
  less than or equal to 65535
vrfs.red = {id: 4097}
  @vrfs.red.id 4097 and 1 are equal modulo 4096
vrfs.red = {id: 8192}
  @vrfs.red.id 8192 and the underlay's 0 are equal modulo 4096
vrfs.blue.mpls_label = 15
  greater than or equal to 16
vrfs.blue.vni = 16777216
  less than or equal to 16777215
vrfs.red = {id: 2, vni: 1001}
  @vrfs.red.vni already used by vrfs.blue.vni
vrfs.red = {}
  @vrfs.red.id is missing
vrfs.blue.id = '1'
  valid integer
nodes.pe1.ports[1] = {number: 1, role: core}
  @nodes.pe1.ports[1].number already ports.0
nodes.pe1.ports += {number: 5, role: dc, vrf: blue, addresses: [10.1.0.129/25]}
  @nodes.pe1.ports[2].addresses[0] overlaps 10.1.0.0/24
nodes.pe1.ports[0].vrf = green
  no VRF green
nodes.pe1.ports[0].addresses[0] = 10.1.0.255/24
  broadcast address
nodes.pe1.ports[0].addresses[0] = 10.1.0.1
  lacks the prefix length
nodes.pe1.ports[0].hosts = {10.7.0.1: '02:00:00:00:00:01'}
  @nodes.pe1.ports[0].hosts.10.7.0.1 in no subnet
nodes.pe1.ports[1].mac = 01:00:5e:00:00:01
  unicast
nodes.pe1.ports[1].vrf = blue
  belongs to the underlay
nodes.p1.ports[0] = {number: 1, role: dc, vrf: blue}
  @nodes.p1.ports[0].role P node has core ports only
nodes.pe1.vrfs.blue.routes[0].tunnel = pe3
  has no tunnel pe3
nodes.pe1.vrfs.blue.routes[0].via = 10.1.0.9
  @nodes.pe1.vrfs.blue.routes[0] exactly one of tunnel, policy, via and discard
nodes.pe1.vrfs.blue.routes[0].prefix = 10.2.0.1/24
  did you mean 10.2.0.0/24
nodes.pe1.vrfs.blue.routes += {prefix: 10.9.0.0/16, via: 10.3.0.1}
  @nodes.pe1.vrfs.blue.routes[2].via in no connected subnet
nodes.pe1.vrfs.blue.routes += {prefix: 10.9.0.0/16, via: '2001:db8:1::9'}
  @nodes.pe1.vrfs.blue.routes[2].via different IP versions
nodes.pe1.vrfs.blue.routes += {prefix: 'fe80::/64', tunnel: pe2-srv6}
  @nodes.pe1.vrfs.blue.routes[2].prefix no router forwards packets to fe80::/10
nodes.pe1.tunnels.pe2-srv6.to = pe9
  no node pe9
nodes.pe1.tunnels.pe2-srv6.to = p2
  is a P node
nodes.pe1.tunnels.pe2-srv6.via = [p1]
  @nodes.pe1.tunnels.pe2-srv6.via[0] has no end_sids
nodes.pe1.tunnels.pe2-srv6.sids = ['2001:db8::1']
  @nodes.pe1.tunnels.pe2-srv6 exactly one of to and sids
nodes.pe1.tunnels.x = {type: srv6, sids: ['1::1', '1::2', '1::3', '1::4', '1::5']}
  @nodes.pe1.tunnels.x.sids at most 4 items
nodes.pe1.tunnels.pe2-vxlan.mode = encaps
  @nodes.pe1.tunnels.pe2-vxlan mode does not apply
del vrfs.blue.vni
  @nodes.pe1.vrfs.blue.routes[1].tunnel needs vrfs.blue.vni
nodes.pe2.vrfs.blue.service_sid = 2001:db8:0:9::1
  outside the node's locator
nodes.p2.underlay_address = 2001:db8:0:ff::11
  already belongs to nodes.p1
fast_cnp_port = 4791
  UDP port 4791 is that of ROCEV2
links[0] = ['pe1:2', 'p1:9']
  @links[0][1] p1 has no port 9
links[0] = ['pe1:1', 'p1:1']
  @links[0][0] is not a core port
links += ['pe1:2', 'p2:2']
  @links[3][0] already linked by links.0.0
nodes.p2.thresholds[0].depths = [4, 4]
  must rise
nodes.p2.thresholds[0].port = 7
  has no port 7
congestion.levels[1].interval = '50'
  not a duration; write 50us
nodes.p1.fast_cnp.traffic_class = 194
  @nodes.p1.fast_cnp must be Not-ECT
nodes.pe1.grpc = 127.0.0.1
  not host:port
fast_cnp_port = 65536
  less than or equal to 65535
nodes.pe1.underlay = [{prefix: '2001:db8:f::/48', via: [{port: 1, mac: '02:00:00:00:00:09'}]}]
  @nodes.pe1.underlay[0].via[0].port not a core port
metrics = unix:/run/fcn
  write host:port
page = unix:/run/fcn
  write host:port
page = 0.0.0.0:9664
  0.0.0.0:9664 is reached over a network
api = 127.0.0.1:9661
page = 127.0.0.1:9661
  give each its own port
api = 0.0.0.0:9661
  0.0.0.0:9661 is reached over a network, in plain text and without authentication
api = '[::]:9661'
  [::]:9661 is reached over a network
api = 127.0.0.1:9661
metrics = 127.0.0.1:9661
  give each its own port
api = 127.0.0.1:9661
metrics = localhost:9661
  give each its own port
api = unix:api
  not an absolute path; write unix:/run/fcn/api
nodes.p1.grpc = 127.0.0.1:1
nodes.p2.grpc = 127.0.0.1:1
  this switch (address and device_id) is already nodes.p1.grpc
nodes.p1.underlay_address = fe80::11
  link-local; other nodes cannot reach it
nodes.p1.underlay_address = 2001:db8:0:ff::12%eth0
  names a zone
nodes.pe1.tunnels.pe2-srv6.via = [pe1]
  @nodes.pe1.tunnels.pe2-srv6.via[0] pe1 is an end of the tunnel itself
nodes.pe1.tunnels.pe2-srv6.via = [pe2]
  @nodes.pe1.tunnels.pe2-srv6.via[0] pe2 is an end of the tunnel itself
flows.timeout = 99999999999999999999h
  longer than a year
nodes.pe1.grpc = "127.0.0.1:\u0663"
  not host:port
nodes.pe1.colour = red
  unknown key
"""
TOO_LONG = f"""\
api = unix:/{"a" * 107}
  at most 102 octets
nodes.p2.thresholds[0].depths[0] = {"9" * 400}MB
  is not a queue depth
nodes.pe1.program = {"a" * 5000}
  is missing
"""


def test_each_may_ask_for_any_free_port() -> None:
    data = example()
    data |= {"api": "127.0.0.1:0", "metrics": "127.0.0.1:0", "insecure": ["api"]}
    parse_config(yaml.safe_dump(data))


@pytest.mark.parametrize(("changes", "where", "reason"), cases(SPOILT + TOO_LONG))
def test_wrong_file_is_refused(changes: tuple[str, ...], where: str, reason: str) -> None:
    data = spoil(example(), changes)
    problems = refused(yaml.safe_dump(data, sort_keys=False))
    assert any(at == where and reason in message for _, at, message in problems), problems


def test_lines_are_those_of_the_file() -> None:
    lines = EXAMPLE.read_text().splitlines()
    for old, new, where in (
        ("fast_cnp_port: 1021", "fast_cnp_port: 0", "fast_cnp_port"),
        (
            "underlay_address: 2001:db8:0:ff::2",
            "underlay_address: ::1",
            "nodes.pe2.underlay_address",
        ),
        (
            "      pe1-srv6: {",
            "      pe1-srv6: { colour: red,",
            "nodes.pe2.tunnels.pe1-srv6.colour",
        ),
        ("  - [p1:2, p2:1]", "  - [p1:2, p2:9]", "links[1][1]"),
        ("    role: pe", "    role: pe\n    role: pe", "nodes.pe1"),
    ):
        number = next(n for n, line in enumerate(lines) if line.startswith(old) or old in line)
        spoilt = "\n".join([*lines[:number], lines[number].replace(old, new), *lines[number + 1 :]])
        extra = new.count("\n")
        assert [(line, at) for line, at, _ in refused(spoilt)] == [(number + 1 + extra, where)]


@pytest.mark.parametrize(
    ("text", "line"), [("a: [1, 2\nb: 3\n", 2), ("nodes:\n\t- x\n", 2), ("a: &x 1\nb: *y\n", 2)]
)
def test_text_that_is_no_yaml_names_the_line(text: str, line: int) -> None:
    assert refused(text)[0][0] == line


@pytest.mark.parametrize("text", ["", "[]", "3", "nodes: {}"])
def test_empty_or_foreign_documents_are_refused(text: str) -> None:
    assert refused(text)


def test_macs_are_no_base_60_numbers() -> None:
    data = example()
    text = yaml.safe_dump(data).replace(
        "name: core1", "name: core1\n      mac: 10:20:30:40:50:02", 1
    )
    assert 0x102030405002 in {
        port.mac for node in parse_config(text).nodes.values() for port in node.ports
    }
