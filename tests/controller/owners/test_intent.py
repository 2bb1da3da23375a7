"""The difference between the intended entries of a switch and those it holds."""

import finsy as fy
import pytest
from finsy.grpcutil import GRPCStatusCode
from finsy.proto import p4r
from hypothesis import given, settings
from hypothesis import strategies as st

from fcn.contract.exact import Encoded
from fcn.contract.pipeline import load_pipeline
from fcn.controller.owners.intent import (
    MAX_ATTEMPTS,
    TURN,
    Intent,
    Update,
    entity_key,
    entity_value,
)

SCHEMA = load_pipeline("pe").schema
NOT_FOUND = (GRPCStatusCode.NOT_FOUND, "no such entry")
EXISTS = (GRPCStatusCode.ALREADY_EXISTS, "there already")
FULL = (GRPCStatusCode.RESOURCE_EXHAUSTED, "table full")


def entry(number: int, action: str = "local_address") -> fy.P4TableEntry:
    match = fy.P4TableMatch(dst=number)
    return fy.P4TableEntry("endpoint", match=match, action=fy.P4TableAction(action))


def types(updates: list[Update]) -> list[str]:
    return [update.kind for update in updates]


def encoded(message: p4r.Entity) -> Encoded:
    return Encoded(entity_key(message), entity_value(message))


class FakeSwitch:
    """Applies updates as the P4Runtime specification requires."""

    def __init__(self) -> None:
        self.entries: dict[bytes, bytes] = {}

    def write(self, updates: list[Update]) -> dict[int, tuple[GRPCStatusCode, str]]:
        failures: dict[int, tuple[GRPCStatusCode, str]] = {}
        for index, update in enumerate(updates):
            key = entity_key(update.entity)
            if update.type == p4r.Update.INSERT and key in self.entries:
                failures[index] = EXISTS
            elif update.type != p4r.Update.INSERT and key not in self.entries:
                failures[index] = NOT_FOUND
            elif update.type == p4r.Update.DELETE:
                del self.entries[key]
            else:
                self.entries[key] = entity_value(update.entity)
        return failures


def flush(intent: Intent, switch: FakeSwitch, limit: int = 3) -> int:
    written = 0
    while updates := intent.take_updates(limit):
        assert intent.settle(updates, switch.write(updates)) == []
        written += len(updates)
    return written


Steps = st.lists(st.tuples(st.sampled_from(("put", "end", "drop")), st.integers(1, 6)))


@given(before=Steps, drift=Steps, after=Steps, told=st.booleans())
@settings(max_examples=200)
def test_switch_ends_as_intended_whatever_it_held(
    before: list[tuple[str, int]],
    drift: list[tuple[str, int]],
    after: list[tuple[str, int]],
    told: bool,
) -> None:
    """Also when it was changed without a notice to the controller, so that updates fail."""
    intent, switch = Intent(SCHEMA), FakeSwitch()
    wanted: dict[int, str] = {}

    def change(steps: list[tuple[str, int]]) -> None:
        for verb, number in steps:
            if verb == "drop":
                intent.drop(entry(number))
                wanted.pop(number, None)
            else:
                wanted[number] = "end" if verb == "end" else "local_address"
                intent.put(entry(number, wanted[number]))

    change(before)
    flush(intent, switch)
    for verb, number in drift:
        message = entry(number, "end").encode(SCHEMA)
        switch.entries.pop(entity_key(message), None)
        if verb != "drop":
            switch.entries[entity_key(message)] = entity_value(message)
    if told:
        held = [p4r.Entity.FromString(key) for key in switch.entries]
        for entity in held:
            entity.table_entry.action.CopyFrom(
                p4r.Entity.FromString(switch.entries[entity_key(entity)]).table_entry.action
            )
        intent.observe({entity_key(each): entity_value(each) for each in held})
    change(after)
    flush(intent, switch)
    if told:
        expected = [entry(number, action).encode(SCHEMA) for number, action in wanted.items()]
        assert switch.entries == {entity_key(m): entity_value(m) for m in expected}
    assert intent.pending == 0
    assert flush(intent, switch) == 0


@given(before=Steps, drift=Steps, after=Steps, told=st.booleans(), early=st.booleans())
@settings(max_examples=200)
def test_entries_that_others_know_are_kept_until_the_switch_has_them(
    before: list[tuple[str, int]],
    drift: list[tuple[str, int]],
    after: list[tuple[str, int]],
    told: bool,
    early: bool,
) -> None:
    """`early`: what the switch holds is heard before the entries are put anew."""
    intent, switch = Intent(SCHEMA), FakeSwitch()
    known: dict[int, Encoded] = {}

    def of(number: int, verb: str) -> Encoded:
        return encoded(entry(number, "end" if verb == "end" else "local_address").encode(SCHEMA))

    def change(steps: list[tuple[str, int]]) -> None:
        for verb, number in steps:
            old, new = known.pop(number, None), of(number, verb)
            if verb != "drop":
                known[number] = new
                if new != old:
                    intent.put_encoded(new, "red", again=old is not None)
            elif old is not None:
                intent.drop_encoded(old.key, "red")

    change(before)
    flush(intent, switch)
    for verb, number in drift:
        other = of(number, verb)
        switch.entries.pop(other.key, None)
        if verb != "drop":
            switch.entries[other.key] = other.value
    if told:
        intent.observe({})
        for hears in (early, not early):
            for each in map(Encoded._make, switch.entries.items()) if hears else known.values():
                intent.hold(*each) if hears else intent.put_encoded(each, "red")
    change(after)
    flush(intent, switch)
    if told:
        assert switch.entries == dict(known.values())
        assert not intent._encoded
    assert intent.pending == 0


def test_same_entry_again_is_no_change() -> None:
    intent = Intent(SCHEMA)
    intent.put(entry(1))
    intent.settle(intent.take_updates(10), {})
    intent.put(entry(1))
    assert intent.pending == 0
    assert len(intent) == 1


def test_put_and_drop_in_between_cancel_out() -> None:
    intent = Intent(SCHEMA)
    intent.put(entry(1))
    intent.drop(entry(1))
    assert intent.take_updates(10) == []
    assert intent.pending == 0


def test_updates_keep_the_order_in_which_they_arose() -> None:
    intent = Intent(SCHEMA)
    for number in (5, 3, 9):
        intent.put(entry(number))
    numbers = [u.entity.table_entry.match[0].exact.value for u in intent.take_updates(10)]
    assert numbers == [b"\x05", b"\x03", b"\x09"]


def test_tenants_take_turns() -> None:
    """One that changes much does not keep another waiting; each change stays in order."""
    intent = Intent(SCHEMA)

    def put(number: int, share: str) -> None:
        message = entry(number).encode(SCHEMA)
        intent.put_encoded(encoded(message), share)

    for number in range(100):
        put(number, "red")
    for number in range(100, 104):
        put(number, "blue")
    numbers = [
        int.from_bytes(update.entity.table_entry.match[0].exact.value, "big")
        for update in intent.take_updates(2 * TURN)
    ]
    assert numbers == [*range(TURN), *range(100, 104), *range(TURN, 2 * TURN - 4)]


def test_whoever_had_no_turn_is_first_in_the_next_batch() -> None:
    intent, switch = Intent(SCHEMA), FakeSwitch()
    shares = [f"tenant {number}" for number in range(8)]
    for number in range(400):
        message = entry(number).encode(SCHEMA)
        intent.put_encoded(encoded(message), shares[number % len(shares)])
    for batch in range(4):
        updates = intent.take_updates(2 * TURN)
        numbers = {
            int.from_bytes(update.entity.table_entry.match[0].exact.value, "big") % len(shares)
            for update in updates
        }
        assert numbers == {2 * batch, 2 * batch + 1}
        assert intent.settle(updates, switch.write(updates)) == []


def test_a_change_while_its_entry_is_being_written_is_written_too() -> None:
    intent, switch = Intent(SCHEMA), FakeSwitch()
    intent.put(entry(1))
    updates = intent.take_updates(10)
    intent.put(entry(1, "end"))
    assert intent.settle(updates, switch.write(updates)) == []
    assert flush(intent, switch) == 1
    wanted = entry(1, "end").encode(SCHEMA)
    assert switch.entries == {entity_key(wanted): entity_value(wanted)}


def test_updates_are_taken_while_others_are_on_their_way() -> None:
    """None twice; what changes meanwhile comes after them."""
    intent, switch = Intent(SCHEMA), FakeSwitch()
    for number in range(5):
        intent.put(entry(number))
    first = intent.take_updates(2)
    intent.put(entry(0, "end"))
    second = intent.take_updates(9, beside=True)
    assert len(first) == 2
    assert len(second) == 3
    assert intent.settle(first, switch.write(first)) == []
    assert intent.settle(second, {0: FULL} | switch.write(second[1:])) != []
    assert intent.pending == 1
    assert types(intent.take_updates(9)) == ["MODIFY"]


def test_insert_that_meets_an_entry_becomes_a_modification() -> None:
    intent = Intent(SCHEMA)
    intent.put(entry(1))
    assert intent.settle(intent.take_updates(10), {0: EXISTS}) == []
    assert types(intent.take_updates(10)) == ["MODIFY"]


def test_modification_that_meets_nothing_becomes_an_insert() -> None:
    intent = Intent(SCHEMA)
    intent.put(entry(1))
    intent.settle(intent.take_updates(10), {})
    intent.put(entry(1, "end"))
    assert types(intent.take_updates(10)) == ["MODIFY"]
    assert intent.settle(intent.take_updates(10), {0: NOT_FOUND}) == []
    assert types(intent.take_updates(10)) == ["INSERT"]


def test_deletion_that_meets_nothing_is_done() -> None:
    intent = Intent(SCHEMA)
    intent.put(entry(1))
    intent.settle(intent.take_updates(10), {})
    intent.drop(entry(1))
    assert types(intent.take_updates(10)) == ["DELETE"]
    assert intent.settle(intent.take_updates(10), {0: NOT_FOUND}) == []
    assert intent.pending == 0


def test_refused_update_is_returned_and_not_tried_again() -> None:
    intent = Intent(SCHEMA)
    intent.put(entry(1))
    intent.put(entry(2))
    (refusal,) = intent.settle(intent.take_updates(10), {1: FULL})
    assert (refusal.code, refusal.message) == FULL
    assert intent.take_updates(10) == []


def test_refused_update_is_tried_again_on_request_and_returned_once() -> None:
    intent, switch = Intent(SCHEMA), FakeSwitch()
    intent.put(entry(1))
    assert len(intent.settle(intent.take_updates(9), {0: FULL})) == 1
    intent.retry_refused()
    assert intent.settle(intent.take_updates(9), {0: FULL}) == []
    intent.retry_refused()
    assert flush(intent, switch) == 1
    assert len(switch.entries) == 1
    intent.retry_refused()
    assert not intent.pending


def test_refused_update_that_is_not_wanted_any_more_is_not_tried_again() -> None:
    intent = Intent(SCHEMA)
    intent.put(entry(1))
    intent.settle(intent.take_updates(9), {0: FULL})
    intent.drop(entry(1))
    intent.retry_refused()
    assert intent.take_updates(9) == []


def test_switch_that_contradicts_itself_is_not_asked_for_ever() -> None:
    intent = Intent(SCHEMA)
    intent.put(entry(1))
    refused = []
    for attempt in range(2 * MAX_ATTEMPTS):
        if updates := intent.take_updates(10):
            refused += intent.settle(updates, {0: NOT_FOUND if attempt % 2 else EXISTS})
    assert len(refused) == 1


def test_order_of_members_and_parameters_does_not_matter() -> None:
    action = fy.P4IndirectAction(
        action_set=[
            (1, fy.P4TableAction("set_underlay_nexthop", port=port, src_mac=1, dst_mac=2))
            for port in (1, 2)
        ]
    )
    match = fy.P4TableMatch(dst="2001:db8::/32")
    one = fy.P4TableEntry("underlay", match=match, action=action).encode(SCHEMA)
    other = p4r.Entity.FromString(one.SerializeToString())
    members = other.table_entry.action.action_profile_action_set.action_profile_actions
    members.reverse()
    for member in members:
        member.action.params.reverse()
    assert entity_value(one) == entity_value(other)
    assert entity_key(one) == entity_key(other)


def test_foreign_kinds_of_entities_are_refused() -> None:
    with pytest.raises(ValueError, match="register_entry is not an entity"):
        entity_key(p4r.Entity(register_entry=p4r.RegisterEntry(register_id=1)))
