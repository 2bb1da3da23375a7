"""What p4c writes for programs of others: one small program for each construct."""

import json
from pathlib import Path

import pytest
from engine_making import MakeEngine
from engine_scenarios import PROGRAMS

from fcn.softswitch.api import ActionCall, Exact, Ternary
from fcn.softswitch.engine import MemoryEngine, ProgramError, load_program
from fcn.softswitch.engine.bmv2json import limits


def sent(engine: MemoryEngine, packet: bytes) -> bytes:
    """What leaves for one packet that comes in."""
    engine.inject(1, packet)
    (out,) = engine.outputs()
    return out.data


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(0b0_0_00000_0, 0b0_0_00000_0, id="neither"),
        pytest.param(0b1_0_00000_0, 0b1_1_01000_1, id="matched and set, both true in the end"),
        pytest.param(0b1_1_00000_1, 0b1_0_00001_1, id="selected in the parser, negated"),
        pytest.param(0b0_1_00000_1, 0b0_1_00001_1, id="another than the other"),
    ],
)
def test_bool_fields_of_a_header(make_engine: MakeEngine, before: int, after: int) -> None:
    engine = make_engine("bools")
    call = ActionCall("I.set", (1,))
    engine.table_insert("I.flags", [Exact(1), Ternary(0, 1)], 1, call)
    assert sent(engine, bytes([before])) == bytes([after])


def test_headers_of_the_metadata(make_engine: MakeEngine) -> None:
    """They are extracted, copied, invalid where nothing extracted them."""
    engine = make_engine("inmeta")
    frame = bytes.fromhex("0081 1232 aaaa bbbb 07 01") + b"payload"
    out = bytes.fromhex("1232 0091 bbbb aaaa 07 01") + b"payload"
    assert sent(engine, frame) == out
    assert sent(engine, bytes.fromhex("0005 1232 aaaa bbbb")).hex() == "0015bbbbaaaa"
    assert sent(engine, bytes.fromhex("0000")).hex() == "0010"


def test_loops_in_an_action(make_engine: MakeEngine) -> None:
    """0 to 9 without 5, which is passed over, and without those from 9 on, which end the loop."""
    engine = make_engine("loops")
    for count, total in ((0, 0), (4, 6), (7, 16), (9, 31), (200, 31)):
        assert sent(engine, bytes([9, count, 0, 0, 0, 0, 0]))[2] == total


def test_a_loop_that_does_not_end(tmp_path: Path) -> None:
    """The packet is dropped and counted, as one that goes round for ever is."""
    program = json.loads((PROGRAMS / "loops.json").read_text())
    again = next(a for a in program["actions"] if a["name"] == "I.again")
    again["primitives"][-1] = {"op": "_jump", "parameters": [{"type": "hexstr", "value": "0x0"}]}
    path = tmp_path / "endless.json"
    path.write_text(json.dumps(program))
    engine = MemoryEngine(load_program(path))
    engine.inject(1, bytes([9, 1, 0, 0, 0, 0, 0]))
    assert engine.outputs() == []
    assert engine.statistics()["loop_drops"] == 1
    assert engine.balance()["failed_drops"] == 1
    assert sent(engine, bytes(7)) == bytes(7)
    engine.close()


def test_a_stack_of_as_many_headers_as_one_may_have(tmp_path: Path) -> None:
    """Parsed to its end, where one more is an error, pushed by one and popped by four."""
    program = json.loads((PROGRAMS / "stacks.json").read_text())
    (items,) = (each for each in program["header_stacks"] if each["name"] == "items")
    (item,) = (each for each in program["headers"] if each["id"] == items["header_ids"][0])
    for number in range(len(items["header_ids"]), limits.STACK):
        program["headers"].append(item | {"id": 1000 + number, "name": f"items[{number}]"})
        items["header_ids"].append(1000 + number)
    order: list[str] = program["deparsers"][0]["order"]
    order[order.index("others[0]") : order.index("others[0]")] = [
        f"items[{number}]" for number in range(5, limits.STACK)
    ]
    items["size"] = limits.STACK
    path = tmp_path / "deep.json"
    path.write_text(json.dumps(program))
    engine = MemoryEngine(load_program(path))
    headers = [bytes([2 * (n % 8)]) + n.to_bytes(18, "big") for n in range(limits.STACK + 1)]
    last = [b"\x01" + header[1:] for header in headers]

    def after(op: int, *parsed: bytes) -> bytes:
        return sent(engine, bytes([*bytes(14), op << 4, 0, 0]) + b"".join(parsed))

    full = [*headers[:-2], last[-2]]
    assert after(0, *full)[17:] == b"".join(full)
    more = after(0, *headers[:-1], last[-1])
    assert (more[6:8], more[17:]) == (b"\xaa\xaa", b"".join([*headers[:-1], last[-1]]))
    assert after(1, *full)[17:] == b"".join(full[:-1])
    assert after(4, *full)[17:] == b"".join(full[4:])
    engine.close()


def test_the_header_extracted_last_as_a_whole(make_engine: MakeEngine) -> None:
    engine = make_engine("lasts")
    words = bytes.fromhex("0001 0002 8003")
    assert sent(engine, words + b"payload") == words + words[-2:] + b"payload"


def test_a_stack_indexed_at_run_time_as_a_key(make_engine: MakeEngine) -> None:
    engine = make_engine("loops")
    engine.table_insert("I.indexed", [Exact(0x22)], 0, ActionCall("I.mark", (0x99,)))
    engine.table_insert("I.ranked", [Ternary(0x90, 0xF0), Exact(4)], 1, ActionCall("I.mark", (7,)))
    assert sent(engine, bytes([1, 0, 0, 1, 0x22, 3, 4])) == bytes([1, 0, 0, 1, 7, 3, 4])
    assert sent(engine, bytes([2, 0, 0, 1, 0x22, 3, 4])) == bytes([2, 0, 0, 1, 0x22, 3, 4])
    assert sent(engine, bytes([1, 0, 0, 1, 0x22, 3, 5])) == bytes([1, 0, 0, 1, 0x99, 3, 5])
    assert sent(engine, bytes([77, 0, 0, 1, 0x22, 3, 4])) == bytes([77, 0, 0, 1, 0x22, 3, 4])


def test_metadata_that_is_extracted(tmp_path: Path) -> None:
    """Headers may be marked as metadata in the JSON: they are extracted like others."""
    program = json.loads((PROGRAMS / "inmeta.json").read_text())
    kept = next(h for h in program["headers"] if h["name"] == "userMetadata.kept")
    kept["metadata"] = True
    path = tmp_path / "metadata.json"
    path.write_text(json.dumps(program))
    engine = MemoryEngine(load_program(path))
    assert sent(engine, bytes.fromhex("0000 1232 aaaa bbbb")).hex() == "12320010bbbbaaaa"
    engine.close()
    kept["header_type"] = "scalars_0"
    scalars = next(t for t in program["header_types"] if t["name"] == "scalars_0")
    scalars["fields"] = scalars["fields"][:-1]
    path.write_text(json.dumps(program))
    with pytest.raises(ProgramError):
        load_program(path)


def test_a_key_of_type_error(make_engine: MakeEngine) -> None:
    engine = make_engine("errors")
    too_short = 1
    engine.table_insert("I.by_error", [Exact(too_short)], 0, ActionCall("I.mark", (0x77,)))
    assert sent(engine, b"\x01\x02") == b"\x01\x02"
    assert sent(engine, b"\x01") == b"\x77"
