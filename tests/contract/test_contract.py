"""One P4Info contract: the TNA programs offer a controller what the v1model programs offer."""

import subprocess
import sys
from collections.abc import Callable, Iterable
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
Programs = tuple[p4i.P4Info, p4i.P4Info]
LOAD_ACTION = "watch_path_load"
"""Of `clock_slot`, where loads are measured (FAN-7), which no chip does."""
METERS = ("notice_meter", "hold_meter")
"""Of what an egress PE tells others (FCN-18) and of holds (SRF-7), which no chip has."""


def load(path: Path) -> p4i.P4Info:
    """A P4Info text file."""
    return text_format.Parse(path.read_text(), p4i.P4Info())


def by_alias(items: Iterable[Any]) -> dict[str, Any]:
    """Objects of a P4Info by the name the contract gives them."""
    return {item.preamble.alias: item for item in items}


@pytest.fixture(params=CHIP_PROGRAMS)
def program(request: pytest.FixtureRequest) -> str:
    """One that chips have, too."""
    return str(request.param)


@pytest.fixture
def programs(program: str) -> Programs:
    """The same program's P4Info for v1model and TNA; without what no chip has a program for yet."""
    name, role = f"{program}.p4info.txtpb", Path(program).name
    v1model = load(COMPILED / (name if "/" in program else f"{LEAST}/{name}"))
    tna = load(COMPILED / "tna" / name)
    own = by_alias(tna.tables).keys() | by_alias(tna.counters).keys()
    left_out = {*NOT_ON_CHIPS[role], *METERS} - own
    for parts in (v1model.tables, v1model.counters, v1model.meters):
        kept = [p for p in parts if p.preamble.alias not in left_out]
        del parts[:]
        parts.extend(kept)  # type: ignore[arg-type]
    of_loads = {a.preamble.id for a in v1model.actions if a.preamble.alias == LOAD_ACTION}
    for table in v1model.tables:
        actions = [ref for ref in table.action_refs if ref.id not in of_loads]
        del table.action_refs[:]
        table.action_refs.extend(actions)
    return v1model, tna


def _keys(info: p4i.P4Info) -> object:
    """Name, width and match kind of each table's keys."""
    return {
        name: [(key.name, key.bitwidth, key.match_type) for key in table.match_fields]
        for name, table in by_alias(info.tables).items()
    }


def _actions(info: p4i.P4Info) -> object:
    """Parameter names and widths of each table's actions. A default action that does nothing is not
    named everywhere."""
    known = {action.preamble.id: action for action in info.actions}
    return {
        name: {
            known[ref.id].preamble.alias: [(p.name, p.bitwidth) for p in known[ref.id].params]
            for ref in table.action_refs
            if known[ref.id].preamble.alias != "NoAction"
        }
        for name, table in by_alias(info.tables).items()
    }


def _direct_counters_and_timeouts(info: p4i.P4Info) -> object:
    tables = {table.preamble.id: table.preamble.alias for table in info.tables}
    timed = {
        table.preamble.alias
        for table in info.tables
        if table.idle_timeout_behavior == p4i.Table.NOTIFY_CONTROL
    }
    return {tables[c.direct_table_id] for c in info.direct_counters}, timed


def _digests(info: p4i.P4Info) -> object:
    structs = info.type_info.structs
    return {
        name: [
            (member.name, member.type_spec.bitstring.bit.bitwidth)
            for member in structs[digest.type_spec.struct.name].members
        ]
        for name, digest in by_alias(info.digests).items()
    }


SHAPES: dict[str, Callable[[p4i.P4Info], object]] = {
    "keys": _keys,
    "actions and parameters": _actions,
    "meters": lambda info: {name: m.size for name, m in by_alias(info.meters).items()},
    "counters": lambda info: {
        name: (counter.size, counter.spec.unit) for name, counter in by_alias(info.counters).items()
    },
    "direct counters and timeouts": _direct_counters_and_timeouts,
    "digests": _digests,
    "controller packets": lambda info: {
        name: [(m.name, m.bitwidth) for m in header.metadata]
        for name, header in by_alias(info.controller_packet_metadata).items()
    },
    "selectors": lambda info: set(by_alias(info.action_profiles)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_controller_meets_is_the_same(program: str, programs: Programs, shape: str) -> None:
    v1model, tna = map(SHAPES[shape], programs)
    assert v1model == tna
    assert bool(v1model) != ((Path(program).name, shape) == ("p", "digests"))


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
