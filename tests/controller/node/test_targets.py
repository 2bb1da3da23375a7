"""The controller on both targets: a chip gets the entries of BMv2, converted to its units."""

import shutil
from collections.abc import AsyncIterator, Iterable
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import finsy as fy
import pytest
import yaml
from finsy import P4Schema
from finsy.p4entity import P4Entity, decode_entity
from finsy.proto import p4r

from fcn.contract.constants import PipelineError, compiled_programs
from fcn.contract.depth import Depth, DepthError, DepthUnit
from fcn.contract.ecn import CLASSIC_RULES
from fcn.contract.names import (
    COUNTERS,
    LINK_COUNTERS,
    LOAD_COUNTERS,
    NOT_ON_CHIPS,
    PATH_COUNTERS,
    PORT_COUNTERS,
    VRF_COUNTERS,
    named_cells,
)
from fcn.contract.pipeline import Pipeline, load_pipeline, mode_parts
from fcn.contract.targets import TOFINO1, V1MODEL
from fcn.controller.app import ControlPlane
from fcn.controller.clock import SYSTEM_CLOCK
from fcn.controller.config import Config, ConfigError, parse_config
from fcn.controller.config.features import ROLE_FEATURES, Feature
from fcn.controller.events import EventBus
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.provenance import Origin
from fcn.controller.leadership.leadership import Leadership
from fcn.controller.node.connection import Connection, State
from fcn.controller.node.counters import Cell, Cells, Counters
from fcn.controller.node.edge import NodeEdge
from fcn.controller.node.readback import read_switch
from fcn.controller.owners.held_flows import HeldFlows
from fcn.controller.owners.intent import Key, Update, entity_key, entity_value
from fcn.controller.owners.rate_limits import MeterCell
from fcn.controller.provision.provision import Provision

PARTS = {role: NOT_ON_CHIPS[role].union(*mode_parts(role).values()) for role in ("pe", "p")}
"""Tables and counters that no chip has yet, by role."""
METERS = frozenset({"arn_meter", "hold_meter", "notice_meter"})
"""The same of meters."""
COMPILED = compiled_programs() / "tna"

NODES = ("pe1", "p1", "p2", "pe2")
IN_UNITS = {"level_policy", "cnp_profile", "flow_learning", "queue_level"}
"""Tables with time parameters or queue depths."""


def tna_pipeline(role: str) -> Pipeline:
    """A TNA program; its binary is not used."""
    return load_pipeline(role, COMPILED, binary=False)


def parse(network: dict[str, Any]) -> Config:
    return parse_config(yaml.safe_dump(network))


def provision(config: Config, node: str, pipeline: Pipeline | None = None) -> Provision:
    role = config.nodes[node].role
    return Provision(config, node, pipeline or tna_pipeline(role))


def updates(intended: Provision) -> list[Update]:
    """All pending updates, which are then marked as accepted."""
    taken = intended.intent.take_updates(100_000)
    assert intended.intent.settle(taken, {}) == []
    return taken


def entities(taken: Iterable[Update], kind: str) -> list[p4r.Entity]:
    return [update.entity for update in taken if update.entity.WhichOneof("entity") == kind]


def table_entries(taken: Iterable[Update], schema: P4Schema) -> list[fy.P4TableEntry]:
    decoded = [decode_entity(entity, schema) for entity in entities(taken, "table_entry")]
    return [entry for entry in decoded if isinstance(entry, fy.P4TableEntry)]


def texts(entries: Iterable[fy.P4TableEntry], schema: P4Schema) -> set[tuple[str, ...]]:
    return {(e.table_id, e.match_str(schema), e.action_str(schema)) for e in entries}


def arguments(entries: Iterable[fy.P4TableEntry], table: str) -> list[dict[str, int]]:
    """Parameters of the entries of a table, in the order they were written."""
    actions = [entry.action for entry in entries if entry.table_id == table]
    return [action.args for action in actions if isinstance(action, fy.P4TableAction)]


def held_on_switch(held: Iterable[p4r.Entity]) -> dict[Key, bytes]:
    return {entity_key(each): entity_value(each) for each in held}


def core_ports(taken: Iterable[Update]) -> list[int]:
    """Members of the value set among the updates."""
    (entity,) = entities(taken, "value_set_entry")
    fields = [field for member in entity.value_set_entry.members for field in member.match]
    assert {field.field_id for field in fields} == {1}
    return [int.from_bytes(field.exact.value, "big") for field in fields]


@pytest.mark.parametrize("role", ["pe", "p"])
def test_programs_of_v1model_are_driven_as_before(network: dict[str, Any], role: str) -> None:
    """Clone sessions, no value set, times in microseconds."""
    pipeline = load_pipeline(role)
    assert pipeline.target is V1MODEL
    taken = updates(provision(parse(network), f"{role}1", pipeline))
    once, twice = entities(taken, "packet_replication_engine_entry")
    for session in (once, twice):
        assert session.packet_replication_engine_entry.HasField("clone_session_entry")
    assert not entities(taken, "value_set_entry")
    policies = arguments(table_entries(taken, pipeline.schema), "level_policy")
    assert [policy["interval"] for policy in policies] == [1000, 500, 250, 100, 50, 20, 10]


async def test_nodes_of_both_kinds_have_one_controller(
    network: dict[str, Any], tmp_path: Path
) -> None:
    shutil.copy(COMPILED / "pe.p4info.txtpb", tmp_path)
    (tmp_path / "pe.bin").write_bytes(b"for the chip")
    network["nodes"]["pe1"]["program"] = str(tmp_path)
    plane = ControlPlane(parse(network))
    pipelines = {name: agent.provision.pipeline for name, agent in plane.nodes.items()}
    assert {name: pipeline.target for name, pipeline in pipelines.items()} == {
        "pe1": TOFINO1,
        "p1": V1MODEL,
        "p2": V1MODEL,
        "pe2": V1MODEL,
    }
    assert pipelines["pe1"].schema.p4blob == b"for the chip"
    assert [plane.edges[pe].capacity(4) for pe in ("pe1", "pe2")] == [16384, 16384]


@pytest.mark.parametrize("missing", ["pe.p4info.txtpb", "pe.json"])
async def test_missing_program_of_a_node_is_named(
    network: dict[str, Any], tmp_path: Path, missing: str
) -> None:
    """The P4Info by `fcn check`, with its line; the binary by `fcn run`, which needs it."""
    if missing != "pe.p4info.txtpb":
        shutil.copy(COMPILED / "pe.p4info.txtpb", tmp_path)
    network["nodes"]["pe1"]["program"] = str(tmp_path)
    with pytest.raises((ConfigError, PipelineError), match=f"{missing}.* is missing; put it there"):
        ControlPlane(parse(network))


def _meters(found: list[Update], schema: P4Schema) -> set[str]:
    names = {meter.id: meter.alias for meter in schema.meters}
    return {names[each.meter_entry.meter_id] for each in entities(found, "meter_entry")}


@pytest.mark.parametrize("node", NODES)
def test_chip_gets_the_entries_bmv2_gets(network: dict[str, Any], node: str) -> None:
    """With every kind of tunnel and route."""
    pe1 = network["nodes"]["pe1"]
    pe1["tunnels"] |= {
        "full": {"type": "srv6", "to": "pe2", "via": ["p2"], "mode": "encaps"},
        "gre": {"type": "gre", "to": "pe2"},
        "mpls": {"type": "mpls-udp", "to": "pe2"},
        "two-labels": {"type": "mpls-udp", "to": "pe2", "sr_label": 16002},
    }
    pe1["vrfs"]["blue"]["routes"] += [
        {"prefix": f"10.{number}.0.0/16", "tunnel": tunnel}
        for number, tunnel in enumerate(("full", "gre", "mpls", "two-labels"), start=70)
    ]
    pe1["vrfs"]["blue"]["routes"].append({"prefix": "10.66.0.0/16", "discard": True})
    config = parse(network)
    theirs = load_pipeline(config.nodes[node].role)
    ours = tna_pipeline(config.nodes[node].role)
    assert ours.target is TOFINO1
    expected = updates(provision(config, node, theirs))
    taken = updates(provision(config, node, ours))

    def same(found: list[Update], schema: P4Schema) -> set[tuple[str, ...]]:
        # The mode: test_features_are_the_mode_of_the_domain.
        other = IN_UNITS | PARTS[config.nodes[node].role] | {"domain_mode"}
        entries = [e for e in table_entries(found, schema) if e.table_id not in other]
        return {row for row in texts(entries, schema) if not row[-1].startswith("end_con(")}

    assert same(taken, ours.schema) == same(expected, theirs.schema)
    assert len(entities(taken, "digest_entry")) == len(entities(expected, "digest_entry"))
    assert _meters(taken, ours.schema) == _meters(expected, theirs.schema) - METERS
    assert entities(taken, "table_entry")
    assert entities(taken, "meter_entry")
    assert bool(entities(taken, "digest_entry")) is (config.nodes[node].role == "pe")


@pytest.mark.parametrize("node", ["pe1", "p1"])
def test_mirror_sessions_are_left_to_the_driver(network: dict[str, Any], node: str) -> None:
    taken = updates(provision(parse(network), node))
    assert not entities(taken, "packet_replication_engine_entry")


def _levels(entries: Iterable[fy.P4TableEntry], port: int) -> list[tuple[int, int]]:
    rows = [e for e in entries if e.table_id == "queue_level" and e["egress_port"] == port]
    return sorted(row["queue_depth"] for row in rows)


def test_queue_depths_are_in_cells(network: dict[str, Any]) -> None:
    """8 packets of 1500 octets are 8 times 19 cells of 80; octets are divided, rounding up."""
    network["nodes"]["p1"]["thresholds"] = [{"port": 2, "depths": ["64kB", "128kB"]}]
    network["congestion"]["thresholds"] = ["8 packets", 16]
    config = parse(network)
    chip, soft = tna_pipeline("p"), load_pipeline("p")
    ours = table_entries(updates(provision(config, "p1", chip)), chip.schema)
    theirs = table_entries(updates(provision(config, "p1", soft)), soft.schema)
    top = 2**19 - 1
    assert _levels(ours, 1) == [(152, 303), (304, top)]
    assert _levels(theirs, 1) == [(8, 15), (16, top)]
    assert _levels(ours, 2) == [(800, 1599), (1600, top)]
    assert _levels(theirs, 2) == [(43, 85), (86, top)]


@pytest.mark.parametrize("chip", [False, True])
def test_converted_queue_depths_are_no_difference(network: dict[str, Any], chip: bool) -> None:
    """Entries read back and the intent are both in the target's unit."""
    network["congestion"]["thresholds"] = ["64kB", "2MB"]
    intended = provision(parse(network), "p1", tna_pipeline("p") if chip else load_pipeline("p"))
    held = [update.entity for update in updates(intended)]
    intended.intent.observe(held_on_switch(held))
    intended.set_thresholds(intended.thresholds)
    assert intended.intent.pending == 0
    intended.set_thresholds({(1, 0): (Depth(64_000, DepthUnit.OCTETS),)})
    assert intended.intent.pending > 0


def test_thresholds_a_target_cannot_tell_apart_change_nothing(network: dict[str, Any]) -> None:
    intended = provision(parse(network), "p1", load_pipeline("p"))
    before = intended.thresholds
    octets = (Depth(1400, DepthUnit.OCTETS), Depth(1500, DepthUnit.OCTETS))
    updates(intended)
    with pytest.raises(DepthError, match="levels 1 and 2 at 1400 octets and 1500 octets"):
        intended.set_thresholds({(1, 0): octets})
    assert intended.thresholds == before
    assert intended.intent.pending == 0


def test_times_are_in_ticks(network: dict[str, Any]) -> None:
    """Of 256 ns, rounded up."""
    network["nodes"]["pe1"]["cnp"]["min_interval"] = "50us"
    network["flows"]["learning_window"] = "10ms"
    network["congestion"]["levels"] = {
        level: {"interval": interval}
        for level, interval in enumerate(
            ("1ms", "512us", "250us", "100us", "50us", "20us", "10us"), start=1
        )
    }
    intervals = [3907, 2000, 977, 391, 196, 79, 40]
    config = parse(network)
    pe = table_entries(updates(provision(config, "pe1")), tna_pipeline("pe").schema)
    p = table_entries(updates(provision(config, "p1")), tna_pipeline("p").schema)
    for entries in (pe, p):
        assert [each["interval"] for each in arguments(entries, "level_policy")] == intervals
    assert [each["min_interval"] for each in arguments(pe, "cnp_profile")] == [196]
    assert [each["window"] for each in arguments(pe, "flow_learning")] == [39063]


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("version", [4, 6])
async def test_flows_have_the_actions_of_their_table(
    network: dict[str, Any], version: int, watched: bool
) -> None:
    """A controller that reads the tables after a restart decodes them."""
    src, dst = map(
        ip_address,
        ("10.1.0.10", "10.2.0.20") if version == 4 else ("2001:db8:1::10", "2001:db8:2::20"),
    )
    intended = provision(parse(network), "pe1")
    updates(intended)
    intended.intent.put_encoded(
        intended.flow_by_label.notify_sender(0x80001, 1, dst, src, 0x11, 0xFFFF, "manual")
    )
    intended.intent.put_encoded(
        intended.flow_table.label(1, src, dst, 0x22, 0x80001, 60_000_000, watched=watched)
    )
    schema = tna_pipeline("pe").schema
    entries = table_entries(updates(intended), schema)
    (entry,) = [entry for entry in entries if entry.table_id == f"flow_ipv{version}"]
    assert isinstance(entry.action, fy.P4TableAction)
    verb = "set_flow_label_watched" if watched else "set_flow_label"
    assert entry.action.name == f"{verb}_ipv{version}"
    intended.intent.drop_encoded(intended.flow_table.key(1, src, dst, 0x22), "blue")
    (removal,) = updates(intended)
    assert removal.type == p4r.Update.DELETE
    held = HeldFlows(schema)
    for each in entries:
        held.add(
            each.table_id, p4r.ReadResponse(entities=[each.encode(schema)]).SerializeToString()
        )
    (flow,) = NodeEdge(intended, lambda: 0.0).found(held, 17.0)
    assert flow.key == FlowKey("blue", src, dst, 0x22)
    assert (flow.label, flow.source_qp, flow.timeout) == (0x80001, 0x11, 60_000_000)
    assert (flow.origin, flow.since) == (Origin.MANUAL, 17.0)


async def test_a_label_of_another_host_says_nothing_of_the_flow(network: dict[str, Any]) -> None:
    """The flow's label was given to another flow, and the controller ended between the writes."""
    src, dst, other = map(ip_address, ("10.1.0.10", "10.2.0.20", "10.1.0.11"))
    intended = provision(parse(network), "pe1")
    updates(intended)
    intended.intent.put_encoded(
        intended.flow_table.label(1, src, dst, 0x22, 0x80001, 60_000_000, watched=False)
    )
    intended.intent.put_encoded(
        intended.flow_by_label.notify_sender(0x80001, 1, dst, other, 0x11, 0xFFFF, "manual")
    )
    held = HeldFlows(tna_pipeline("pe").schema)
    for name, update in zip(("flow_ipv4", "flow_by_label_ipv4"), updates(intended), strict=True):
        held.add(name, p4r.ReadResponse(entities=[update.entity]).SerializeToString())
    (flow,) = NodeEdge(intended, lambda: 0.0).found(held, 17.0)
    assert (flow.key.src, flow.source_qp, flow.origin) == (src, None, Origin.RESTORED)


def test_core_ports_are_exactly_the_ports_admitted_as_core(network: dict[str, Any]) -> None:
    ports = network["nodes"]["pe1"]["ports"]
    ports += [{"number": 0, "role": "core"}, {"number": 300, "role": "core"}]
    taken = updates(provision(parse(network), "pe1"))
    admitted = [
        entry["ingress_port"]
        for entry in table_entries(taken, tna_pipeline("pe").schema)
        if entry.table_id == "port_role"
        and isinstance(entry.action, fy.P4TableAction)
        and entry.action.name == "set_core_port"
    ]
    assert sorted(core_ports(taken)) == sorted(admitted) == [0, 2, 300]
    (kind,) = {u.type for u in taken if u.entity.HasField("value_set_entry")}
    assert kind == p4r.Update.MODIFY


def test_transit_node_has_no_core_ports_to_tell_apart(network: dict[str, Any]) -> None:
    assert not entities(updates(provision(parse(network), "p1")), "value_set_entry")


def test_core_ports_are_compared_as_a_set(network: dict[str, Any]) -> None:
    """A different order is not a change, a different port is; a value set is never deleted."""
    network["nodes"]["pe1"]["ports"].append({"number": 7, "role": "core"})
    intended = provision(parse(network), "pe1")
    taken = updates(intended)
    held = p4r.Entity()
    held.CopyFrom(entities(taken, "value_set_entry")[0])
    held.value_set_entry.members.reverse()
    others = [update.entity for update in taken if not update.entity.HasField("value_set_entry")]
    intended.intent.observe(held_on_switch([*others, held]))
    assert intended.intent.pending == 0
    del held.value_set_entry.members[0]
    intended.intent.observe(held_on_switch([*others, held]))
    assert sorted(core_ports(updates(intended))) == [2, 7]
    intended.intent.observe(held_on_switch(others))
    assert sorted(core_ports(updates(intended))) == [2, 7]


class FakeReads:
    """Replaces reads of a switch, which has nothing: records the patterns."""

    def __init__(self) -> None:
        self.asked: list[P4Entity] = []

    async def read(self, _switch: fy.Switch, pattern: P4Entity) -> AsyncIterator[P4Entity]:
        self.asked.append(pattern)
        return
        yield


@pytest.mark.parametrize("chip", [False, True])
@pytest.mark.parametrize("node", ["pe1", "p1"])
async def test_counters_are_read_by_the_names_of_their_cells(
    network: dict[str, Any], monkeypatch: pytest.MonkeyPatch, node: str, chip: bool
) -> None:
    """Only counters the program has; cell 0, which is unused, is left out."""
    config = parse(network)
    role = config.nodes[node].role
    pipeline = tna_pipeline(role) if chip else load_pipeline(role)
    intended = Provision(config, node, pipeline)
    leadership = Leadership([node], SYSTEM_CLOCK)
    bus = EventBus(SYSTEM_CLOCK)
    connection = Connection(node, config.nodes[node], pipeline, bus, SYSTEM_CLOCK, leadership)
    counters = Counters(intended, connection, SYSTEM_CLOCK)
    connection.enter(State.UP)
    held = {
        counter: {index: (size + index, 100 * (size + index)) for index in (0, 1, 2)}
        for size, counter in enumerate((*COUNTERS, *PORT_COUNTERS, *VRF_COUNTERS))
    }

    async def read_cells(_switch: fy.Switch, cells: Iterable[Cell]) -> Cells:
        return {(counter, index): held[counter].get(index, (0, 0)) for counter, index in cells}

    monkeypatch.setattr("fcn.controller.node.counters.read_cells", read_cells)
    values = await counters.read()
    assert counters.last == values
    read = pipeline.counters - {*PATH_COUNTERS, *LOAD_COUNTERS, *LINK_COUNTERS}
    assert values.keys() == read
    for counter in COUNTERS.keys() & pipeline.counters:
        names = named_cells(counter)
        assert values[counter] == {
            name: held[counter].get(index, (0, 0)) for index, name in names.items()
        }
    for counter in PORT_COUNTERS:
        assert values[counter]["port 2"] == held[counter][2]
    assert values["vrf_refused"]["underlay"] == held["vrf_refused"][0]
    if role == "pe":
        assert values["vrf_refused"]["vrf blue"] == held["vrf_refused"][1]
    assert values["ecn_marked"]["CE_MARKED"] == (0, 0)
    kinds = values["notifications_triggered"]
    assert kinds["FAST_CNP_TRIGGERED"] == held["notifications_triggered"][1]
    assert kinds["CNP_TRIGGERED"] == held["notifications_triggered"][2]


@pytest.mark.parametrize("chip", [False, True])
@pytest.mark.parametrize("node", ["pe1", "p1"])
@pytest.mark.parametrize("notification", [False, True])
@pytest.mark.parametrize("translation", [False, True])
def test_features_are_the_mode_of_the_domain(
    network: dict[str, Any], node: str, chip: bool, notification: bool, translation: bool
) -> None:
    """One entry only (FCN-16): translation and notification of a PE are independent."""
    config = parse(network)
    role = config.nodes[node].role
    pipeline = tna_pipeline(role) if chip else load_pipeline(role)
    intended = provision(config, node, pipeline)
    intended.set_features(frozenset())
    first = table_entries(updates(intended), pipeline.schema)
    assert arguments(first, "domain_mode") == [{"congestion_kind": 0, "translates": 0}]
    wanted = {Feature.NOTIFICATION: notification, Feature.TRANSLATION: translation}
    features = frozenset(feature for feature, on in wanted.items() if on) & ROLE_FEATURES[role]
    intended.set_features(features)
    changed = table_entries(updates(intended), pipeline.schema)
    # That of a chip's PE has CNPs for its own senders alone (FCN-18 is open there).
    own = 2 if chip and role == "pe" else 1
    expected = {
        "congestion_kind": own if notification else 0,
        "translates": int(translation and role == "pe"),
    }
    assert arguments(changed, "domain_mode") == ([expected] if features else [])
    assert {entry.table_id for entry in changed} <= {"domain_mode"}


@pytest.mark.parametrize("chip", [False, True])
def test_tunnels_end_by_the_classic_rules(network: dict[str, Any], chip: bool) -> None:
    pipeline = tna_pipeline("pe") if chip else load_pipeline("pe")
    entries = table_entries(updates(provision(parse(network), "pe1", pipeline)), pipeline.schema)
    written = {
        (entry["inner_ecn"], entry["outer_ecn"]): entry.action
        for entry in entries
        if entry.table_id == "decap_ecn"
    }
    assert written == {
        (rule.inner, rule.outer): fy.P4TableAction(rule.verdict, **rule.parameters)
        for rule in CLASSIC_RULES
    }


@pytest.mark.parametrize("chip", [False, True])
async def test_sessions_of_the_driver_are_not_read(
    monkeypatch: pytest.MonkeyPatch, chip: bool
) -> None:
    """Otherwise they would be deleted, because they are not in the intent."""
    pipeline = tna_pipeline("pe") if chip else load_pipeline("pe")
    reads = FakeReads()
    monkeypatch.setattr("fcn.controller.node.readback.read", reads.read)
    switch = fy.Switch("unused", "127.0.0.1:1")
    assert await read_switch(switch, pipeline, [MeterCell("punt_meter", 1)]) == []
    asked = {type(pattern) for pattern in reads.asked}
    assert (fy.P4CloneSessionEntry in asked) is not chip
    assert {fy.P4TableEntry, fy.P4MeterEntry, fy.P4DigestEntry} <= asked
