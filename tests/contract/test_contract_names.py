"""Names of the contract are those of the programs, on every target."""

from pathlib import Path

import pytest

from fcn.contract.constants import compiled_programs, enum_members
from fcn.contract.names import (
    CM_DIGESTS,
    COUNTERS,
    EVENT_COUNTERS,
    FLOW_TABLES,
    GATEWAY_TABLES,
    LABEL_TABLES,
    LINK_COUNTERS,
    LOAD_COUNTERS,
    NEIGHBOR_DIGESTS,
    NEW_FLOW_DIGESTS,
    NOT_ON_CHIPS,
    PATH_COUNTERS,
    PORT_COUNTERS,
    ROUTE_TABLES,
    VRF_COUNTERS,
    named_cells,
)
from fcn.contract.pipeline import Pipeline, load_pipeline, mode_parts
from fcn.contract.profiles import LEAST, PROFILES

COUNTERS_OF_P = {
    "drops",
    "punts",
    "ecn_marked",
    "notifications_sent",
    "notifications_triggered",
    "flow_interval_suppressed",
    "node_rate_suppressed",
}
PARTS = {role: NOT_ON_CHIPS[role].union(*mode_parts(role).values()) for role in ("pe", "p")}
COUNTERS_OF_PE = COUNTERS.keys() - PARTS["pe"]
"""A PE drops the CNPs its node rate suppresses, and counts them as dropped."""


@pytest.fixture(params=[None, compiled_programs() / "tna"], ids=["v1model", "tna"])
def folder(request: pytest.FixtureRequest) -> Path | None:
    """Where the programs of an architecture are."""
    found: Path | None = request.param
    return found


def load(role: str, folder: Path | None) -> Pipeline:
    return load_pipeline(role, folder, binary=False)


def test_tables_and_digests_are_in_the_program(folder: Path | None) -> None:
    schema = load("pe", folder).schema
    tables = {table.alias for table in schema.tables}
    for named in (FLOW_TABLES, GATEWAY_TABLES, LABEL_TABLES, ROUTE_TABLES):
        assert {*named.values()} <= tables
    digests = {digest.alias for digest in schema.digests}
    assert digests == {*NEW_FLOW_DIGESTS.values(), *CM_DIGESTS.values(), *NEIGHBOR_DIGESTS.values()}


@pytest.mark.parametrize(("role", "counters"), [("pe", COUNTERS_OF_PE), ("p", COUNTERS_OF_P)])
def test_counters_are_those_of_the_program(
    folder: Path | None, role: str, counters: set[str]
) -> None:
    has_modes = folder is None
    of_modes = COUNTERS.keys() | {*PATH_COUNTERS, *LOAD_COUNTERS, *LINK_COUNTERS}
    modes = PARTS[role] & of_modes if has_modes else frozenset[str]()
    assert load(role, folder).counters == {*counters, *modes, *PORT_COUNTERS, *VRF_COUNTERS}


def test_actions_are_named_by_ip_version(folder: Path | None) -> None:
    schema = load("pe", folder).schema
    for version in (4, 6):
        for table, verbs in (
            (FLOW_TABLES, ("set_flow_label", "set_flow_label_watched")),
            (LABEL_TABLES, ("cnp", "source_qp_unknown")),
        ):
            actions = {action.alias for action in schema.tables[table[version]].actions}
            assert {f"{verb}_ipv{version}" for verb in verbs} <= actions


@pytest.mark.parametrize("counter", COUNTERS)
def test_cells_are_the_members_of_an_enum_but_for_none(counter: str) -> None:
    """0 stands for nothing: it is NONE, or Not-ECT of a mark."""
    members = enum_members(COUNTERS[counter].enum)
    (nothing,) = (name for name, index in members.items() if not index)
    assert nothing in {"NONE", "NOT_ECT"}
    assert named_cells(counter).keys() == set(members.values()) - {0}


@pytest.mark.parametrize("role", ["pe", "p"])
def test_cells_are_in_the_counter(folder: Path | None, role: str) -> None:
    schema = load(role, folder).schema
    sizes = {counter.alias: counter.size for counter in schema.counters}
    for counter in COUNTERS.keys() & sizes.keys():
        assert max(named_cells(counter)) < sizes[counter], counter


def test_no_two_cells_have_the_same_name() -> None:
    names = [name for counter in COUNTERS for name in named_cells(counter).values()]
    assert sorted(names) == sorted(set(names))
    assert {
        "TRANSLATION_DISABLED",
        "PUNTED_ARP",
        "OWN_CONGESTION",
        "NEW_FLOW",
        "CE_MARKED",
        "FAST_CNP_RECEIVED",
        "CNP_SENT",
        "FAST_CNP_TRIGGERED",
        "CNP_INTERVAL_SUPPRESSED",
        "FAST_CNP_RATE_SUPPRESSED",
    } <= set(names)


def test_events_are_everything_but_drops() -> None:
    assert {*EVENT_COUNTERS, "drops"} == COUNTERS.keys()


@pytest.mark.parametrize("role", ["pe", "p"])
def test_modes_are_known_by_the_names_in_the_schemas(role: str) -> None:
    """Though these are read without making schemas."""

    def names(profile: str) -> set[str]:
        schema = load_pipeline(role, profile=profile, binary=False).schema
        return {each.alias for kind in (schema.tables, schema.counters) for each in kind}

    least, single = names(LEAST), {p: modes for p, modes in PROFILES.items() if len(modes) == 1}
    found = {mode: names(profile) - least for profile, (mode,) in single.items()}
    assert mode_parts(role) == found
    assert all(found.values())
