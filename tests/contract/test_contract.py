"""One P4Info contract: the TNA programs offer a controller what the v1model programs offer."""

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from finsy.proto import p4i
from google.protobuf import text_format

from fcn.contract.names import NOT_ON_CHIPS
from fcn.contract.profiles import LEAST, PROFILES
from fcn.contract.targets import TOFINO1
from tools.p4.programs import CHIP_PROGRAMS, PROGRAMS

ROOT = Path(__file__).resolve().parents[2]
COMPILED = ROOT / "p4src" / "compiled"
Shape = dict[str, Any]
Programs = tuple[p4i.P4Info, p4i.P4Info]
NOTICES = "notice_meter"
"""Meter of what an egress PE tells others (FCN-18), which no chip has yet."""


def load(path: Path) -> p4i.P4Info:
    """A P4Info text file."""
    return text_format.Parse(path.read_text(), p4i.P4Info())


def by_alias(items: Iterable[Any]) -> dict[str, Any]:
    """Objects of a P4Info by the name the contract gives them."""
    return {item.preamble.alias: item for item in items}


def actions(info: p4i.P4Info, table: p4i.Table) -> Shape:
    """Parameter names and widths of a table's actions, by the action's name."""
    known = {action.preamble.id: action for action in info.actions}
    return {
        known[ref.id].preamble.alias: [(p.name, p.bitwidth) for p in known[ref.id].params]
        for ref in table.action_refs
    }


def keys(table: p4i.Table) -> list[tuple[str, int, int]]:
    """Name, width and match kind of a table's keys."""
    return [(key.name, key.bitwidth, key.match_type) for key in table.match_fields]


@pytest.fixture(params=CHIP_PROGRAMS)
def program(request: pytest.FixtureRequest) -> str:
    """One that chips have, too."""
    return str(request.param)


@pytest.fixture
def role(program: str) -> str:
    """Of the nodes that have the program."""
    return Path(program).name


@pytest.fixture
def programs(program: str, role: str) -> tuple[p4i.P4Info, p4i.P4Info]:
    """The same program's P4Info for v1model and TNA; without the tables of what no chip has a
    program for yet."""
    name = f"{program}.p4info.txtpb"
    v1model = load(COMPILED / (name if "/" in program else f"{LEAST}/{name}"))
    for table in list(v1model.tables):
        if table.preamble.alias in NOT_ON_CHIPS[role]:
            v1model.tables.remove(table)
    return v1model, load(COMPILED / "tna" / name)


def common_tables(role: str, v1model: p4i.P4Info) -> dict[str, p4i.Table]:
    """Tables by name, without those that no chip has yet."""
    tables = by_alias(v1model.tables)
    return {name: table for name, table in tables.items() if name not in NOT_ON_CHIPS[role]}


def test_tables_are_the_same(role: str, programs: Programs) -> None:
    v1model, tna = programs
    assert common_tables(role, v1model).keys() == by_alias(tna.tables).keys()


def test_keys_are_the_same(role: str, programs: Programs) -> None:
    v1model, tna = programs
    others = by_alias(tna.tables)
    ours = common_tables(role, v1model)
    assert {name: keys(table) for name, table in ours.items()} == {
        name: keys(others[name]) for name in ours
    }


def test_actions_and_parameters_are_the_same(role: str, programs: Programs) -> None:
    v1model, tna = programs
    for name, table in common_tables(role, v1model).items():
        ours, theirs = actions(v1model, table), actions(tna, by_alias(tna.tables)[name])
        # A default action that does nothing is not named everywhere.
        ours.pop("NoAction", None)
        theirs.pop("NoAction", None)
        assert ours == theirs, name


def test_meters_are_the_same(programs: Programs) -> None:
    v1model, tna = programs

    def shape(info: p4i.P4Info) -> Shape:
        return {
            name: meter.size
            for name, meter in by_alias(info.meters).items()
            if info is tna or name != NOTICES
        }

    assert shape(v1model) == shape(tna)


def test_counters_are_the_same(role: str, programs: Programs) -> None:
    """Each of a program's size and unit; without those that no chip has yet."""
    v1model, tna = programs

    def shape(info: p4i.P4Info) -> Shape:
        return {
            name: (counter.size, counter.spec.unit)
            for name, counter in by_alias(info.counters).items()
            if info is tna or name not in NOT_ON_CHIPS[role]
        }

    assert shape(v1model) == shape(tna)


def test_direct_counters_and_timeouts_are_the_same(programs: Programs) -> None:
    v1model, tna = programs

    def shape(info: p4i.P4Info) -> Shape:
        tables = {table.preamble.id: table.preamble.alias for table in info.tables}
        return {
            "counted": {tables[c.direct_table_id] for c in info.direct_counters},
            "timed": {
                t.preamble.alias
                for t in info.tables
                if t.idle_timeout_behavior == p4i.Table.NOTIFY_CONTROL
            },
        }

    assert shape(v1model) == shape(tna)


def test_digests_are_the_same(programs: Programs) -> None:
    v1model, tna = programs

    def shape(info: p4i.P4Info) -> Shape:
        structs = info.type_info.structs
        return {
            name: [
                (member.name, member.type_spec.bitstring.bit.bitwidth)
                for member in structs[digest.type_spec.struct.name].members
            ]
            for name, digest in by_alias(info.digests).items()
        }

    assert shape(v1model) == shape(tna)


def test_controller_packets_are_the_same(programs: Programs) -> None:
    v1model, tna = programs

    def shape(info: p4i.P4Info) -> Shape:
        return {
            name: [(m.name, m.bitwidth) for m in header.metadata]
            for name, header in by_alias(info.controller_packet_metadata).items()
        }

    assert shape(v1model) == shape(tna)


def test_selectors_are_the_same(programs: Programs) -> None:
    v1model, tna = programs
    assert by_alias(v1model.action_profiles).keys() == by_alias(tna.action_profiles).keys()


def test_value_sets_are_the_known_ones(programs: Programs) -> None:
    _, tna = programs
    assert {held.preamble.name for held in tna.value_sets} <= set(TOFINO1.value_sets)


def test_committed_p4info_is_of_these_sources() -> None:
    """Without the compiler by hashes, with it by compiling again."""
    done = subprocess.run(
        [sys.executable, "-m", "tools.p4.tofino", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("role", PROGRAMS)
@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_what_profiles_share_is_the_same_to_a_controller(role: str, profile: str) -> None:
    """Numbers too: what one program has learned is read and written by those of another."""
    name = f"{role}.p4info.txtpb"
    full = load(COMPILED / name)
    own = full if profile == "full" else load(COMPILED / profile / name)
    assert own.tables
    for kind in ("tables", "counters", "meters", "digests", "action_profiles"):
        known = by_alias(getattr(full, kind))
        for item in getattr(own, kind):
            assert item == known[item.preamble.alias]
    used = {ref.id for table in own.tables for ref in table.action_refs}
    by_number = {action.preamble.id: action for action in full.actions}
    assert [a for a in own.actions if a.preamble.id in used and a != by_number[a.preamble.id]] == []
