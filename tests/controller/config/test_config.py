"""The configuration file: a valid one is parsed, problems are reported with their line."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

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


def pe1(data: dict[str, Any]) -> Any:  # noqa: ANN401 - YAML data
    return data["nodes"]["pe1"]


def vary(name: str) -> Callable[[Callable[[dict[str, Any]], None]], Callable[..., None]]:
    """Names the part of the file that the problem must be reported at, and words of the reason."""

    def mark(spoil: Callable[[dict[str, Any]], None]) -> Callable[..., None]:
        where, reason = name.split(" | ")
        SPOILT.append((spoil, where, reason))
        return spoil

    return mark


SPOILT: list[tuple[Callable[[dict[str, Any]], None], str, str]] = []


@vary(
    "nodes.pe1.features | there is no feature 'cnp'; "
    "a pe node has: learning, translation, notification"
)
def _unknown_feature(data: dict[str, Any]) -> None:
    pe1(data)["features"] = ["learning", "cnp"]


@vary("nodes.p1.features | learning does not apply to a p node, which has: notification")
def _feature_of_another_role(data: dict[str, Any]) -> None:
    data["nodes"]["p1"]["features"] = ["notification", "learning"]


@vary("nodes.p1.features | expected all or a list of features (notification), got True")
def _features_are_no_switch(data: dict[str, Any]) -> None:
    data["nodes"]["p1"]["features"] = True


@vary("vrfs.blue.id | less than or equal to 65535")
def _vrf_id(data: dict[str, Any]) -> None:
    data["vrfs"]["blue"]["id"] = 65536


@vary("vrfs.red.id | 4097 and 1 are equal modulo 4096")
def _cell_of_another_vrf(data: dict[str, Any]) -> None:
    data["vrfs"]["red"] = {"id": 4097}


@vary("vrfs.red.id | 8192 and the underlay's 0 are equal modulo 4096")
def _cell_of_the_underlay(data: dict[str, Any]) -> None:
    data["vrfs"]["red"] = {"id": 8192}


@vary("vrfs.blue.mpls_label | greater than or equal to 16")
def _reserved_label(data: dict[str, Any]) -> None:
    data["vrfs"]["blue"]["mpls_label"] = 15


@vary("vrfs.blue.vni | less than or equal to 16777215")
def _vni(data: dict[str, Any]) -> None:
    data["vrfs"]["blue"]["vni"] = 1 << 24


@vary("vrfs.red.vni | already used by vrfs.blue.vni")
def _vni_twice(data: dict[str, Any]) -> None:
    data["vrfs"]["red"] = {"id": 2, "vni": 1001}


@vary("vrfs.red.id | is missing")
def _vrf_without_id(data: dict[str, Any]) -> None:
    data["vrfs"]["red"] = {}


@vary("vrfs.blue.id | valid integer")
def _no_coercion(data: dict[str, Any]) -> None:
    data["vrfs"]["blue"]["id"] = "1"


@vary("nodes.pe1.ports[1].number | already ports.0")
def _port_twice(data: dict[str, Any]) -> None:
    pe1(data)["ports"][1] = {"number": 1, "role": "core"}


@vary("nodes.pe1.ports[2].addresses[0] | overlaps 10.1.0.0/24")
def _overlap(data: dict[str, Any]) -> None:
    port = {"number": 5, "role": "dc", "vrf": "blue", "addresses": ["10.1.0.129/25"]}
    pe1(data)["ports"].append(port)


@vary("nodes.pe1.ports[0].vrf | no VRF green")
def _unknown_vrf(data: dict[str, Any]) -> None:
    pe1(data)["ports"][0]["vrf"] = "green"


@vary("nodes.pe1.ports[0].addresses[0] | broadcast address")
def _gateway_is_broadcast(data: dict[str, Any]) -> None:
    pe1(data)["ports"][0]["addresses"][0] = "10.1.0.255/24"


@vary("nodes.pe1.ports[0].addresses[0] | lacks the prefix length")
def _gateway_without_length(data: dict[str, Any]) -> None:
    pe1(data)["ports"][0]["addresses"][0] = "10.1.0.1"


@vary("nodes.pe1.ports[0].hosts.10.7.0.1 | in no subnet")
def _host_elsewhere(data: dict[str, Any]) -> None:
    pe1(data)["ports"][0]["hosts"] = {"10.7.0.1": "02:00:00:00:00:01"}


@vary("nodes.pe1.ports[1].mac | unicast")
def _multicast_mac(data: dict[str, Any]) -> None:
    pe1(data)["ports"][1]["mac"] = "01:00:5e:00:00:01"


@vary("nodes.pe1.ports[1].vrf | belongs to the underlay")
def _core_with_vrf(data: dict[str, Any]) -> None:
    pe1(data)["ports"][1]["vrf"] = "blue"


@vary("nodes.p1.ports[0].role | P node has core ports only")
def _p_with_customer(data: dict[str, Any]) -> None:
    data["nodes"]["p1"]["ports"][0] = {"number": 1, "role": "dc", "vrf": "blue"}


@vary("nodes.pe1.vrfs.blue.routes[0].tunnel | has no tunnel pe3")
def _unknown_tunnel(data: dict[str, Any]) -> None:
    pe1(data)["vrfs"]["blue"]["routes"][0]["tunnel"] = "pe3"


@vary("nodes.pe1.vrfs.blue.routes[0] | exactly one of tunnel, policy, via and discard")
def _two_targets(data: dict[str, Any]) -> None:
    pe1(data)["vrfs"]["blue"]["routes"][0]["via"] = "10.1.0.9"


@vary("nodes.pe1.vrfs.blue.routes[0].prefix | did you mean 10.2.0.0/24")
def _host_bits(data: dict[str, Any]) -> None:
    pe1(data)["vrfs"]["blue"]["routes"][0]["prefix"] = "10.2.0.1/24"


@vary("nodes.pe1.vrfs.blue.routes[2].via | in no connected subnet")
def _far_next_hop(data: dict[str, Any]) -> None:
    pe1(data)["vrfs"]["blue"]["routes"].append({"prefix": "10.9.0.0/16", "via": "10.3.0.1"})


@vary("nodes.pe1.vrfs.blue.routes[2].via | different IP versions")
def _mixed_next_hop(data: dict[str, Any]) -> None:
    pe1(data)["vrfs"]["blue"]["routes"].append({"prefix": "10.9.0.0/16", "via": "2001:db8:1::9"})


@vary("nodes.pe1.tunnels.pe2-srv6.to | no node pe9")
def _tunnel_to_nowhere(data: dict[str, Any]) -> None:
    pe1(data)["tunnels"]["pe2-srv6"]["to"] = "pe9"


@vary("nodes.pe1.tunnels.pe2-srv6.to | is a P node")
def _tunnel_to_p(data: dict[str, Any]) -> None:
    pe1(data)["tunnels"]["pe2-srv6"]["to"] = "p2"


@vary("nodes.pe1.tunnels.pe2-srv6.via[0] | has no end_sids")
def _via_without_sid(data: dict[str, Any]) -> None:
    pe1(data)["tunnels"]["pe2-srv6"]["via"] = ["p1"]


@vary("nodes.pe1.tunnels.pe2-srv6 | exactly one of to and sids")
def _to_and_sids(data: dict[str, Any]) -> None:
    pe1(data)["tunnels"]["pe2-srv6"]["sids"] = ["2001:db8::1"]


@vary("nodes.pe1.tunnels.x.sids | at most 4 items")
def _five_sids(data: dict[str, Any]) -> None:
    sids = [f"2001:db8::{index}" for index in range(1, 6)]
    pe1(data)["tunnels"]["x"] = {"type": "srv6", "sids": sids}


@vary("nodes.pe1.tunnels.pe2-vxlan | mode does not apply")
def _vxlan_with_mode(data: dict[str, Any]) -> None:
    pe1(data)["tunnels"]["pe2-vxlan"]["mode"] = "encaps"


@vary("nodes.pe1.vrfs.blue.routes[1].tunnel | needs vrfs.blue.vni")
def _vxlan_without_vni(data: dict[str, Any]) -> None:
    del data["vrfs"]["blue"]["vni"]


@vary("nodes.pe2.vrfs.blue.service_sid | outside the node's locator")
def _sid_outside_locator(data: dict[str, Any]) -> None:
    data["nodes"]["pe2"]["vrfs"]["blue"]["service_sid"] = "2001:db8:0:9::1"


@vary("nodes.p2.underlay_address | already belongs to nodes.p1")
def _address_twice(data: dict[str, Any]) -> None:
    data["nodes"]["p2"]["underlay_address"] = "2001:db8:0:ff::11"


@vary("fast_cnp_port | UDP port 4791 is that of ROCEV2")
def _notifications_as_rocev2(data: dict[str, Any]) -> None:
    data["fast_cnp_port"] = 4791


@vary("links[0][1] | p1 has no port 9")
def _link_to_no_port(data: dict[str, Any]) -> None:
    data["links"][0] = ["pe1:2", "p1:9"]


@vary("links[0][0] | is not a core port")
def _link_to_dc_port(data: dict[str, Any]) -> None:
    data["links"][0] = ["pe1:1", "p1:1"]


@vary("links[3][0] | already linked by links.0.0")
def _link_twice(data: dict[str, Any]) -> None:
    data["links"].append(["pe1:2", "p2:2"])


@vary("nodes.p2.thresholds[0].depths | must rise")
def _falling_depths(data: dict[str, Any]) -> None:
    data["nodes"]["p2"]["thresholds"][0]["depths"] = [4, 4]


@vary("nodes.p2.thresholds[0].port | has no port 7")
def _threshold_of_no_port(data: dict[str, Any]) -> None:
    data["nodes"]["p2"]["thresholds"][0]["port"] = 7


@vary("congestion.levels[1].interval | not a duration; write 50us")
def _interval_without_unit(data: dict[str, Any]) -> None:
    data["congestion"]["levels"][1]["interval"] = "50"


@vary("nodes.p1.fast_cnp | must be Not-ECT")
def _markable_notification(data: dict[str, Any]) -> None:
    data["nodes"]["p1"]["fast_cnp"]["traffic_class"] = 0xC2


@vary("nodes.pe1.grpc | not host:port")
def _address_without_port(data: dict[str, Any]) -> None:
    pe1(data)["grpc"] = "127.0.0.1"


@vary("fast_cnp_port | less than or equal to 65535")
def _udp_port(data: dict[str, Any]) -> None:
    data["fast_cnp_port"] = 65536


@vary("nodes.pe1.underlay[0].via[0].port | not a core port")
def _underlay_over_dc_port(data: dict[str, Any]) -> None:
    hop = {"port": 1, "mac": "02:00:00:00:00:09"}
    pe1(data)["underlay"] = [{"prefix": "2001:db8:f::/48", "via": [hop]}]


@vary("metrics | write host:port")
def _metrics_on_a_socket(data: dict[str, Any]) -> None:
    data["metrics"] = "unix:/run/fcn"


@vary("page | write host:port")
def _page_on_a_socket(data: dict[str, Any]) -> None:
    data["page"] = "unix:/run/fcn"


@vary("page | 0.0.0.0:9664 is reached over a network")
def _page_for_everybody(data: dict[str, Any]) -> None:
    data["page"] = "0.0.0.0:9664"


@vary("page | give each its own port")
def _page_where_the_api_is(data: dict[str, Any]) -> None:
    data |= {"api": "127.0.0.1:9661", "page": "127.0.0.1:9661"}


@vary("api | 0.0.0.0:9661 is reached over a network, in plain text and without authentication")
def _api_for_everybody(data: dict[str, Any]) -> None:
    data["api"] = "0.0.0.0:9661"


@vary("api | [::]:9661 is reached over a network")
def _api_for_everybody_with_ipv6(data: dict[str, Any]) -> None:
    data["api"] = "[::]:9661"


@vary("metrics | give each its own port")
def _metrics_where_the_api_is(data: dict[str, Any]) -> None:
    data |= {"api": "127.0.0.1:9661", "metrics": "127.0.0.1:9661"}


@vary("metrics | give each its own port")
def _metrics_where_the_api_is_by_another_name(data: dict[str, Any]) -> None:
    data |= {"api": "127.0.0.1:9661", "metrics": "localhost:9661"}


def test_each_may_ask_for_any_free_port() -> None:
    data = example()
    data |= {"api": "127.0.0.1:0", "metrics": "127.0.0.1:0", "insecure": ["api"]}
    parse_config(yaml.safe_dump(data))


@vary("api | not an absolute path; write unix:/run/fcn/api")
def _api_on_a_relative_path(data: dict[str, Any]) -> None:
    data["api"] = "unix:api"


@vary("api | at most 102 octets")
def _api_on_a_long_path(data: dict[str, Any]) -> None:
    data["api"] = "unix:/" + "a" * 107


@vary("nodes.p2.grpc | this switch (address and device_id) is already nodes.p1.grpc")
def _two_nodes_of_one_switch(data: dict[str, Any]) -> None:
    data["nodes"]["p2"]["grpc"] = data["nodes"]["p1"]["grpc"]


@vary("nodes.p1.underlay_address | link-local; other nodes cannot reach it")
def _link_local_node(data: dict[str, Any]) -> None:
    data["nodes"]["p1"]["underlay_address"] = "fe80::11"


@vary("nodes.p1.underlay_address | names a zone")
def _zone(data: dict[str, Any]) -> None:
    data["nodes"]["p1"]["underlay_address"] = "2001:db8:0:ff::12%eth0"


@vary("nodes.pe1.tunnels.pe2-srv6.via[0] | pe1 is an end of the tunnel itself")
def _via_where_it_begins(data: dict[str, Any]) -> None:
    pe1(data)["tunnels"]["pe2-srv6"]["via"] = ["pe1"]


@vary("nodes.pe1.tunnels.pe2-srv6.via[0] | pe2 is an end of the tunnel itself")
def _via_where_it_ends(data: dict[str, Any]) -> None:
    pe1(data)["tunnels"]["pe2-srv6"]["via"] = ["pe2"]


@vary("flows.timeout | longer than a year")
def _endless_timeout(data: dict[str, Any]) -> None:
    data["flows"]["timeout"] = "99999999999999999999h"


@vary("nodes.p2.thresholds[0].depths[0] | is not a queue depth")
def _depth_beyond_numbers(data: dict[str, Any]) -> None:
    data["nodes"]["p2"]["thresholds"][0]["depths"][0] = "9" * 400 + "MB"


@vary("nodes.pe1.grpc | not host:port")
def _foreign_digits(data: dict[str, Any]) -> None:
    pe1(data)["grpc"] = "127.0.0.1:\u0663"


@vary("nodes.pe1.program | is missing")
def _program_of_a_long_name(data: dict[str, Any]) -> None:
    pe1(data)["program"] = "a" * 5000


@vary("nodes.pe1.colour | unknown key")
def _unknown_key(data: dict[str, Any]) -> None:
    pe1(data)["colour"] = "red"


@pytest.mark.parametrize(
    ("spoil", "where", "reason"), SPOILT, ids=[spoil.__name__[1:] for spoil, *_ in SPOILT]
)
def test_wrong_file_is_refused(
    spoil: Callable[[dict[str, Any]], None], where: str, reason: str
) -> None:
    data = example()
    spoil(data)
    text = yaml.safe_dump(data, sort_keys=False)
    problems = refused(text)
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
