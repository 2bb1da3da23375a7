"""Programs that would never end: refused, or every packet comes to an end.

They run in a process of their own first (engine_asan.py), which is killed when it does not end.
"""

import copy
import json
import random
from typing import Any

import pytest
from engine_asan import Asan
from engine_mutations import Json, outcome, programs
from engine_scenarios import PROGRAMS

from fcn.softswitch.api import Replica
from fcn.softswitch.engine import MemoryEngine, ProgramError, make_program
from fcn.softswitch.engine.codegen.unit import generate
from fcn.softswitch.engine.loader import build_model

REPLICATE = programs(PROGRAMS / "replicate.json")[0]
ONE = {"type": "hexstr", "value": "0x01"}
ALWAYS = {"type": "expression", "value": {"op": "==", "left": ONE, "right": ONE}}
FRAME = bytes(12) + b"\x77\x78" + bytes(60)
"""With the EtherType of the replicate program's header."""


@pytest.fixture(scope="module")
def asan(tmp_path_factory: pytest.TempPathFactory) -> Asan:
    return Asan(tmp_path_factory.mktemp("asan"))


def _run(root: Json, name: str, asan: Asan, *frames: bytes) -> MemoryEngine:
    found = outcome(root)
    assert found.model is not None, found.kind
    asan.run(name, found.model, found.code, random.Random(1), *frames)
    return MemoryEngine(make_program(json.dumps(root).encode()))


def _always(root: Json, *words: str) -> Json:
    """The program with the one condition that has all these words true."""
    out = copy.deepcopy(root)
    found = [
        c
        for p in out["pipelines"]
        for c in p["conditionals"]
        if all(word in json.dumps(c["expression"]) for word in words)
    ]
    assert len(found) == 1
    found[0]["expression"] = ALWAYS
    return out


@pytest.mark.parametrize(
    ("words", "sent"),
    [((".passes",), 1), (('"pass"', "0x1000"), 1), (("instance_type", "0x0800"), 257)],
    ids=["resubmit", "recirculate", "clone"],
)
def test_copies_of_copies_end(asan: Asan, words: tuple[str, ...], sent: int) -> None:
    """Of one frame, and the switch then forwards the next."""
    engine = _run(_always(REPLICATE, *words), "replicate", asan, FRAME)
    try:
        engine.clone_session_set(7, [Replica(3, 5)], 0, 0)
        engine.inject(1, FRAME)
        engine.advance(1_000_000)
        assert engine.statistics()["loop_drops"] == 1
        assert len(list(engine.outputs())) <= sent
        engine.inject(1, bytes(12) + b"\x08\x00" + bytes(60))
        engine.advance(1_000_000)
        assert [o.port for o in engine.outputs()] == [2]
    finally:
        engine.close()


def test_a_parser_that_goes_back_for_ever_times_out(asan: Asan) -> None:
    """parser_error is ParserTimeout (P4_16, core.p4), and the frame goes on unparsed."""
    root = copy.deepcopy(REPLICATE)
    parser = root["parsers"][0]
    start = next(s for s in parser["parse_states"] if s["name"] == parser["init_state"])
    for transition in start["transitions"]:
        transition["next_state"] = start["name"]
    start["parser_ops"] = []
    engine = _run(root, "replicate", asan, FRAME)
    try:
        engine.inject(1, FRAME)
        engine.advance(1_000_000)
        assert [(o.port, o.data) for o in engine.outputs()] == [(2, FRAME)]
    finally:
        engine.close()


def _refusal(root: Json) -> str:
    with pytest.raises(ProgramError) as refused:
        generate(build_model(root))
    return str(refused.value)


@pytest.mark.parametrize("key", ["true_next", "false_next"])
def test_control_flow_with_a_cycle_is_refused(key: str) -> None:
    root = copy.deepcopy(REPLICATE)
    conditional = root["pipelines"][0]["conditionals"][0]
    conditional[key] = conditional["name"]
    assert _refusal(root) == f"pipelines[0]: {conditional['name']} comes after itself"


def test_a_jump_out_of_an_action_is_refused() -> None:
    root = copy.deepcopy(REPLICATE)
    action: dict[str, Any] = root["actions"][0]
    action["primitives"] = [{"op": "_jump", "parameters": [{"type": "hexstr", "value": "0x2"}]}]
    assert _refusal(root) == f"jump to an unknown primitive in {action['name']}"


def test_wide_fields_beside_unaligned_ones_are_hashed(asan: Asan) -> None:
    """Found by mutation: a local array had the name of the buffer."""
    root = programs(PROGRAMS / "hashes.json")[0]
    fields = root["header_types"][0]["fields"]
    fields[21][1] = 2047
    _run(root, "hashes", asan).close()
