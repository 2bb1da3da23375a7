"""Who may speak of a path (FAN-4, FAN-8)."""

from typing import Any

import pytest
from parsing import parsed
from policy_networks import SQUARE, network

from fcn.contract.constants import PATH_REPORTER_CELLS
from fcn.controller.config import ConfigError
from fcn.controller.config.paths import Planner
from fcn.controller.config.reporters import WHOLE_NODE, node_number, reporters

TWO_WAYS = {"north": ["r1", "r3"], "south": ["r2", "r4"]}


def heard(data: dict[str, Any]) -> dict[str, set[tuple[str, int]]]:
    """Node and port of each reporter, by the path's name."""
    config = parsed(data)
    plans = Planner(config).plans("pe1")
    names = {path.number: path.name for plan in plans for path in plan.paths}
    found = reporters(config, "pe1", plans)
    return {names[number]: {(r.node, r.port) for r in each} for number, each in found.items()}


def test_nodes_and_ends_of_links_of_the_path_alone() -> None:
    north = {("r1", 1), ("r1", 2), ("r3", 1), ("r3", 2), ("pe2", 1)}
    south = {("r2", 1), ("r2", 2), ("r4", 1), ("r4", 2), ("pe2", 2)}
    assert heard(network(SQUARE, TWO_WAYS)) == {
        "north": north | {("r1", WHOLE_NODE), ("r3", WHOLE_NODE)},
        "south": south | {("r2", WHOLE_NODE), ("r4", WHOLE_NODE)},
    }


def test_bits_are_of_a_path_and_cells_of_the_switch() -> None:
    config = parsed(network(SQUARE, TWO_WAYS))
    found = reporters(config, "pe1", Planner(config).plans("pe1")).values()
    for each in found:
        assert sorted(r.bit for r in each) == [1 << i for i in range(len(each))]
    cells = [r.cell for each in found for r in each]
    assert len(set(cells)) == len(cells)
    assert max(cells) < PATH_REPORTER_CELLS


def test_another_path_changes_no_cell() -> None:
    """What a switch remembers of a reporter stays that reporter's when the file grows."""
    few = parsed(
        network(SQUARE, {"north": ["r1", "r3"]}, {"backup": [], "paths": [{"tunnel": "north"}]})
    )
    many = parsed(network(SQUARE, TWO_WAYS))
    before = reporters(few, "pe1", Planner(few).plans("pe1"))
    after = reporters(many, "pe1", Planner(many).plans("pe1"))
    for number, each in before.items():
        assert [r.cell for r in each] == [r.cell for r in after[number]]


def test_where_links_do_not_show_the_path_nobody_speaks() -> None:
    data = network(SQUARE, TWO_WAYS)
    data["nodes"]["pe1"]["underlay"] = [
        {"prefix": "fc00:99::/48", "via": [{"port": 1, "address": "fe80::1"}]}
    ]
    data["links"] = []
    assert heard(data) == {"north": set(), "south": set()}


def test_numbers_of_nodes_come_from_their_names() -> None:
    assert node_number("p1") == node_number("p1") != node_number("p2")
    assert 0 <= node_number("p1") < 1 << 32


def test_more_than_a_switch_listens_to_is_refused() -> None:
    wide = " ".join(f"pe1-r{i} r{i}-pe2" for i in range(1, 9))
    data = network(wide, {"any": []}, {"backup": [], "paths": [{"tunnel": "any"}]})
    with pytest.raises(ConfigError, match=r"any may pass .* say by `via`"):
        parsed(data)


@pytest.mark.parametrize(
    ("port", "reason"), [(1021, "1021 is fast_cnp_port"), (1022, "1022 is holding.udp_port")]
)
def test_each_kind_has_a_port_of_its_own(port: int, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        parsed(network(SQUARE, TWO_WAYS) | {"fantel_port": port})
