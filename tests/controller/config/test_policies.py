"""Policies: what is refused and why, IDs, and backups that are computed (FAN-4)."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from parsing import parsed, table_entries
from policy_networks import IDS, SQUARE, TWO_WAYS, network
from test_config import example, refused
from typer.testing import CliRunner

from fcn.contract.constants import compiled_programs
from fcn.contract.paths import PathShare
from fcn.controller.cli.commands import app
from fcn.controller.config.paths import COMPUTED, Plan, Planner, first_tunnels
from fcn.controller.config.policies import DERIVED_ID
from fcn.controller.config.topology import Topology

Data = dict[str, Any]
BOTH = {"north": ["r1"], "south": ["r2"]}


def plan(data: Data) -> Plan:
    (found,) = Planner(parsed(data)).plans("pe1")
    return found


def square(**policy: object) -> Data:
    """Two tunnels, and a policy with these keys; both are its paths."""
    paths = [{"tunnel": "north"}, {"tunnel": "south"}]
    return network(SQUARE, BOTH, {"paths": paths, **policy})


def only(*paths: object, **policy: object) -> Data:
    return square(paths=list(paths), **policy)


def _tunnels(data: Data, **tunnels: object) -> Data:
    data["nodes"]["pe1"]["tunnels"] |= tunnels
    return data


def _with_pe3(data: Data) -> Data:
    pe3 = data["nodes"]["pe2"] | {"grpc": "127.0.0.1:1", "underlay_address": "fc00:ff::77"}
    pe3 |= {"end_sids": [], "vrfs": {"blue": {"service_sid": "fc00:99::d3"}}}
    data["nodes"]["pe3"] = pe3
    return _tunnels(data, far={"type": "srv6", "to": "pe3"})


def _two_routes(data: Data) -> Data:
    routes = data["nodes"]["pe1"]["vrfs"]["blue"]["routes"]
    routes.append({"prefix": "10.3.0.0/24", "policy": "north"})
    return data


@pytest.mark.parametrize(
    ("data", "where", "reason"),
    [
        (only({"tunnel": "west"}), "paths[0].tunnel", "no tunnel west; it has: north, south"),
        (square(backup=[{"tunnel": "west"}]), "backup[0].tunnel", "no tunnel west"),
        (only({"tunnel": "north", "weight": 0}), "paths[0].weight", "greater than or equal to 1"),
        (only({"tunnel": "north", "weight": 17}), "paths[0].weight", "less than or equal to 16"),
        (only({"tunnel": "north", "id": 1 << 31}), "paths[0].id", "less than or equal to"),
        (only(), "paths", "at least 1"),
        (only(*[{"tunnel": "north"}] * 5), "paths", "at most 4"),
        (square(backup=[{"tunnel": "north"}] * 5), "backup", "at most 4"),
        (square(hold_down="2h"), "hold_down", "1h"),
        (square(to="pe9"), "to", "pe9 is not another PE; those are: pe2"),
        (square(to="r1"), "to", "r1 is not another PE"),
        (square(to="pe1"), "to", "pe1 is not another PE"),
        (
            _with_pe3(only({"tunnel": "north"}, {"tunnel": "far"})),
            "paths[1].tunnel",
            "far ends at pe3, not there",
        ),
        (
            _tunnels(only({"tunnel": "plain"}), plain={"type": "srv6", "sids": ["2001:db8::1"]}),
            "paths[0].tunnel",
            "plain ends at no node of this file",
        ),
        (
            only({"tunnel": "north"}, {"tunnel": "north"}),
            "paths[1].tunnel",
            "north is one of its paths already",
        ),
        (
            _tunnels(
                only({"tunnel": "north"}, backup=[{"tunnel": "copy"}]),
                copy={"type": "srv6", "to": "pe2", "via": ["r3"]},
            ),
            "backup[0].tunnel",
            "copy takes the same way as north",
        ),
        (
            _tunnels(
                only({"tunnel": "round"}), round={"type": "srv6", "to": "pe2", "via": ["r3", "r1"]}
            ),
            "paths[0].tunnel",
            "round has a loop: it passes r1 twice",
        ),
        (
            _tunnels(
                only({"tunnel": "lost"}), lost={"type": "srv6", "to": "pe2", "via": ["r1", "r9"]}
            ),
            "paths[0].tunnel",
            "lost visits r9, and there is no such node",
        ),
        (
            only({"tunnel": "north", "id": 7}, {"tunnel": "south", "id": 7}),
            "paths[1].id",
            "7 is already that of nodes.pe1.policies.to-pe2.paths.0",
        ),
        (
            only({"tunnel": "north"}, backup=[], disjoint=True),
            "disjoint",
            "all its paths pass node r1 and node r3",
        ),
    ],
)
def test_mistakes_are_named(data: Data, where: str, reason: str) -> None:
    text = yaml.safe_dump(data)
    problems = refused(text)
    found = [(line, at, message) for line, at, message in problems if reason in message]
    assert found, problems
    line, at, _ = found[0]
    assert at == f"nodes.pe1.policies.to-pe2.{where}"
    assert 1 < line <= text.count("\n")


def test_a_tunnel_given_twice_is_one_mistake() -> None:
    """Its ID, which no file has, is none of the user's business."""
    (problem,) = refused(yaml.safe_dump(only({"tunnel": "north"}, {"tunnel": "north"})))
    assert problem[1:] == (
        "nodes.pe1.policies.to-pe2.paths[1].tunnel",
        "north is one of its paths already",
    )


def test_a_route_names_a_policy_of_the_node() -> None:
    problems = refused(yaml.safe_dump(_two_routes(square())))
    assert [(at, message) for _, at, message in problems] == [
        ("nodes.pe1.vrfs.blue.routes[1].policy", "the node has no policy north; it has: to-pe2")
    ]


def test_a_route_has_one_target() -> None:
    data = square()
    data["nodes"]["pe1"]["vrfs"]["blue"]["routes"][0]["tunnel"] = "north"
    ((_, _, message),) = refused(yaml.safe_dump(data))
    assert message == "a route has exactly one of tunnel, policy, via and discard"


def test_every_tunnel_of_a_policy_serves_the_vrf() -> None:
    data = _tunnels(
        only({"tunnel": "north"}, backup=[{"tunnel": "gre"}]), gre={"type": "gre", "to": "pe2"}
    )
    ((_, at, message),) = refused(yaml.safe_dump(data))
    assert at == "nodes.pe1.vrfs.blue.routes[0].policy"
    assert message == "tunnel gre: a gre tunnel needs vrfs.blue.gre_key"


def test_a_p_node_has_no_policies() -> None:
    data = square()
    data["nodes"]["r1"]["policies"] = data["nodes"]["pe1"]["policies"]
    data["nodes"]["r1"]["tunnels"] = data["nodes"]["pe1"]["tunnels"]
    assert any("a P node has" in message for _, _, message in refused(yaml.safe_dump(data)))


def test_unreachable_ends_are_named() -> None:
    data = network("pe1-r1 r2-pe2", {"north": ["r1"]})
    problems = refused(yaml.safe_dump(data))
    assert problems[0][2] == "the links do not lead from pe1 to r1, pe2"


def test_policies_need_room_in_the_tables() -> None:
    data = network(SQUARE + " pe1-r5 r5-pe2", BOTH)
    node = data["nodes"]["pe1"]
    node["policies"] = {
        f"p{number}": {"to": "pe2", "paths": [{"tunnel": "north"}, {"tunnel": "south"}]}
        for number in range(85)
    }
    node["vrfs"]["blue"]["routes"] = []
    for name in node["policies"]:
        node["policies"][name]["backup"] = []
    assert len(Planner(parsed(data)).plans("pe1")) == 85, "of 3 * 64 entries each"
    _tunnels(data, more={"type": "srv6", "to": "pe2", "via": ["r5"]})
    node["policies"]["p84"]["backup"] = [{"tunnel": "more"}]
    ((_, at, message),) = refused(yaml.safe_dump(data))
    assert at == "nodes.pe1.policies"
    assert "entries of table path, which has 16384; give the node fewer policies" in message
    for name in node["policies"]:
        del node["policies"][name]["backup"]
    ((_, _, message),) = refused(yaml.safe_dump(data))
    assert "write `backup: []` in those that need no computed backup" in message


def test_without_policies_nothing_changes() -> None:
    config = parsed(example())
    assert all(Planner(config).plans(name) == () for name in config.nodes)
    assert not any(first_tunnels(node, ()) for node in config.nodes.values())


def test_a_chip_has_no_program_with_policies() -> None:
    data = square()
    data["nodes"]["pe1"]["program"] = str(compiled_programs() / "tna")
    problems = refused(yaml.safe_dump(data))
    assert any(
        at == "nodes.pe1.program" and "has no pe program with links and paths" in message
        for _, at, message in problems
    ), problems


def test_check_says_which_policy_one_failure_can_end(tmp_path: Path) -> None:
    file = tmp_path / "network.yaml"
    file.write_text(yaml.safe_dump(network("pe1-r1 r1-pe2", {"only": []})))
    done = CliRunner().invoke(app, ["check", "-c", str(file)])
    assert done.exit_code == 0, done.output
    assert "valid" in done.stdout
    note = "note: nodes.pe1.policies.to-pe2: one failure can end it: all its paths pass node r1"
    assert note in done.stdout
    file.write_text(yaml.safe_dump(square()))
    assert "note" not in CliRunner().invoke(app, ["check", "-c", str(file)]).stdout


# -- IDs and state -------------------------------------------------------------------------


def test_ids_are_given_or_derived_from_names_alone() -> None:
    first = plan(only({"tunnel": "south", "id": 7}, {"tunnel": "north", "weight": 3}))
    second = plan(only({"tunnel": "north"}, {"tunnel": "south", "id": 8}))
    assert first.paths[0].number == 7
    assert first.paths[1].number == second.paths[0].number
    assert first.paths[1].number & DERIVED_ID
    assert first.paths[1].share == PathShare(3)


def test_a_policy_keeps_its_state_until_its_paths_change() -> None:
    """Another must not inherit what a switch knows."""
    alone = plan(square())
    data = square()
    data["nodes"]["pe1"]["policies"]["a"] = {"to": "pe2", "paths": [{"tunnel": "north"}]}
    cells = {each.policy: each.cell for each in Planner(parsed(data)).plans("pe1")}
    assert cells["to-pe2"] == alone.cell
    assert len(set(cells.values())) == 2
    assert plan(only({"tunnel": "north"})).cell != alone.cell


# -- disjoint backups ----------------------------------------------------------------------


def test_the_other_way_is_found_with_one_sid() -> None:
    found = plan(only({"tunnel": "north"}))
    backup = found.paths[1]
    assert (backup.name, backup.share) == (COMPUTED, PathShare(1, is_backup=True))
    assert backup.trace is not None
    assert backup.trace.nodes == {"r2", "r4"}
    assert len(backup.tunnel.via) == 1
    assert found.exposed == ""


def test_paths_that_protect_each_other_need_no_backup() -> None:
    found = plan(square())
    assert [path.name for path in found.paths] == ["north", "south"]
    assert found.exposed == ""


def test_backup_of_none_is_respected_and_a_given_one_kept() -> None:
    assert len(plan(only({"tunnel": "north"}, backup=[])).paths) == 1
    found = plan(only({"tunnel": "north"}, backup=[{"tunnel": "south", "weight": 2}]))
    assert [path.share for path in found.paths] == [PathShare(1), PathShare(2, is_backup=True)]


def test_equal_paths_of_one_tunnel_leave_no_other_way() -> None:
    """Without a node to visit its packets may take either side."""
    found = plan(network(SQUARE, {"any": []}))
    assert len(found.paths) == 1
    assert found.exposed.startswith("all its paths pass node r1 and node r2")
    assert "no other way" in found.exposed


def test_a_longer_way_is_enforced_by_sids() -> None:
    links = SQUARE + " r1-r4"
    found = plan(network(links, {"low": ["r2", "r4"]}))
    backup = found.paths[1]
    assert backup.trace is not None
    assert backup.trace.nodes == {"r1", "r3"}


def test_a_detour_of_many_nodes_is_found() -> None:
    """The shortest paths between its nodes must avoid the first path, too."""
    links = "pe1-r1 r1-pe2 pe1-r2 r2-r3 r3-r4 r4-pe2 r2-r1 r3-r1 r4-r1"
    found = plan(network(links, {"short": ["r1"]}))
    backup = found.paths[1]
    assert backup.trace is not None
    assert backup.trace.nodes == {"r2", "r3", "r4"}


def test_a_detour_around_a_dense_network_is_found() -> None:
    """Many short beginnings lead nowhere: every node of a full mesh is linked to every other."""
    mesh = [f"m{number}" for number in range(14)]
    links = [f"{a}-{b}" for a, b in combinations(mesh, 2)]
    links += ["pe1-r1", "r1-pe2", f"pe1-{mesh[0]}", f"{mesh[13]}-s1", "s1-s2", "s2-s3", "s3-pe2"]
    found = plan(network(" ".join(links), {"north": ["r1"]}))
    assert found.exposed == ""
    assert found.paths[1].trace is not None
    assert found.paths[1].trace.certain == (mesh[0], mesh[13], "s1", "s2", "s3")


def test_a_backup_by_too_many_ways_is_given_by_hand() -> None:
    middle = " ".join(f"m0-x{number} x{number}-s1" for number in range(12))
    north = "pe1-r1 r1-r2 r2-r3 r3-r4 r4-pe2"
    data = network(f"{north} pe1-m0 {middle} s1-pe2", {"north": ["r1"]})
    ((_, where, message),) = refused(yaml.safe_dump(data))
    assert where == "nodes.pe1.policies.to-pe2"
    assert message.startswith("(disjoint) may pass")
    assert message.endswith("give a backup with `via`, or `backup: []` for none")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda data: None, ""),
        (
            lambda data: [data["nodes"][name].update(end_sids=[]) for name in ("r2", "r4")],
            "there is no other way that END SIDs can lead",
        ),
        (
            lambda data: (
                data["nodes"]["pe1"]["tunnels"].update(north={"type": "vxlan", "to": "pe2"}),
                data["nodes"]["pe2"]["vrfs"]["blue"].pop("service_sid"),
                data["links"].__delitem__(slice(3, None)),
            ),
            "an SRv6 tunnel by another way needs nodes.pe2.vrfs.blue.service_sid",
        ),
    ],
)
def test_why_there_is_no_backup(spoil: Callable[[Data], object], reason: str) -> None:
    data = network(SQUARE, {"north": ["r1"]})
    spoil(data)
    config = parsed(data)
    warnings = list(Planner(config).warnings())
    assert bool(warnings) == bool(reason)
    if reason:
        assert warnings[0][:2] == ("pe1", "to-pe2")
        assert reason in warnings[0][2]


def test_a_single_link_is_named() -> None:
    config = parsed(network("pe1-pe2", {"direct": []}))
    ((_, _, reason),) = Planner(config).warnings()
    assert "link pe1:1 - pe2:1" in reason


def test_parallel_links_are_not_disjoint_ways() -> None:
    """No SID says which of them is taken."""
    config = parsed(network("pe1-r1 pe1-r1 r1-pe2", {"only": ["r1"]}))
    ((_, _, reason),) = Planner(config).warnings()
    assert "node r1" in reason


def test_a_trace_has_the_nodes_and_links_of_all_shortest_paths() -> None:
    topology = Topology(parsed(network("pe1-r1 pe1-r2 r1-r5 r2-r5 r5-pe2", {"any": []})))
    trace = topology.trace("pe1", ["pe2"])
    assert trace is not None
    assert trace.nodes == {"r1", "r2", "r5"}
    assert len(trace.links) == 5
    assert trace.certain == ("r5",)


@pytest.mark.parametrize(
    ("notification", "levels", "interval"),
    [
        ("fantel", None, 1000),
        ("fantel", {1: {"notify": False, "interval": "1s"}, 2: {"interval": "70us"}}, 70),
        ("fantel", {1: {"interval": "0us"}}, 1),
        ("fcn", None, 0),
    ],
)
def test_senders_hear_of_congested_paths(
    notification: str, levels: dict[int, dict[str, Any]] | None, interval: int
) -> None:
    """FAN-6: as often as of a queue at the least level that notifies."""
    data = network(SQUARE, TWO_WAYS, IDS) | {"notification": notification, "failure_detection": {}}
    if levels is not None:
        data["congestion"] = {"levels": levels, "thresholds": [8 * level for level in levels]}
    (entry,) = table_entries(parsed(data), "pe1", "policy")
    assert entry.action.args["cnp_interval"] == interval
