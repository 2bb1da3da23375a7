"""The two-threshold mode of the domain: what is refused and why, and the entries (PEC-1 to 6)."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from parsing import parsed, written
from spoilt import cases, spoil
from test_config import example, refused

from fcn.contract.constants import compiled_programs
from fcn.contract.depth import Depth, DepthError
from fcn.contract.ecn import CLASSIC_RULES, TWO_THRESHOLD_RULES, Ecn
from fcn.contract.marking import DEFAULT_DEPTHS
from fcn.contract.pipeline import load_pipeline
from fcn.contract.profiles import Mode
from fcn.controller.config.check_modes import mode_warnings
from fcn.controller.config.programs import program_of
from fcn.controller.provision.provision import Provision

Data = dict[str, Any]


def two_threshold(**section: object) -> Data:
    """The example in the two-threshold mode; tunnel pe2-srv6 of pe1 is rerouted."""
    data = example()
    data |= {"notification": "two-threshold", "two_threshold": {"treatment": "slow"} | section}
    for key in ("thresholds", "levels"):
        del data["congestion"][key]
    data["nodes"]["p2"]["thresholds"][0]["depths"] = [10, 20, 30]
    data["nodes"]["pe1"]["tunnels"]["pe2-srv6"] |= {"light": "reroute", "next": "pe2-vxlan"}
    return data


def provision(data: Data, name: str) -> Provision:
    config = parsed(data)
    return Provision(config, name, load_pipeline(config.nodes[name].role))


def entries(provision: Provision, table: str) -> list[tuple[dict[str, int], str, dict[str, int]]]:
    """Match, action and parameters of a table's entries; of ranges, the lower bound."""
    return [
        (
            {
                name: value[0] if isinstance(value, tuple) else value
                for name, value in match.items()
            },
            each.action.name,
            each.action.args,
        )
        for each in written(provision, table)
        for match in [each.match or {}]
    ]


def test_the_mode_is_valid() -> None:
    config = parsed(two_threshold())
    assert config.two_threshold.depths == DEFAULT_DEPTHS
    assert config.notification == "two-threshold"


MIXED = """\
two_threshold.depths = [48, 16, 128]
  T1 (48 packets) is not below T2 (16 packets)
two_threshold.depths = [16, 128, 128]
  T2 (128 packets) is not below maximum (128 packets)
two_threshold.depths = [16, 48]
  has three: T1, T2, maximum
two_threshold.depths = [24kB, 48, 128]
  all in packets or all in octets
two_threshold.depths = [100B, 200B, 8kB]
  T1 and T2 are both 1 packets
two_threshold.depths = [16, 48, 1048576]
  the target reports 524287 at most
two_threshold.light_probability = 0
  0 is not a probability; write a number from 0.001 to 1
two_threshold.heavy_probability = 1.5
  1.5 is not a probability; write a number from 0.001 to 1
two_threshold.light_probability = true
  True is not a probability; write a number from 0.001 to 1
two_threshold.light_probability = '0.5'
  '0.5' is not a probability; write a number from 0.001 to 1
two_threshold.light_interval = 400h
  400h is out of range; write 0us to 10s
two_threshold.heavy_interval = 11s
  11s is out of range; write 0us to 10s
two_threshold.heavy_interval = 2ms
  heavy_interval (2ms) is longer than light_interval (1ms)
two_threshold.light_interval = 10us
  heavy_interval (50us) is longer than light_interval (10us)
two_threshold.light_interval = 20ms
  light_interval (20ms) is not shorter than hold (20ms)
two_threshold.rate = {rate: 9, burst: 9001}
  @two_threshold.rate.burst a burst of 9001 packets takes more than 1000 s at 9 packets/s; write \
at most 9000
two_threshold.hold = 2h
  2h is out of range; write 1us to 1m
two_threshold.round_trip = 0us
  0us is out of range; write 1us to 10s
two_threshold.hold = 1ms
  hold (1ms) is shorter than round_trip (10ms)
two_threshold.treatment = stop
  slow
two_threshold = {}
  say what is done with lightly congested flows
notification = three
  two-threshold
congestion.thresholds = [8]
  belongs to notification: fcn
congestion.levels = {1: {interval: 1ms}}
  belongs to notification: fcn
nodes.p2.thresholds[0].depths = [8, 16]
  has three
nodes.pe1.tunnels.pe2-srv6.ecn = compatibility
  Not-ECT in the domain
nodes.pe1.tunnels.pe2-srv6.next = nowhere
  no tunnel nowhere
nodes.pe1.tunnels.pe2-srv6.next = pe2-srv6
  the tunnel it is in
nodes.pe1.tunnels.pe2-srv6 = {type: srv6, to: pe2, light: reroute}
  name the next tunnel
nodes.pe1.tunnels.pe2-srv6.light = slow
  @nodes.pe1.tunnels.pe2-srv6.next are not rerouted
nodes.pe1.tunnels.pe2-vxlan = {type: vxlan, egress: '2001:db8::9'}
  @nodes.pe1.tunnels.pe2-srv6.next end at different nodes: pe2 and elsewhere
notification = fcn
  @two_threshold this domain has notification: fcn
notification = none
  @nodes.pe1.tunnels.pe2-srv6.light this domain has notification: none
"""


@pytest.mark.parametrize(("changes", "where", "reason"), cases(MIXED))
def test_mixes_and_contradictions_are_refused(
    changes: tuple[str, ...], where: str, reason: str
) -> None:
    """PEC-6: each with the place in the file and the reason."""
    data = spoil(two_threshold(), changes)
    found = refused(yaml.safe_dump(data))
    assert any(place == where and reason in why for _, place, why in found), found


def test_a_next_tunnel_that_the_vrf_cannot_use_is_refused() -> None:
    data = two_threshold()
    for node in ("pe1", "pe2"):
        data["nodes"][node]["tunnels"].pop("pe1-vxlan", None)
    data["nodes"]["pe1"]["tunnels"]["round"] = {"type": "gre", "to": "pe2"}
    data["nodes"]["pe1"]["tunnels"]["pe2-srv6"]["next"] = "round"
    del data["vrfs"]["blue"]["gre_key"]
    found = refused(yaml.safe_dump(data))
    assert any("a gre tunnel needs vrfs.blue.gre_key" in why for _, _, why in found), found


def test_levels_say_light_and_heavy_and_do_not_mark() -> None:
    """PEC-2: level 1 from T1, level 7 from T2; curves mark."""
    data = two_threshold()
    levels = entries(provision(data, "p2"), "queue_level")
    assert sorted((m["egress_port"], m["queue_depth"], p["level"]) for m, _, p in levels) == [
        (1, 16, 1), (1, 48, 7), (2, 10, 1), (2, 20, 7),
    ]  # fmt: skip
    policies = entries(provision(data, "p2"), "level_policy")
    assert {m["level"]: (p["mark"], p["notify"], p["interval"]) for m, _, p in policies} == {
        1: (Ecn.NOT_ECT, 1, 1000),
        7: (Ecn.NOT_ECT, 1, 50),
    }


def test_customers_do_not_get_light_marks() -> None:
    """PEC-3: towards hosts there is no outer header; ECT(1) there would be the customer's field."""
    data = two_threshold()
    data["nodes"]["pe1"]["thresholds"] = [{"port": 1, "depths": [4, 8, 16]}]
    curves = entries(provision(data, "pe1"), "marking_curve")
    marks = {port: set[int]() for port in (1, 2)}
    for match, _, params in curves:
        marks[match["egress_port"]].add(params["set_codepoint"])
    assert marks == {1: {Ecn.CE}, 2: {Ecn.ECT1, Ecn.CE}}


def test_tunnels_are_treated_and_normalised() -> None:
    """PEC-3, PEC-5."""
    of_pe1 = provision(two_threshold(hold="30ms", rate={"rate": 1000, "burst": 3}), "pe1")
    held = entries(of_pe1, "light_congestion")
    assert [params for _, _, params in held] == [{"hold": 30_000}]
    data = two_threshold(rate={"rate": 1000, "burst": 3})
    policies = {m["tunnel"]: (a, p) for m, a, p in entries(provision(data, "pe1"), "light_policy")}
    # Tunnels are numbered by name: pe2-srv6, pe2-vxlan.
    interval = 1000 << 16
    assert policies == {
        1: ("reroute", {"next_tunnel": 2}),
        2: ("slow", {"interval": interval, "tolerance": 2 * interval}),
    }
    modes = load_pipeline("pe").enum("EcnEncapMode")
    tunnels = entries(provision(data, "pe1"), "tunnel")
    assert {params["ecn_mode"] for _, _, params in tunnels} == {modes["TWO_THRESHOLD"]}


@pytest.mark.parametrize("rate", [1, 1000])
def test_the_longest_burst_has_room(rate: int) -> None:
    limit = {"rate": rate, "burst": 1000 * rate}
    policies = entries(provision(two_threshold(rate=limit), "pe1"), "light_policy")
    assert ("slow", 1000 * rate) in [
        (a, p.get("tolerance", 0) // p.get("interval", 1) + 1) for _, a, p in policies
    ]


@pytest.mark.parametrize("mode", ["fcn", "two-threshold", "none"])
def test_each_mode_has_its_rules(mode: str) -> None:
    """The other modes have no curve and treat nothing, also on a switch that had another mode."""
    data = two_threshold() if mode == "two-threshold" else example() | {"notification": mode}
    two = mode == "two-threshold"
    rules = TWO_THRESHOLD_RULES if two else CLASSIC_RULES
    held = entries(provision(data, "pe1"), "decap_ecn")
    assert {(m["inner_ecn"], m["outer_ecn"]): (a, p.get("event", 0)) for m, a, p in held} == {
        (rule.inner, rule.outer): (rule.verdict, rule.parameters.get("event", 0)) for rule in rules
    }
    assert bool(entries(provision(data, "pe1"), "marking_curve")) == two
    assert [p for _, _, p in entries(provision(data, "pe1"), "light_congestion")] == [
        {"hold": 20_000 if two else 0}
    ]
    ((_, _, told),) = entries(provision(data, "p1"), "domain_mode")
    assert bool(told["congestion_kind"]) == (mode != "none")


def test_thresholds_are_changed_at_run_time() -> None:
    """Three depths move levels and curves; anything else is refused and changes nothing."""
    of_p1 = provision(two_threshold(), "p1")
    of_p1.set_thresholds({(1, 0): [Depth(2), Depth(4), Depth(8)]})
    assert {match["queue_depth"] for match, _, _ in entries(of_p1, "marking_curve")} == set(
        range(3, 9)
    ) - {4}
    for depths in ([Depth(2), Depth(4)], [Depth(4), Depth(2), Depth(8)], [Depth(1 << 20)] * 3):
        with pytest.raises(DepthError, match=r"T1|three"):
            of_p1.set_thresholds({(1, 0): depths})
    assert of_p1.thresholds == {(1, 0): (Depth(2), Depth(4), Depth(8))}
    many = {(port, queue): DEFAULT_DEPTHS for port in range(1, 60) for queue in range(8)}
    with pytest.raises(DepthError, match="steps"):
        of_p1.set_thresholds(many)


@pytest.mark.parametrize(("notification", "notes"), [("none", 1), ("fcn", 0)])
def test_marks_of_a_dc_port_tell_nobody_without_notification(notification: str, notes: int) -> None:
    data = example() | {"notification": notification}
    dc, core = (
        next(port["number"] for port in data["nodes"]["pe1"]["ports"] if port["role"] == role)
        for role in ("dc", "core")
    )
    data["nodes"]["pe1"]["thresholds"] = [
        {"port": port, "depths": [10, 20, 30]} for port in (core, dc)
    ]
    found = list(mode_warnings(parsed(data)))
    assert [where for where, _ in found] == ["nodes.pe1.thresholds[1]"] * notes
    assert all("marks CE only" in text for _, text in found)


@pytest.fixture
def chip(tmp_path: Path) -> str:
    """A folder with all programs of chips, as if of Tofino 1, which has the example's ports."""
    shutil.copytree(compiled_programs() / "tna", tmp_path / "chip")
    edge = tmp_path / "chip" / "two-threshold" / "pe.p4info.txtpb"
    edge.write_text(edge.read_text().replace('"t2na"', '"tna"'))
    return str(tmp_path / "chip")


def untreated(data: Data) -> Data:
    """The same, but what is lightly congested stays as it is."""
    data["two_threshold"]["treatment"] = "none"
    for node in data["nodes"].values():
        for tunnel in node.get("tunnels", {}).values():
            tunnel.pop("light", None)
            tunnel.pop("next", None)
    return data


@pytest.mark.parametrize("node", ["p1", "pe1"])
def test_a_chip_has_the_program_of_the_mode(chip: str, node: str) -> None:
    """Of the folder that the node states, by what the domain is."""
    data = untreated(two_threshold())
    data["nodes"][node]["program"] = chip
    config = parsed(data)
    program = program_of(config, config.nodes[node], binary=False)
    assert program.p4info.parent.name == "two-threshold"
    assert Mode.TWO_THRESHOLD in program.modes
    data = example()
    data["nodes"][node]["program"] = chip
    config = parsed(data)
    assert program_of(config, config.nodes[node], binary=False).p4info.parent == Path(chip)


def test_a_chip_without_the_mode_is_refused(chip: str) -> None:
    data = two_threshold()
    data["nodes"]["pe1"]["program"] = chip
    (Path(chip) / "two-threshold" / "pe.p4info.txtpb").unlink()
    problems = refused(yaml.safe_dump(data))
    (why,) = [why for _, where, why in problems if where == "nodes.pe1.program"]
    assert "has no pe program with two-threshold mode" in why


def test_a_chip_that_treats_no_flows_is_told_nothing_else(chip: str) -> None:
    """Light congestion ends at its PE, and no entry says what is done with a flow."""
    data = two_threshold()
    data["nodes"]["pe1"]["program"] = chip
    problems = {where: why for _, where, why in refused(yaml.safe_dump(data))}
    tunnels = data["nodes"]["pe1"]["tunnels"]
    assert {f"nodes.pe1.tunnels.{name}.light" for name in tunnels} <= problems.keys()
    assert "treats no flows" in problems["nodes.pe1.tunnels.pe2-srv6.light"]
    config = parsed(untreated(data))
    program = program_of(config, config.nodes["pe1"], binary=False)
    assert entries(Provision(config, "pe1", program), "light_congestion")
