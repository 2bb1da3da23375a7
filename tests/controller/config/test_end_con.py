"""Senders notified by END.CON: what a domain needs, and the entries of its nodes (SRF-4)."""

from dataclasses import replace
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any

import pytest
import yaml
from finsy import P4Schema
from finsy.proto import p4i
from parsing import parsed, problems, table_entries
from spoilt import cases, spoil

from fcn.contract.constants import compiled_programs, enum_members
from fcn.contract.pipeline import load_pipeline
from fcn.controller.config import Config, ConfigError
from fcn.controller.config.check_end_con import end_con_problem
from fcn.controller.config.load import EXAMPLE
from fcn.controller.config.modes import Notification
from fcn.controller.config.tunnel_ends import end_con_sids

SID = "2001:db8:0:1::c0"
PES = ("pe1", "pe2")


def domain(mode: str = "end-con") -> dict[str, Any]:
    """The example in a mode, as plain data."""
    data: dict[str, Any] = yaml.safe_load(EXAMPLE.read_text())
    data["notification"] = mode
    for name in PES:
        data["nodes"][name].setdefault("cnp", {})["source"] = "peer"
    return data


def arguments(config: Config, node: str, table: str) -> list[tuple[str, dict[str, int]]]:
    """Actions of a node's intended entries of a table, with their parameters."""
    return [(each.action.name, each.action.args) for each in table_entries(config, node, table)]


def test_the_default_is_fcn() -> None:
    data = domain()
    del data["notification"]
    assert parsed(data).notification is Notification.FCN


def test_the_sid_is_the_source_of_tunnels_and_the_end_of_notices() -> None:
    config = parsed(domain())
    vrf = config.vrfs["blue"].id
    tunnels = arguments(config, "pe1", "tunnel")
    assert len(tunnels) == 2
    assert {args["src"] for _, args in tunnels} == {int(IPv6Address(SID))}
    assert ("end_con", {"vrf": vrf}) in arguments(config, "pe1", "service_sid")
    assert arguments(config, "pe1", "domain_mode") == [
        ("set_mode", {"congestion_kind": 3, "translates": 3})
    ]
    assert arguments(config, "p1", "domain_mode") == [
        ("set_mode", {"congestion_kind": 3, "translates": 0})
    ]


@pytest.mark.parametrize(("mode", "own", "translated"), [("fcn", 1, 1), ("none", 0, 0)])
def test_other_modes_refuse_its_notices(mode: str, own: int, translated: int) -> None:
    """The SID is known, but its notices are not translated; tunnels have the node's address."""
    config = parsed(domain(mode))
    assert [name for name, _ in arguments(config, "pe1", "service_sid")].count("end_con") == 1
    assert arguments(config, "pe1", "domain_mode") == [
        ("set_mode", {"congestion_kind": own, "translates": translated})
    ]
    source = int(config.nodes["pe1"].underlay_address)
    assert {args["src"] for _, args in arguments(config, "pe1", "tunnel")} == {source}


SENSELESS = """\
del nodes.pe1.vrfs.blue.end_con_sid
  @nodes.pe1.vrfs.blue needs an end_con_sid for each VRF
nodes.pe1.vrfs.blue.service_sid = 2001:db8:0:1::77
nodes.pe1.vrfs.blue.end_con_sid = 2001:db8:0:1::77
  already
nodes.pe1.locator = 2001:db8:0:1::/64
nodes.pe1.vrfs.blue.end_con_sid = 2001:db8:0:2::77
  outside the node's locator
nodes.pe1.tunnels.pe2-srv6.source = 2001:db8:0:ff::1
  has the VRF's end_con_sid
nodes.pe1.tunnels.pe2-vxlan.ecn = compatibility
  Not-ECT in the domain
nodes.pe1.cnp.source = pe
  needs cnp.source: peer
del nodes.pe1.cnp
  @nodes.pe1 needs cnp.source: peer
"""
COMPATIBILITY = "nodes.pe1.tunnels.pe2-vxlan.ecn = compatibility"


@pytest.mark.parametrize(("changes", "where", "reason"), cases(SENSELESS))
def test_what_makes_no_sense_is_refused(changes: tuple[str, ...], where: str, reason: str) -> None:
    found = problems(spoil(domain(), changes))
    assert any(at == where and reason in message for at, message in found), found


@pytest.mark.parametrize(("mode", "more"), [("fcn", ()), ("none", (COMPATIBILITY,))])
def test_without_it_the_domain_may_have_all_that(mode: str, more: tuple[str, ...]) -> None:
    changes = (
        "del nodes.pe1.vrfs.blue.end_con_sid",
        "nodes.pe1.tunnels.pe2-srv6.source = 2001:db8:0:ff::1",
        "nodes.pe1.cnp.source = pe",
    )
    parsed(spoil(domain(mode), changes + more))


@pytest.mark.parametrize("mode", ["fcn", "fantel"])
def test_nobody_could_be_notified_of_packets_in_compatibility_mode(mode: str) -> None:
    """SRF-10: draft-hu-rtgwg-rocev2-fcn 4.2.1."""
    data = domain("fcn")
    data["notification"] = mode
    spoil(data, (COMPATIBILITY,))
    with pytest.raises(ConfigError, match=r"pe2-vxlan\.ecn: in compatibility mode") as caught:
        parsed(data)
    assert f"notification: {mode}" in str(caught.value)


def test_a_mode_nobody_knows_is_refused() -> None:
    with pytest.raises(ConfigError, match="'fcn', 'end-con', 'two-threshold', 'fantel' or 'none'"):
        parsed(domain("icmp"))


def test_a_chip_has_no_program_for_it() -> None:
    chip: Path = compiled_programs() / "tna"
    config = parsed(domain())
    for role in ("pe", "p"):
        node = f"{role}1"
        program = load_pipeline(role, chip, binary=False)
        problem = end_con_problem(config, node, program)
        assert problem is not None
        assert program.target.name in problem
        assert end_con_problem(config, node, load_pipeline(role)) is None
        assert end_con_problem(parsed(domain("fcn")), node, program) is None


def test_nodes_with_flow_control_know_the_sids_of_other_pes() -> None:
    """ALL-1: notifications to them are not held on their way."""
    data = domain()
    assert arguments(parsed(data), "p1", "notification_sid") == []
    data["flow_control"] = "service"
    config = parsed(data)
    sids = {name: {vrf.end_con_sid for vrf in config.nodes[name].vrfs.values()} for name in PES}
    for node, expected in (("p1", sids["pe1"] | sids["pe2"]), ("pe1", sids["pe2"])):
        assert len(arguments(config, node, "notification_sid")) == len(expected) > 0
        assert set(end_con_sids(config, node)) == expected


def test_a_program_has_room_for_the_sids_of_the_domain() -> None:
    data = domain()
    data["flow_control"] = "service"
    config, program = parsed(data), load_pipeline("p")
    assert end_con_problem(config, "p1", program) is None
    # A copy: others in this process have the same program.
    info = p4i.P4Info.FromString(program.schema.p4info.SerializeToString())
    (table,) = (each for each in info.tables if each.preamble.alias == "notification_sid")
    table.size = len(end_con_sids(config, "p1")) - 1
    problem = end_con_problem(config, "p1", replace(program, schema=P4Schema(info)))
    assert problem is not None
    assert "END.CON SIDs" in problem


def _by_policies(data: dict[str, Any]) -> dict[str, Any]:
    """Every tunnel is the path of a policy, as this mode wants it."""
    if data["notification"] == "fantel":
        for name in PES:
            pe = data["nodes"][name]
            pe["policies"] = {
                tunnel: {"to": given["to"], "paths": [{"tunnel": tunnel}], "backup": []}
                for tunnel, given in pe["tunnels"].items()
            }
            for route in pe["vrfs"]["blue"]["routes"]:
                route["policy"] = route.pop("tunnel")
    return data


def test_nobody_would_be_told_of_congestion_of_a_tunnel_that_is_no_path() -> None:
    """FAN-6: messages of this mode are about paths."""
    data = domain("fantel") | {"failure_detection": {}}
    wanted = "nodes.pe1.vrfs.blue.routes[0].tunnel"
    assert [message for where, message in problems(data) if where == wanted] == [
        "with notification: fantel nodes tell of the paths of policies, and nobody would hear of "
        "congestion on this tunnel; name a policy here that has it as a path"
    ]
    parsed(_by_policies(data))


@pytest.mark.parametrize("mode", ["fcn", "fantel"])
def test_every_node_knows_the_port_of_messages_about_paths(mode: str) -> None:
    """ALL-1: where the domain uses them; elsewhere a customer may use that port."""
    config = parsed(_by_policies(domain(mode) | {"failure_detection": {}}))
    kinds = enum_members("NotificationKind")
    for node in config.nodes:
        known = {args["kind"] for _, args in arguments(config, node, "notification_port")}
        assert (kinds["FANTEL"] in known) is (mode == "fantel"), node
