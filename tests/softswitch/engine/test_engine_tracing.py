"""Stories of packets: what traced code tells, and that it does what the other code does."""

import random
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_scenarios import MAC, PROGRAMS, SCENARIOS, Scenario, ethernet
from engine_veth import VethPorts, usable
from engine_warnings import refuse_warnings

from fcn.softswitch.api import ActionCall, EngineError, Exact, PortQueue, Replica
from fcn.softswitch.engine import MemoryEngine, Output, RealEngine, load_program
from fcn.softswitch.engine.build import NATIVE
from fcn.softswitch.engine.codegen.points import Notes
from fcn.softswitch.engine.codegen.unit import generate, generate_with_points
from fcn.softswitch.engine.loader import parse_json
from fcn.softswitch.engine.program import traced
from fcn.softswitch.engine.tracing import Bounds
from fcn.softswitch.stories.filters import FilterError, read_filter
from fcn.softswitch.stories.story import Packet, Step, Story
from fcn.softswitch.stories.teller import Teller

PACKETS = 60
QUICK = ("kitchen", "replicate")
CHOSEN = [
    pytest.param(s, id=s.name, marks=() if s.name in QUICK else pytest.mark.exhaustive)
    for s in SCENARIOS
]


class Told:
    """A test program whose packets are told of."""

    def __init__(self, name: str) -> None:
        self.program = traced(load_program(PROGRAMS / f"{name}.json"))
        self.engine = MemoryEngine(self.program)

    def stories(self, *packets: bytes, port: int = 1, bounds: Bounds | None = None) -> list[Story]:
        self.engine.start_trace([], bounds or Bounds(stories=100))
        for packet in packets:
            self.engine.inject(port, packet)
        self.engine.advance(1_000_000)
        teller = Teller(self.program)
        told = teller.tell(self.engine.trace_records()) + teller.rest("it is inside")
        self.engine.stop_trace()
        return told


@pytest.fixture
def kitchen() -> Iterator[Told]:
    told = Told("kitchen")
    told.engine.table_insert("I.l2", [Exact(MAC), Exact(1)], 0, ActionCall("I.forward", (2, 7)))
    yield told
    told.engine.close()


@pytest.fixture
def replicate() -> Iterator[Told]:
    told = Told("replicate")
    told.engine.clone_session_set(7, [Replica(3, 5)], 0, 0)
    told.engine.multicast_group_set(1, [Replica(1, 1), Replica(2, 1), Replica(3, 2)])
    yield told
    told.engine.close()


def _op(ops: int, group: int = 0) -> bytes:
    return ethernet(0x7778) + struct.pack(">HBBHHHHHB", ops, 0, 0, 0, group, 0, 0, 0, 0)


def _step(packet: Packet, kind: str) -> Step:
    return next(step for step in packet.steps if step.kind == kind)


def _copies(packet: Packet) -> list[Packet]:
    return [step.copy for step in packet.steps if step.copy is not None]


def test_a_hit_is_told_with_key_entry_action_and_what_it_changed(kitchen: Told) -> None:
    (story,) = kitchen.stories(ethernet(0x88B6))
    assert story.complete
    table = _step(story.packet, "table")
    assert (table.what, table.part) == ("I.l2", "ingress")
    assert table.lookup is not None
    assert table.lookup.hit
    assert table.lookup.action == "I.forward"
    assert table.lookup.arguments == {"port": "2", "dst": "00:00:00:00:00:07"}
    assert [(key.name, key.value, key.entry) for key in table.lookup.keys] == [
        ("h.eth.dst", "11:22:33:44:55:66", "11:22:33:44:55:66"),
        ("sm.ingress_port", "1", "1"),
    ]
    changes = {change.field: (change.before, change.after) for change in table.changes}
    assert changes["standard_metadata.egress_spec"] == ("0", "2")
    assert changes["eth.dst"] == ("11:22:33:44:55:66", "00:00:00:00:00:07")
    (output,) = kitchen.engine.outputs()
    assert _step(story.packet, "sent").frame == output.data.hex()


def test_a_miss_is_told_without_an_entry(kitchen: Told) -> None:
    (story,) = kitchen.stories(ethernet(0x88B6), port=2)
    lookup = _step(story.packet, "table").lookup
    assert lookup is not None
    assert (lookup.hit, lookup.action) == (False, "I.drop")
    assert [key.entry for key in lookup.keys] == ["", ""]


def test_parser_states_have_where_they_go_and_what_they_extract(kitchen: Told) -> None:
    (story,) = kitchen.stories(ethernet(0x0800))
    states = [step for step in story.packet.steps if step.kind == "parser"]
    assert states[0].what == "start"
    assert states[0].changes[0].field == "eth"
    assert "parser error PacketTooShort" in [step.what for step in story.packet.steps]


def test_a_drop_says_who_has_set_the_port(replicate: Told) -> None:
    (story,) = replicate.stories(_op(32))
    end = _step(story.packet, "end")
    assert (end.what, story.complete) == ("dropped", True)
    assert "mark_to_drop" in end.result


def test_copies_are_branches(replicate: Told) -> None:
    (story,) = replicate.stories(_op(1 | 8, group=1))
    clone, *replicas = _copies(story.packet)
    assert clone.how == "clone of ingress to session 7"
    (copy,) = _copies(clone)
    assert _step(copy, "sent").what == "port 3"
    assert [_step(each, "sent").what for each in replicas] == ["port 1", "port 2", "port 3"]
    assert story.complete


def test_what_comes_round_is_the_same_story(replicate: Told) -> None:
    (story,) = replicate.stories(_op(4))
    (again,) = _copies(story.packet)
    assert again.how.startswith("resubmitted")
    assert _step(again, "parser").what == "start"
    (story,) = replicate.stories(_op(4096))
    (again,) = _copies(story.packet)
    assert again.how.startswith("recirculated")


def test_a_session_that_is_not_there_is_told(replicate: Told) -> None:
    (story,) = replicate.stories(_op(2))
    assert "no clone: there is no session 8" in [step.what for step in story.packet.steps]


def test_what_is_still_inside_is_not_complete(replicate: Told) -> None:
    replicate.engine.port_queue_set(2, PortQueue(rate_pps=1))
    first, second = replicate.stories(_op(0), _op(0))
    assert (first.complete, second.complete) == (False, False)
    assert second.missing == "it is inside"
    assert second.packet.steps[-1].what == "port 2"
    # It leaves when nobody listens, and later when somebody does: it is not told of then.
    assert replicate.stories() == []
    replicate.engine.advance(3_000_000_000)
    assert len(replicate.engine.outputs()) == 2


def test_the_number_of_stories_is_bounded(kitchen: Told) -> None:
    packets = [ethernet(0x88B6)] * 5
    assert len(kitchen.stories(*packets, bounds=Bounds(stories=3))) == 3


def test_a_long_story_is_cut_and_says_so(replicate: Told) -> None:
    (story, *_) = replicate.stories(_op(4096), bounds=Bounds(stories=1, story_octets=2_000))
    assert not story.complete
    assert "too long" in story.missing


def test_records_without_room_are_counted(kitchen: Told) -> None:
    kitchen.engine.start_trace([], Bounds(stories=100, octets=3_000))
    for _ in range(20):
        kitchen.engine.inject(1, ethernet(0x88B6))
    kitchen.engine.advance(1_000_000)
    state = kitchen.engine.trace_state()
    assert state["size"] <= 3_000
    assert state["lost"] > 0
    assert len(kitchen.engine.outputs()) == 20
    teller = Teller(kitchen.program)
    assert teller.tell(kitchen.engine.trace_records()) + teller.rest("")
    kitchen.engine.stop_trace()


def test_one_trace_at_a_time(kitchen: Told) -> None:
    kitchen.engine.start_trace([], Bounds())
    with pytest.raises(EngineError, match="exists already"):
        kitchen.engine.start_trace([], Bounds())
    kitchen.engine.stop_trace()


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [
        (["dst=11:22:33:44:55:66"], [1, 2]),
        (["eth.type=0x88b6"], [1]),
        (["eth.type=0x88b0/0xfff0"], [1, 2]),
        (["dst=11:22:33:44:55:66", "eth.type=0x88b5"], [2]),
        (["dst=11:22:33:44:55:67"], []),
        (["ip.ttl=0"], []),
    ],
)
def test_only_what_the_filter_wants_is_told(
    kitchen: Told, texts: list[str], wanted: list[int]
) -> None:
    kitchen.engine.start_trace(read_filter(kitchen.program, 1, texts), Bounds(stories=9))
    types = {1: 0x88B6, 2: 0x88B5}
    for kind in types.values():
        kitchen.engine.inject(1, ethernet(kind))
        kitchen.engine.inject(2, ethernet(kind))
    kitchen.engine.advance(1)
    told = Teller(kitchen.program).tell(kitchen.engine.trace_records())
    state = kitchen.engine.trace_state()
    kitchen.engine.stop_trace()
    assert [story.packet.frame for story in told] == [ethernet(types[n]).hex() for n in wanted]
    assert state["passed"] == 4 - len(wanted)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("dst", "is not FIELD=VALUE"),
        ("eth.colour=1", "no field eth.colour"),
        ("eth.type=many", "neither a number nor an address"),
        ("eth.type=0x12345", "fits none of eth.type"),
        ("dst=2001:db8::1", "fits none"),
    ],
)
def test_filters_that_cannot_be_are_refused(kitchen: Told, text: str, why: str) -> None:
    with pytest.raises(FilterError, match=why):
        read_filter(kitchen.program, None, [text])


def _outputs(scenario: Scenario, *, swaps: bool, tells: bool) -> list[Output]:
    """What leaves an engine. swaps: its code is another one from time to time."""
    plain = load_program(PROGRAMS / f"{scenario.name}.json")
    both = (plain, traced(plain))
    engine = MemoryEngine(plain)
    try:
        scenario.setup(engine)
        engine.seed(1)
        rng = random.Random(7)
        if tells:
            engine.use(both[1])
            engine.start_trace([], Bounds(stories=4096, octets=1 << 16))
        for number in range(PACKETS):
            if swaps and number % 10 == 5:
                engine.use(both[number // 10 % 2])
            engine.inject(port := rng.choice(scenario.ports), scenario.packet(rng, port))
            engine.advance(1_000)
        if tells:
            engine.stop_trace()
        return engine.outputs()
    finally:
        engine.close()


@pytest.mark.parametrize("scenario", CHOSEN)
def test_packets_leave_as_from_the_other_code(scenario: Scenario) -> None:
    expected = _outputs(scenario, swaps=False, tells=False)
    assert expected
    assert _outputs(scenario, swaps=False, tells=True) == expected
    assert _outputs(scenario, swaps=True, tells=False) == expected


def test_the_code_that_tells_has_no_warnings(tmp_path: Path) -> None:
    code, _ = generate_with_points(
        parse_json((PROGRAMS / "kitchen.json").read_bytes()), Notes.STORIES
    )
    refuse_warnings(code, tmp_path)


def test_the_other_code_has_nothing_of_it(tmp_path: Path) -> None:
    unit = tmp_path / "unit.c"
    code = generate(parse_json((PROGRAMS / "kitchen.json").read_bytes()))
    sources = ("sw_trace.c", "sw_pkt.c", "sw_pass.c", "sw_tm.c", "sw_engine.c")
    unit.write_text(code + "".join(f'\n#include "{name}"' for name in sources))
    seen = subprocess.run(
        ["cc", "-E", "-P", "-D_GNU_SOURCE", f"-I{NATIVE}", str(unit)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    functions = [f"sw_trace_{name}" for name in ("pass", "parsed", "end", "point", "flush", "sent")]
    assert not [name for name in functions if name in seen]
    assert "e->trace" not in seen


def test_packets_that_wait_when_the_code_changes_leave_as_without() -> None:
    plain = load_program(PROGRAMS / "kitchen.json")
    left = []
    for other in (plain, traced(plain)):
        engine = MemoryEngine(plain)
        to = ActionCall("I.forward", (2, 7))
        engine.table_insert("I.l2", [Exact(MAC), Exact(1)], 0, to)
        engine.port_queue_set(2, PortQueue(rate_pps=1000, depth=PACKETS))
        for each in (other, plain):
            for number in range(PACKETS // 2):
                engine.inject(1, ethernet(0x88B6) + number.to_bytes(2) * 30)
            engine.use(each)
            if each is not plain:
                engine.start_trace([], Bounds(stories=PACKETS))
            engine.advance(10_000_000)
        engine.advance(PACKETS * 1_000_000)
        left.append(engine.outputs())
        engine.close()
    assert len(left[0]) == PACKETS
    assert left[1] == left[0]


@pytest.mark.skipif(usable() is not None, reason=str(usable()))
def test_a_switch_that_forwards_goes_on_meanwhile() -> None:
    plain = load_program(PROGRAMS / "kitchen.json")
    telling = traced(plain)
    frame = ethernet(0x88B6) + bytes(46)
    with VethPorts("tr", [1, 2]) as veth:
        engine = RealEngine(plain, {port: veth.switch(port) for port in (1, 2)})
        try:
            engine.table_insert("I.l2", [Exact(MAC), Exact(1)], 0, ActionCall("I.forward", (2, 7)))
            engine.start()
            sent = 0
            for program in (plain, telling, plain, telling):
                engine.use(program)
                if program is telling:
                    engine.start_trace([], Bounds(stories=2))
                for _ in range(10):
                    veth.send(1, frame)
                sent += 10
                got = veth.receive({2: 10}, 60)
                assert len(got[2]) == 10
                if program is telling:
                    stories = Teller(telling).tell(engine.trace_records())
                    assert [_step(s.packet, "sent").what for s in stories] == ["port 2"] * 2
                    engine.stop_trace()
            assert engine.balance()["received"] == sent
        finally:
            engine.close()
