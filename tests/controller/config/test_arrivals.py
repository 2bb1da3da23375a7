"""By which ports of a PE the messages of a node come (FAN-8)."""

import pytest
from parsing import parsed
from policy_networks import SQUARE, network

from fcn.controller.config.arrivals import arrival_ports

TWO_WAYS = {"north": ["r1", "r3"], "south": ["r2", "r4"]}


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        # pe1:1 leads to r1, pe1:2 to r2.
        (SQUARE, {"r1": (1,), "r3": (1,), "r2": (2,), "r4": (2,), "pe2": (1, 2)}),
        (f"{SQUARE} r3-r2", {"r1": (1,), "r3": (1, 2), "r2": (2,), "r4": (2,)}),
        # r1 and r2 are alternates of each other.
        (f"{SQUARE} r1-r2", {"r1": (1, 2), "r2": (1, 2), "r3": (1, 2)}),
        (f"{SQUARE} pe1-r1", {"r1": (1, 3), "r2": (2,)}),
    ],
)
def test_shortest_paths_and_alternates(links: str, expected: dict[str, tuple[int, ...]]) -> None:
    config = parsed(network(links, TWO_WAYS))
    assert arrival_ports(config, "pe1", expected) == expected


def test_where_a_route_is_explicit_every_port() -> None:
    data = network(SQUARE, TWO_WAYS)
    data["nodes"]["r3"]["underlay"] = [
        {"prefix": "fc00::/16", "via": [{"port": 1, "address": "fe80::1"}]}
    ]
    assert arrival_ports(parsed(data), "pe1", ["r1", "r2"]) == {"r1": (1, 2), "r2": (1, 2)}


def test_a_node_that_links_do_not_reach_has_none() -> None:
    assert arrival_ports(parsed(network(f"{SQUARE} r8-r9", TWO_WAYS)), "pe1", ["r8"]) == {"r8": ()}
