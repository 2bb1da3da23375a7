"""Entries that are encoded quickly are those finsy encodes, on every target."""

from ipaddress import IPv4Address, IPv6Address

import pytest
from finsy import P4TableAction, P4TableEntry, P4TableMatch
from finsy.proto import p4r
from hypothesis import given
from hypothesis import strategies as st

from fcn.contract.constants import compiled_programs
from fcn.contract.exact import WIDEST, Call, Encoded, ExactTable, Read
from fcn.contract.names import FLOW_TABLES, LABEL_TABLES
from fcn.contract.pipeline import load_pipeline
from fcn.controller.owners.intent import entity_key, entity_value

SCHEMAS = {
    "v1model": load_pipeline("pe").schema,
    "tna": load_pipeline("pe", compiled_programs() / "tna", binary=False).schema,
}
ADDRESSES = {4: st.ip_addresses(v=4), 6: st.ip_addresses(v=6)}


def expected(target: str, entry: P4TableEntry) -> Encoded:
    message = entry.encode(SCHEMAS[target])
    encoded = Encoded(entity_key(message), entity_value(message))
    assert p4r.Entity.FromString(encoded.key + encoded.value) == message
    return encoded


def held(encoded: Encoded) -> bytes:
    entity = p4r.Entity.FromString(encoded.key + encoded.value)
    octets: bytes = entity.table_entry.SerializeToString()
    return octets


def decode(exact: ExactTable, octets: bytes) -> Read | None:
    """As a part of something longer."""
    return exact.decode(bytearray(b"\x12" + octets + b"\x5a"), 1, len(octets) + 1)


def test_entries_in_another_form_are_left_to_protobuf() -> None:
    """As `entry` would not write them: a priority, a value with a zero before it, another table,
    half an entry."""
    exact = ExactTable.of(SCHEMAS["v1model"], FLOW_TABLES[4])
    found = exact.entry((1, 2, 3, 4), "set_flow_label_ipv4", (5,), idle_timeout_ns=1_000_000)
    entry = p4r.TableEntry.FromString(held(found))
    expected = [1, 2, 3, 4], "set_flow_label_ipv4", [5], 1_000_000, b""
    assert decode(exact, entry.SerializeToString()) == expected
    for field, value in (("priority", 1), ("is_const", True), ("table_id", 1)):
        other = p4r.TableEntry()
        other.CopyFrom(entry)
        setattr(other, field, value)
        assert decode(exact, other.SerializeToString()) is None
    entry.match[1].exact.value = b"\0\x02"
    assert decode(exact, entry.SerializeToString()) is None
    assert exact.read(entry) == expected
    for end in range(len(held(found))):
        decoded = decode(exact, held(found)[:end])
        assert decoded is None or decoded[:3] == expected[:3]


@pytest.mark.parametrize("bits", [1, 7, 8, 9, 20, 128, WIDEST])
def test_values_of_every_width(bits: int) -> None:
    """Those that are wider are left to protobuf."""
    exact = ExactTable(5, [(1, bits), (200, 3)], [Call(7, "go", [(1, bits)])])
    for value in (0, 1, (1 << bits) - 1, 1 << bits - 1, 1 << bits):
        said = p4r.TableEntry(table_id=5)
        for number, part in ((1, value), (200, 5)):
            octets = part.to_bytes((part.bit_length() + 7) // 8 or 1)
            said.match.add(field_id=number).exact.value = octets
        call = said.action.action
        call.action_id = 7
        call.params.add(param_id=1).value = said.match[0].exact.value
        read = Read([value, 5], "go", [value], 0, b"") if value >> bits == 0 else None
        assert decode(exact, said.SerializeToString()) == read


@pytest.mark.parametrize("metadata", [b"", b"agent"])
@pytest.mark.parametrize("hidden", [b"\x48\x05", b"\x5a\x01x", b"\x68\x01"])
@pytest.mark.parametrize("place", range(3))
def test_what_is_hidden_in_an_entry_is_left_to_protobuf(
    metadata: bytes, hidden: bytes, place: int
) -> None:
    """Fields that parts of it do not have, and that would be of the entry in its end."""
    exact = ExactTable.of(SCHEMAS["v1model"], LABEL_TABLES[4])
    octets = held(exact.entry((1,), "cnp_ipv4", (1, 2, 3, 4, 5), metadata=metadata))
    entry = p4r.TableEntry.FromString(octets)
    assert decode(exact, octets) is not None
    part = (entry.action, entry.action.action, entry.match[0])[place]
    part.MergeFromString(hidden)
    assert decode(exact, entry.SerializeToString()) is None


@pytest.mark.parametrize("target", SCHEMAS)
@pytest.mark.parametrize("version", [4, 6])
@given(data=st.data())
def test_flows(target: str, version: int, data: st.DataObject) -> None:
    src: IPv4Address | IPv6Address = data.draw(ADDRESSES[version])
    dst: IPv4Address | IPv6Address = data.draw(ADDRESSES[version])
    vrf, qp = data.draw(st.integers(0, 0xFFFF)), data.draw(st.integers(0, 0xFFFFFF))
    label = data.draw(st.integers(0, 0xFFFFF))
    timeout = data.draw(st.sampled_from((0, 1_500_000, 60_000_000_000)))
    kept = -(-timeout // 1_000_000) * 1_000_000
    table, action = FLOW_TABLES[version], f"set_flow_label_ipv{version}"
    entry = P4TableEntry(
        table,
        match=P4TableMatch(vrf=vrf, src=src, dst=dst, dest_qp=qp),
        action=P4TableAction(action, flow_label=label),
        idle_timeout_ns=kept,
    )
    exact = ExactTable.of(SCHEMAS[target], table)
    match = (vrf, int(src), int(dst), qp)
    found = exact.entry(match, action, (label,), idle_timeout_ns=timeout)
    assert found == expected(target, entry)
    assert exact.key(match) == expected(target, entry).key
    assert decode(exact, held(found)) == (list(match), action, [label], kept, b"")


@pytest.mark.parametrize("target", SCHEMAS)
@pytest.mark.parametrize("version", [4, 6])
@given(data=st.data())
def test_senders(target: str, version: int, data: st.DataObject) -> None:
    src: IPv4Address | IPv6Address = data.draw(ADDRESSES[version])
    dst: IPv4Address | IPv6Address = data.draw(ADDRESSES[version])
    label = data.draw(st.integers(0, 0xFFFFF))
    vrf, qp = data.draw(st.integers(0, 0xFFFF)), data.draw(st.integers(0, 0xFFFFFF))
    table, action = LABEL_TABLES[version], f"cnp_ipv{version}"
    entry = P4TableEntry(
        table,
        match=P4TableMatch(flow_label=label),
        action=P4TableAction(action, vrf=vrf, src=src, dst=dst, dest_qp=qp, p_key=0xFFFF),
        metadata=b"cm initiator 1 2",
    )
    exact = ExactTable.of(SCHEMAS[target], table)
    arguments = (vrf, int(src), int(dst), qp, 0xFFFF)
    found = exact.entry((label,), action, arguments, metadata=b"cm initiator 1 2")
    assert found == expected(target, entry)
    read = [label], action, list(arguments), 0, b"cm initiator 1 2"
    assert decode(exact, held(found)) == read


def test_values_that_are_missing_or_too_many_are_refused() -> None:
    exact = ExactTable.of(SCHEMAS["v1model"], LABEL_TABLES[4])
    with pytest.raises(ValueError, match="argument 2 is"):
        exact.entry((1,), "cnp_ipv4", (1, 2))
    with pytest.raises(ValueError, match="argument 2 is"):
        exact.key((1, 2))
