"""The packet tests write every entry, and read every counter, on any target's program."""

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import finsy as fy
import pytest
from finsy.p4entity import P4UpdateList, encode_updates
from finsy.proto import p4r

from fcn.contract.constants import POLICY_BIT, compiled_programs
from fcn.contract.ecn import CLASSIC_RULES, Ecn
from fcn.contract.names import (
    CM_DIGESTS,
    COUNTERS,
    LINK_COUNTERS,
    LOAD_COUNTERS,
    NEW_FLOW_DIGESTS,
    PATH_COUNTERS,
    PORT_COUNTERS,
    VRF_COUNTERS,
)
from fcn.contract.paths import PathShare
from fcn.contract.pipeline import Pipeline, load_pipeline
from fcn.contract.profiles import Mode
from fcn.ptf_tests.lib.counters import read_counter
from fcn.ptf_tests.lib.entries import NodeTables
from fcn.ptf_tests.lib.p_entries import PTables
from fcn.ptf_tests.lib.pe_entries import PeTables

TNA = compiled_programs() / "tna"
V4, V6 = "10.1.0.10", "2001:db8::10"
MAC = "02:00:00:00:00:01"
METER = fy.P4MeterConfig(cir=10, cburst=1, pir=10, pburst=1)


class Switch:
    """Stands in for the client: encodes what is written, answers reads with what a test says."""

    def __init__(self, pipeline: Pipeline, cells: dict[str, list[tuple[int, int, int]]]) -> None:
        self.pipeline = pipeline
        self.updates: list[p4r.Update] = []
        self._cells = cells

    def write(self, *entities: P4UpdateList) -> None:
        """Raises ValueError for what the program does not have."""
        for message in encode_updates(entities, self.pipeline.schema):
            assert isinstance(message, p4r.Update)
            self.updates.append(message)

    def read_encoded(self, entities: Iterable[p4r.Entity]) -> list[p4r.Entity]:
        """Cells of counters."""
        found = []
        for pattern in entities:
            number = pattern.counter_entry.counter_id
            name = self.pipeline.schema.counters[number].alias
            for index, packets, octets in self._cells.get(name, []):
                if index == pattern.counter_entry.index.index:
                    data = fy.P4CounterData(packet_count=packets, byte_count=octets)
                    cell = fy.P4CounterEntry(name, index=index, data=data)
                    found.append(cell.encode(self.pipeline.schema))
        return found


def _encaps(pe: PeTables) -> None:
    """Every kind of tunnel there is, its parameters by the contract."""
    table = load_pipeline("pe").schema.tables["tunnel"]
    encaps = [action for action in table.actions if action.alias.startswith("encap_")]
    assert len(encaps) == 9
    for number, action in enumerate(encaps, start=1):
        pe.tunnel(number, action.alias, **{param.name: 1 for param in action.params})


def _flows(pe: PeTables) -> None:
    for address in (V4, V6):
        for watched in (False, True):
            pe.flow(1, address, address, 2 + watched, 0x80001, 10**9, watched=watched)


def _routes(pe: PeTables) -> None:
    for prefix in (f"{V4}/32", f"{V6}/128", "0.0.0.0/0", "::/0"):
        pe.route(1, prefix, "to_dc", port=1, vlan_id=0, src_mac=MAC, dst_mac=MAC)
        pe.route(2, prefix, "to_tunnel", tunnel=1)
        for vrf, action in enumerate(("glean", "to_local", "blackhole"), start=3):
            pe.route(vrf, prefix, action)


def _gateways(pe: PeTables) -> None:
    for address in (V4, V6):
        pe.gateway(1, address, MAC, 100)


def _queue_levels(tables: NodeTables) -> None:
    tables.queue_level(1, 7)
    tables.queue_level(2, 7, (8, 15))


def _marking_curves(tables: NodeTables) -> None:
    tables.marking_curve(1, Ecn.CE, 0xFFFF)
    tables.marking_curve(2, Ecn.ECT1, 0x7FFF, (8, 15))


def _hold_levels(tables: NodeTables) -> None:
    tables.hold_level(1, "CONGESTED")
    tables.hold_level(2, "RELIEVED", (0, 8))


def _watched_paths(tables: NodeTables) -> None:
    for slot, relief in enumerate((None, 50), start=1):
        tables.watch_path(slot, 3, 17, cell=5, repeat_us=10, refresh_us=100, relief_us=relief)


def _dc_relief(pe: PeTables) -> None:
    pe.dc_relief(1, "PAUSE", refresh_us=100, mac=MAC, quanta=0xFFFF)
    pe.dc_relief(2, "CNP", refresh_us=100)


def _unmapped(pe: PeTables) -> None:
    for version in (4, 6):
        pe.label_without_source_qp(0x80001, version)


def _mapped(pe: PeTables) -> None:
    for address in (V4, V6):
        pe.label_to_cnp(0x80001, 1, address, address, 3)


NODE: dict[str, Callable[[Any], None]] = {
    "insert": lambda t: t.insert("endpoint", "end", match={"dst": V6}),
    "delete": lambda t: t.delete("endpoint", match={"dst": V6}),
    "core_port": lambda t: t.core_port(3),
    "underlay": lambda t: t.underlay("fc00::/16", (3, MAC, MAC), (4, MAC, MAC)),
    "underlay_glean": lambda t: t.underlay_glean("fc00::/64"),
    "local_address": lambda t: t.local_address(V6),
    "end_sid": lambda t: t.end_sid(V6),
    "notification_port": lambda t: t.notification_port(),
    "notification_sid": lambda t: t.notification_sid(V6),
    "domain_mode": lambda t: t.domain_mode(),
    "enable_fast_cnp": lambda t: t.enable_fast_cnp(V6),
    "enable_end_con": lambda t: t.enable_end_con(V6, traffic_class=0xC0),
    "recirculation": lambda t: t.recirculation(),
    "delete_recirculation": lambda t: t.delete_recirculation(),
    "queue_level": _queue_levels,
    "delete_queue_level": lambda t: t.delete_queue_level(2, (8, 15)),
    "level_policy": lambda t: t.level_policy(7, mark=Ecn.ECT1, notify=True, interval_us=1000),
    "notification_meter": lambda t: t.notification_meter(METER),
    "punt_limit": lambda t: t.punt_limit(1, METER),
    "own_mac": lambda t: t.own_mac(3, MAC),
    "marking_curve": _marking_curves,
    "delete_marking_curve": lambda t: t.delete_marking_curve(1),
    "flow_control": lambda t: t.flow_control("SERVICE", 100),
    "flow_control_mode": lambda t: t.flow_control_mode("OFF"),
    "arn_profile": lambda t: t.arn_profile(1000),
    "arn_neighbor": lambda t: t.arn_neighbor(3, V6),
    "arn_upstream": lambda t: t.arn_upstream(3, MAC, MAC, V6, V6),
    "hold_level": _hold_levels,
    "delete_hold_level": lambda t: t.delete_hold_level(1),
    "hold_budget": lambda t: t.hold_budget(100),
    "arn_meter": lambda t: t.arn_meter(METER),
    "hold_meter": lambda t: t.hold_meter(3, METER),
    "watch_link": lambda t: t.watch_link(
        0, 3, far_end=(MAC, V6), own=(MAC, V6), interval_us=10, detection_us=30
    ),
    "watch_path": _watched_paths,
    "watch_path_load": lambda t: t.watch_path_load(4, 3, 17, cell=5, change=50, refresh_us=100),
    "bfd_session": lambda t: t.bfd_session(3, V6),
    "alternate": lambda t: t.alternate(3, "fc00::/16", 4, MAC, MAC),
}
PE = NODE | {
    "set_default": lambda t: t.set_default("flow_learning", "learning_off"),
    "dc_port": lambda t: t.dc_port(1, 1, 100),
    "gateway": _gateways,
    "report_limit": lambda t: t.report_limit(1, METER),
    "route": _routes,
    "tunnel": _encaps,
    "service_sid": lambda t: t.service_sid(V6, 1),
    "end_con_sid": lambda t: t.end_con_sid(V6, 1),
    "tunnel_vrf": lambda t: t.tunnel_vrf(1, 1001, 1),
    "flow": _flows,
    "label_to_cnp": _mapped,
    "label_without_source_qp": _unmapped,
    "delete_label": lambda t: t.delete_label(0x80001, 4),
    "enable_cnp": lambda t: t.enable_cnp(min_interval_us=50),
    "decap_rules": lambda t: t.decap_rules(),
    "treat_light_congestion": lambda t: t.treat_light_congestion(1000),
    "slow": lambda t: t.slow(1, interval_us=10, burst=2),
    "policy": lambda t: t.policy(3, POLICY_BIT | 5, 20, 17, [PathShare(1), PathShare(1)]),
    "reporter_port": lambda t: t.reporter_port("fc00::7", 3),
    "path_reporter": lambda t: t.path_reporter("fc00::7", 7, 1, 17, cell=5, bit=2),
    "reroute": lambda t: t.reroute(2, 1),
    "dc_relief": _dc_relief,
    "notice_meter": lambda t: t.notice_meter(METER),
    "heed_pauses": lambda t: t.heed_pauses(1, longest_us=335),
    "trust": lambda t: t.trust("fc00::/16"),
    "learn_flows": lambda t: t.learn_flows(
        (*NEW_FLOW_DIGESTS.values(), *CM_DIGESTS.values()), 1000
    ),
}
P = NODE | {
    "set_default": lambda t: t.set_default(
        "domain_mode", "set_mode", congestion_kind=2, translates=0
    ),
    "core_path": lambda t: t.core_path(V6, 17, 3, cell=5, interval_us=10, tag=1),
    "fantel_profile": lambda t: t.fantel_profile(V6, node=7, epoch=1000),
}

TWO_THRESHOLD = {
    "marking_curve",
    "delete_marking_curve",
    "treat_light_congestion",
    "slow",
    "reroute",
}
FLOW_CONTROL = {
    "flow_control",
    "flow_control_mode",
    "notification_sid",
    "arn_profile",
    "arn_neighbor",
    "arn_upstream",
    "hold_level",
    "delete_hold_level",
    "hold_budget",
    "arn_meter",
    "hold_meter",
    "dc_relief",
    "heed_pauses",
}
PATHS = {
    "policy",
    "path_reporter",
    "reporter_port",
    "watch_link",
    "watch_path",
    "watch_path_load",
    "bfd_session",
    "alternate",
    "core_path",
    "fantel_profile",
}
EGRESS_PE = {"enable_fast_cnp", "enable_end_con", "notice_meter"}
WITHOUT_CHIP = {
    "p": TWO_THRESHOLD | FLOW_CONTROL | PATHS,
    "pe": TWO_THRESHOLD | FLOW_CONTROL | PATHS | EGRESS_PE,
}
"""By role, verbs of modes that have no program for a chip yet."""

CASES = [
    pytest.param(role, verbs, kind, chip, id=f"{role}-{'tna' if chip else 'v1model'}")
    for role, verbs, kind in (("pe", PE, PeTables), ("p", P, PTables))
    for chip in (False, True)
]


def _pipeline(role: str, chip: bool) -> Pipeline:
    return load_pipeline(role, TNA if chip else None, binary=not chip)


def _updates(pipeline: Pipeline, verbs: dict[str, Any], kind: type[NodeTables]) -> Switch:
    switch = Switch(pipeline, {})
    tables = kind(switch)
    has_modes = {Mode.TWO_THRESHOLD, Mode.FLOW_CONTROL} <= pipeline.modes
    for name, verb in verbs.items():
        if has_modes or name not in WITHOUT_CHIP[pipeline.name]:
            verb(tables)
    return switch


@pytest.mark.parametrize(("role", "verbs", "kind", "chip"), CASES)
def test_every_verb_is_an_entry_of_the_program(
    role: str, verbs: dict[str, Any], kind: type[NodeTables], chip: bool
) -> None:
    known = {name for name, _ in inspect.getmembers(kind, inspect.isfunction) if name[0] != "_"}
    assert known == verbs.keys(), "a verb without a case here"
    pipeline = _pipeline(role, chip)
    switch = _updates(pipeline, verbs, kind)
    allowed = {
        table.preamble.id: {ref.id for ref in table.action_refs}
        for table in pipeline.schema.p4info.tables
    }
    written = [update.entity.table_entry for update in switch.updates]
    actions = [
        (entry.table_id, chosen.action_id)
        for entry in written
        for chosen in (
            entry.action.action,
            *(m.action for m in entry.action.action_profile_action_set.action_profile_actions),
        )
        if chosen.action_id
    ]
    assert [pair for pair in actions if pair[1] not in allowed[pair[0]]] == []
    # Of the tables a controller writes, none is left out.
    tables = {table.id for table in pipeline.schema.tables if not table.is_const}
    unwritten = tables - {table for table, _ in actions}
    assert {t.alias for t in pipeline.schema.tables if t.id in unwritten} == set()


def _arguments(switch: Switch, table: str, action: str) -> list[dict[str, int]]:
    schema = switch.pipeline.schema
    found = []
    for update in switch.updates:
        entry = update.entity.table_entry
        if entry.table_id != schema.tables[table].id or not entry.action.action.action_id:
            continue
        decoded = fy.P4TableEntry.decode(update.entity, schema).action
        assert isinstance(decoded, fy.P4TableAction)
        if decoded.name == action:
            found.append(decoded.args)
    return found


@pytest.mark.parametrize(
    ("chip", "interval", "cnp", "window", "depths"),
    [(False, 1000, 50, 1000, (8, 15)), (True, 3907, 196, 3907, (152, 303))],
)
def test_times_and_depths_are_in_the_units_of_the_target(
    chip: bool, interval: int, cnp: int, window: int, depths: tuple[int, int]
) -> None:
    switch = _updates(_pipeline("pe", chip), PE, PeTables)
    assert [a["interval"] for a in _arguments(switch, "level_policy", "set_policy")] == [interval]
    assert [a["min_interval"] for a in _arguments(switch, "cnp_profile", "set_cnp_profile")] == [
        cnp
    ]
    assert [a["window"] for a in _arguments(switch, "flow_learning", "learning_on")] == [window]
    schema = switch.pipeline.schema
    matches = [
        fy.P4TableEntry.decode(update.entity, schema).match
        for update in switch.updates
        if update.entity.table_entry.table_id == schema.tables["queue_level"].id
    ]
    # One without depths, one with, and the removal of that.
    assert [match.get("queue_depth") for match in matches if match] == [None, depths, depths]


@pytest.mark.parametrize("chip", [False, True])
def test_copies_are_steered_by_clone_sessions_where_there_are_some(chip: bool) -> None:
    switch = _updates(_pipeline("p", chip), P, PTables)
    sessions = [
        update.type
        for update in switch.updates
        if update.entity.HasField("packet_replication_engine_entry")
    ]
    inserted, deleted = p4r.Update.INSERT, p4r.Update.DELETE
    assert sessions == ([] if chip else [inserted, inserted, deleted, deleted])


@pytest.mark.parametrize("chip", [False, True])
def test_features_are_off_until_a_verb_turns_them_on(chip: bool) -> None:
    """FCN-16: of no congestion, CNPs, Fast CNPs and CNPs to END.CON."""
    for role, verbs, kind, verb, sent, translates in (
        ("pe", PE, PeTables, "enable_cnp", 2, 1),
        ("p", P, PTables, "enable_fast_cnp", 1, 0),
        ("p", P, PTables, "enable_end_con", 3, 0),
    ):
        pipeline = _pipeline(role, chip)
        off = _updates(pipeline, {"domain_mode": verbs["domain_mode"]}, kind)
        modes = _arguments(off, "domain_mode", "set_mode")
        assert modes == [{"congestion_kind": 0, "translates": 0}]
        on = _updates(pipeline, {verb: verbs[verb]}, kind)
        modes = _arguments(on, "domain_mode", "set_mode")
        assert modes == [{"congestion_kind": sent, "translates": translates}]


@pytest.mark.parametrize("chip", [False, True])
def test_rules_of_decapsulation_are_written_one_by_one(chip: bool) -> None:
    switch = _updates(_pipeline("pe", chip), {"decap_rules": PE["decap_rules"]}, PeTables)
    schema = switch.pipeline.schema
    written = [fy.P4TableEntry.decode(update.entity, schema) for update in switch.updates]
    found = {(entry["inner_ecn"], entry["outer_ecn"]): entry.action for entry in written}
    expected = {
        (rule.inner, rule.outer): fy.P4TableAction(rule.verdict, **rule.parameters)
        for rule in CLASSIC_RULES
    }
    assert len(written) == len(found) == 16
    assert found == expected


@pytest.mark.parametrize("role", ["pe", "p"])
@pytest.mark.parametrize("chip", [False, True])
def test_counters_are_read_where_the_program_has_them(role: str, chip: bool) -> None:
    pipeline = _pipeline(role, chip)
    known = (
        *COUNTERS, *PORT_COUNTERS, *VRF_COUNTERS, *PATH_COUNTERS, *LOAD_COUNTERS, *LINK_COUNTERS
    )  # fmt: skip
    cells = {counter: [(3, 1, 1), (0, size, 10 * size)] for size, counter in enumerate(known)}
    switch = Switch(pipeline, cells)
    found = {counter: read_counter(switch, counter, 0) for counter in known}
    assert found == {
        counter: {0: (size, 10 * size)} if counter in pipeline.counters else {}
        for size, counter in enumerate(known)
    }
    assert {counter for counter in found if found[counter]} == pipeline.counters
    assert read_counter(switch, "no_such_counter", 0) == {}
