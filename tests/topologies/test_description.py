"""Networks described in YAML: what is read, and what is refused with its line."""

import pytest

from fcn.controller.config import parse_config
from fcn.controller.config.document import DocumentError
from fcn.controller.config.paths import Planner
from fcn.controller.config.watching import WatchedLoad, Watching
from fcn.topologies.catalog import CATALOG, NetworkError, network
from fcn.topologies.controller_config import FcnSettings, controller_yaml
from fcn.topologies.description import EXAMPLE, parse_topology
from fcn.topologies.model import Host, Link, Policy, Queue, Way

SMALL = """\
nodes: {a: {role: pe}, b: {role: p}}
links:
  - {between: [a, b], delay: 1.5us, rate: 400 Gb/s}
hosts:
  h: {pe: a}
queues:
  - {node: b, towards: a, rate: 2.5 kpps, depth: 7}
"""


def test_what_is_described() -> None:
    topology = parse_topology(SMALL, "there/small.yaml")
    assert topology.name == "small"
    assert topology.links == (Link("a", "b", 1500, 400 * 10**9),)
    assert topology.hosts == (Host("h", "a"),)
    assert topology.queues == (Queue("b", "a", 2500, 7),)
    assert topology.port("b", "a").rate_bps == 400 * 10**9


def test_the_example_has_every_key() -> None:
    topology = network(str(EXAMPLE))
    assert [host.name for host in topology.hosts] == ["h1", "h2", "gate", "gw1"]
    assert topology.port("pe2", "h2").rate_bps == 20 * 10**6
    assert topology.centres[0].size == 4
    assert {host.rate_bps for host in topology.centres[0].hosts} == {40 * 10**6}
    assert [topology.link_rate_bps(host) for host in ("h1", "h2", "gw1")] == [0, 20 * 10**6, 0]
    assert topology.hosts[3].networks == topology.centres[0].networks
    config = parse_config(controller_yaml(topology, FcnSettings()))
    assert set(config.vrfs) == {"blue", "red"}
    assert config.failure_detection is not None
    assert config.nodes["pe1"].policies["to-pe2"].hold_down == 500_000
    assert config.load_balancing is not None
    assert config.load_balancing.flowlet == 5_000
    rates = {port.name: port.rate for port in config.nodes["pe2"].ports}
    assert rates == {"h2": None, "gate": None, "p1": 50 * 10**6}


@pytest.mark.parametrize("name", CATALOG)
def test_the_catalog(name: str) -> None:
    assert network(name).name == name


def test_policies_go_both_ways() -> None:
    topology = network("failover")
    north, south = Way(("r1",)), Way(("r2",), is_backup=True)
    assert topology.policies_of("pe1") == (Policy("pe1", "pe2", (north, south)),)
    assert topology.policies_of("pe2") == (Policy("pe2", "pe1", (north, south)),)
    config = parse_config(controller_yaml(topology, FcnSettings()))
    plan = Planner(config).plans("pe1")[0]
    ways = [path.trace.nodes for path in plan.paths if path.trace is not None]
    assert ways == [{"r1", "r3"}, {"r2", "r4"}]
    assert [path.share.is_backup for path in plan.paths] == [False, True]
    assert not plan.exposed
    routes = config.nodes["pe1"].vrfs["blue"].routes
    assert {(route.policy, route.tunnel) for route in routes} == {("to-pe2", None)}


def test_failover_with_load_balancing() -> None:
    """As its last lines say."""
    text = CATALOG["failover"].read_text()
    for old, new in (
        (" km}", " km, rate: 50 Mb/s}"),
        ("[{via: [r1]}], backup: [{via: [r2]}]", "[{via: [r1]}, {via: [r2]}]"),
    ):
        assert old in text
        text = text.replace(old, new)
    topology = parse_topology(f"{text}load_balancing: {{}}\n", "x.yaml")
    config = parse_config(controller_yaml(topology, FcnSettings()))
    slots = Watching(config).slots("r1")
    assert sum(isinstance(slot, WatchedLoad) for slot in slots) == 2, "one in each direction"
    assert {port.rate for port in config.nodes["r1"].ports} == {50 * 10**6}


@pytest.mark.parametrize(
    ("sections", "line", "reason"),
    [
        ("load_balancing: {}", 8, "load_balancing: it needs failure_detection, whose clock"),
        ("load_balancing:", 8, "nothing follows; write {} for the defaults"),
        ("load_balancing: 5", 8, "load_balancing: "),
        ("failure_detection: {interval: 5}", 8, "failure_detection.interval: expected a duration"),
        ("failure_detection: {intervall: 5ms}", 8, "intervall: unknown key"),
        (
            "failure_detection: {interval: 5ms}\nload_balancing: {flowlet: 1us}",
            9,
            "load_balancing.flowlet: 1us is out of range; write 100us to 10s",
        ),
    ],
)
def test_sections_that_are_refused(sections: str, line: int, reason: str) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_topology(f"{SMALL}{sections}\n", "bad.yaml")
    assert f"bad.yaml:{line}: " in str(caught.value)
    assert reason in str(caught.value)


def test_load_balancing_needs_the_rates_of_links() -> None:
    text = SMALL.replace(", rate: 400 Gb/s", "")
    sections = "failure_detection: {interval: 5ms}\nload_balancing: {}\n"
    with pytest.raises(DocumentError, match=r"bad.yaml:3: links\[0\]: load_balancing needs its"):
        parse_topology(text + sections, "bad.yaml")


def test_ways_are_reversed_for_the_other_direction() -> None:
    text = EXAMPLE.read_text().replace("via: [p1]", "via: [p1, pe2]")
    ways = {policy.pe: policy.ways[0].via for policy in parse_topology(text, "x.yaml").policies}
    assert ways == {"pe1": ("p1", "pe2"), "pe2": ("pe2", "p1")}


def test_hosts_of_data_centres_can_be_fewer() -> None:
    assert [centre.size for centre in network("dual-dc").centres] == [64, 64]
    assert [centre.size for centre in network("dual-dc", 2).centres] == [2, 2]


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("role: p}", "role: ce}", 1, "nodes.b.role: input should be 'pe' or 'p', got 'ce'"),
        ("role: p}}", "role: p}, c: {role: p}}", 1, "nodes.c: c has no link"),
        ("a, b]", "a, c]", 3, "links[0].between: no node c; there are a, b"),
        ("a, b]", "a, a]", 3, "a is linked to itself"),
        ("a, b]", "a]", 3, "links[0].between"),
        ("1.5us", "1.5", 3, "links[0].delay: 1.5 is not a delay or a length of fibre"),
        ("1.5us", "-1ms", 3, "'-1ms' is not a delay"),
        ("1.5us", "20s", 3, "'20s' is longer than 10 s"),
        ("400 Gb/s", "0 Gb/s", 3, "links[0].rate: '0 Gb/s' is not above 0"),
        ("400 Gb/s", "400 GB/s", 3, "'400 GB/s' is not a rate; write 100 Gb/s"),
        ("pe: a", "pe: b", 5, "hosts.h.pe: b is no PE; PEs are a"),
        ("pe: a", "pe: a, vrf: red", 5, "hosts.h.vrf: no VRF red; there are blue"),
        ("h: {", "a: {", 5, "a is the name of another node or gateway, too"),
        ("h: {", "line1: {", 5, "line1 is the name of a cable"),
        ("h: {", "verylongname: {", 5, "is not of the form"),
        ("towards: a", "towards: h", 7, "b has no port towards h"),
        ("depth: 7", "depth: 0", 7, "greater than or equal to 1"),
        ("2.5 kpps", "0 pps", 7, "'0 pps' is not above 0"),
        ("nodes:", "knots: 1\nnodes:", 1, f"unknown key; see {EXAMPLE} for all keys"),
    ],
)
def test_what_is_refused(old: str, new: str, line: int, reason: str) -> None:
    assert SMALL.count(old) == 1
    with pytest.raises(DocumentError) as caught:
        parse_topology(SMALL.replace(old, new), "bad.yaml")
    messages = str(caught.value).splitlines()
    assert any(
        message.startswith(f"bad.yaml:{line}: ") and reason in message for message in messages
    ), messages


def test_what_would_be_ambiguous_is_refused() -> None:
    twice = SMALL.replace("hosts:", "  - {between: [b, a]}\nhosts:")
    with pytest.raises(DocumentError, match="are linked above"):
        parse_topology(twice, "bad.yaml")
    limited = f"{SMALL}  - {{node: b, towards: a, rate: 1 pps, depth: 7}}\n"
    with pytest.raises(DocumentError, match="the queue of b towards a is above"):
        parse_topology(limited, "bad.yaml")
    with pytest.raises(DocumentError, match="vrf is missing; there are blue, red"):
        parse_topology(f"vrfs: {{blue: 1, red: 2}}\n{SMALL}", "bad.yaml")


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ("between: [a, b], paths: [{via: [b]}]", "policies[0].between: b is no PE; PEs are a, c"),
        ("between: [a, a], paths: [{via: [b]}]", "a has no way to itself"),
        ("between: [a, c], paths: [{via: [d]}]", "paths[0].via: no node d; there are a, b, c"),
        ("between: [a, c], paths: []", "policies[0].paths"),
        ("between: [a, c], paths: [{via: [b], weight: 17}]", "paths[0].weight"),
        ("between: [a, c], backup: [{via: [e]}], paths: [{via: [b]}]", "backup[0].via: no node e"),
    ],
)
def test_policies_that_are_refused(policy: str, reason: str) -> None:
    text = SMALL.replace("{role: p}}", "{role: p}, c: {role: pe}}")
    with pytest.raises(DocumentError) as caught:
        parse_topology(f"{text}policies:\n  - {{{policy}}}\n", "bad.yaml")
    assert "bad.yaml:9: " in str(caught.value)
    assert reason in str(caught.value)


def test_more_hosts_than_addresses_are_refused() -> None:
    many = "".join(f"  x{number}: {{pe: a}}\n" for number in range(254))
    with pytest.raises(DocumentError, match="255 hosts on a; at most 254"):
        parse_topology(SMALL.replace("queues:", f"{many}queues:"), "bad.yaml")


def test_no_such_network() -> None:
    with pytest.raises(
        NetworkError, match=r"no network west: No such file.*; there are demo, dual-dc, .*wan"
    ):
        network("west")
