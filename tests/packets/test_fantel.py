"""packets/fantel.py: what is written is read, and nothing else is (FAN-1 to FAN-3, FAN-8)."""

from ipaddress import IPv4Address, IPv6Address
from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import ICMPv6Unknown, IPv6
from scapy.packet import Packet, Raw

from fcn.packets.fantel import (
    FANTEL_HOP_LIMIT,
    FANTEL_PORT,
    Event,
    Fantel,
    FantelError,
    FantelIcmpv6,
    Parameter,
    read_fantel,
)
from fcn.packets.fantel_tlvs import (
    BufferStatus,
    Cause,
    DeviceLoad,
    FailureCause,
    FiveTuple,
    LinkUtilization,
    Origin,
    PathId,
    Tlv,
    later,
)

P, PE = "2001:db8::2", "2001:db8::1"
FORMS = [Fantel, FantelIcmpv6]
MESSAGE_AT = {Fantel: 48, FantelIcmpv6: 40}
"""Where the draft's message begins in a packet."""
UNCOVERED = {0, 1, 2, 3, 7}
"""Octets of the IPv6 header that no checksum covers: traffic class, flow label, hop limit."""

ORIGIN = Origin(node=2, link=3, epoch=1000, sequence=7)
INNER = FiveTuple(
    ip_version=4, label=7, protocol=17, src4="10.0.0.1", dst4="10.1.0.1", sport=9, dport=4791
)
OUTER = FiveTuple(label=0x8CAFE, protocol=41, src6="fc00::1", dst6="fc00::2")
ALL = [
    ORIGIN,
    PathId(path_id=5),
    OUTER,
    FailureCause(cause=Cause.LINK_DOWN),
    BufferStatus(queue=1, level=7, depth=48),
    LinkUtilization(permille=1000),
    DeviceLoad(permille=250),
]

WORDS = st.integers(0, 2**32 - 1)
SHORTS = st.integers(0, 2**16 - 1)
OCTETS = st.integers(0, 255)
PERMILLES = st.integers(0, 1000)
IPV6 = st.builds(lambda number: str(IPv6Address(number)), st.integers(0, 2**128 - 1))
IPV4 = st.builds(lambda number: str(IPv4Address(number)), WORDS)
TUPLE = {"label": st.integers(0, 2**20 - 1), "protocol": OCTETS, "sport": SHORTS, "dport": SHORTS}
ORIGINS = st.builds(Origin, node=WORDS, link=WORDS, epoch=WORDS, sequence=WORDS)
OTHERS: list[st.SearchStrategy[Tlv]] = [
    st.builds(PathId, path_id=WORDS),
    st.builds(FiveTuple, ip_version=st.just(4), src4=IPV4, dst4=IPV4, **TUPLE)
    | st.builds(FiveTuple, ip_version=st.just(6), src6=IPV6, dst6=IPV6, **TUPLE),
    st.builds(FailureCause, cause=OCTETS, reserved=st.integers(0, 2**24 - 1)),
    st.builds(BufferStatus, queue=OCTETS, level=st.integers(0, 7), reserved=SHORTS, depth=WORDS),
    st.builds(LinkUtilization, permille=PERMILLES, reserved=SHORTS),
    st.builds(DeviceLoad, permille=PERMILLES, reserved=SHORTS),
]


# How long an example takes is the machine's affair.
ANY_SPEED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@st.composite
def messages(draw: st.DrawFn) -> Packet:
    """Any sound notification."""
    tlvs = [draw(ORIGINS), *(draw(other) for other in OTHERS if draw(st.booleans()))]
    form = draw(st.sampled_from(FORMS))
    return form(event=draw(st.sampled_from(Event)), reserved=draw(OCTETS), parameters=tlvs)


def packet(message: Packet) -> bytes:
    """The message in an IPv6 packet with right lengths and checksum."""
    header = IPv6(src=P, dst=PE, hlim=FANTEL_HOP_LIMIT)
    if isinstance(message, Fantel):
        header /= UDP(sport=49152, dport=FANTEL_PORT)
    return bytes(header / message)


def sealed(message: bytes, form: type[Packet]) -> bytes:
    """The octets as a message of the form, in an IPv6 packet with right lengths and checksum."""
    header = IPv6(src=P, dst=PE, hlim=FANTEL_HOP_LIMIT, nh=17 if form is Fantel else 58)
    if form is Fantel:
        return bytes(header / UDP(sport=49152, dport=FANTEL_PORT) / Raw(message))
    if len(message) < 4:
        return bytes(header / Raw(message))
    return bytes(header / ICMPv6Unknown(type=message[0], code=message[1], msgbody=message[4:]))


def replaced(octets: bytes, at: int, new: bytes) -> bytes:
    return octets[:at] + new + octets[at + len(new) :]


def refused(octets: bytes, reason: str | None = None) -> None:
    with pytest.raises(FantelError, match=reason):
        read_fantel(octets)


@ANY_SPEED
@given(messages())
def test_what_is_written_is_read(message: Packet) -> None:
    octets = packet(message)
    read = read_fantel(octets)
    assert type(read) is type(message)
    assert bytes(read) == octets[MESSAGE_AT[type(message)] :]
    assert (read.event, read.reserved) == (message.event, message.reserved)
    assert len(read.parameters) == len(message.parameters)
    for there, here in zip(read.parameters, message.parameters, strict=True):
        assert type(there) is type(here)
        for name in here.fields:
            assert there.getfieldval(name) == here.getfieldval(name), name


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("event", Event)
def test_every_type_has_every_combination_of_parameters(form: type[Packet], event: Event) -> None:
    for chosen in product((False, True), repeat=len(ALL) - 1):
        tlvs = [ORIGIN, *(tlv for tlv, there in zip(ALL[1:], chosen, strict=True) if there)]
        read = read_fantel(packet(form(event=event, parameters=tlvs)))
        assert read.event == event
        assert Parameter(read.code) == sum(1 << tlv.tlv_type - 1 for tlv in tlvs)
        assert [type(tlv) for tlv in read.parameters] == [type(tlv) for tlv in tlvs]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("tuple_", [INNER, OUTER])
def test_every_other_length_is_refused(form: type[Packet], tuple_: FiveTuple) -> None:
    tlvs = [tuple_ if isinstance(tlv, FiveTuple) else tlv for tlv in ALL]
    octets = packet(form(parameters=tlvs))
    read_fantel(octets)
    message = octets[MESSAGE_AT[form] :]
    for length in range(len(octets)):
        refused(octets[:length])
    for length in range(len(message)):
        refused(sealed(message[:length], form))
    for more in range(1, 65):
        refused(octets + bytes(more), "payload")
        refused(sealed(message + bytes(more), form), "follow the parameters")


@pytest.mark.parametrize("form", FORMS)
def test_a_changed_octet_is_seen_by_the_checksum(form: type[Packet]) -> None:
    octets = packet(form(parameters=ALL))
    for at, mask in product(range(len(octets)), (0x01, 0x10, 0x80, 0xFF)):
        try:
            read_fantel(replaced(octets, at, bytes([octets[at] ^ mask])))
        except FantelError:
            continue
        assert at in UNCOVERED


@pytest.mark.parametrize("form", FORMS)
def test_a_changed_octet_under_a_right_checksum_is_read_as_it_is_or_refused(
    form: type[Packet],
) -> None:
    message = packet(form(parameters=ALL))[MESSAGE_AT[form] :]
    for at, mask in product(range(len(message)), (0x01, 0x80, 0xFF)):
        changed = sealed(replaced(message, at, bytes([message[at] ^ mask])), form)
        try:
            read = read_fantel(changed)
        except FantelError:
            continue
        assert bytes(read) == changed[MESSAGE_AT[form] :]


@ANY_SPEED
@given(st.binary(max_size=120), st.sampled_from(FORMS), st.booleans())
def test_other_octets_are_read_as_they_are_or_refused(
    octets: bytes, form: type[Packet], headed: bool
) -> None:
    header = bytes(form(code=1))[: 4 if form is Fantel else 8]
    for candidate in (octets, sealed(header + octets if headed else octets, form)):
        try:
            read = read_fantel(candidate)
        except FantelError:
            continue
        assert bytes(read) == candidate[MESSAGE_AT[form] :]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("number", range(len(ALL)))
@pytest.mark.parametrize("length", [0, 1, 3, 5, 12, 15, 17, 44, 108, 0xFFFF])
def test_a_tlv_whose_length_lies_is_refused(form: type[Packet], number: int, length: int) -> None:
    tlvs = [tlv.copy() for tlv in ALL]
    tlvs[number].tlv_length = length
    octets = packet(form(parameters=tlvs))
    refused(octets, "octets are no|octets has")


@pytest.mark.parametrize("form", FORMS)
def test_lies_that_add_up_are_refused(form: type[Packet]) -> None:
    tlvs = [ORIGIN, PathId(tlv_length=12), LinkUtilization(), DeviceLoad()]
    refused(packet(form(parameters=tlvs)), "12 octets are no PATH")
    across = [ORIGIN, FiveTuple(ip_version=4, tlv_length=24), LinkUtilization()]
    refused(packet(form(parameters=across)), "24 octets are no FIVE_TUPLE")
    # An IPv6 five-tuple as long as an IPv4 one, and the other way round
    for version, length in ((6, 16), (4, 40)):
        value = bytes([version << 4]).ljust(length, b"\0")
        lie = bytes([3, 0, 0, length]) + value
        refused(packet(form(code=5, parameters=[ORIGIN, Raw(lie)])), "are no FIVE_TUPLE")


@pytest.mark.parametrize("form", [Fantel, FantelIcmpv6])
def test_a_message_without_parameters_is_dissected(form: type[Packet]) -> None:
    assert form(bytes(form(code=0))).parameters == []


@pytest.mark.parametrize("form", FORMS)
def test_parameters_are_those_of_code_in_their_order(form: type[Packet]) -> None:
    refused(packet(form(code=0x80 | 1, parameters=[ORIGIN])), "unknown bits")
    refused(packet(form(code=3, parameters=[ORIGIN])), "ends before PATH")
    refused(packet(form(code=1, parameters=[ORIGIN, PathId()])), "8 octets follow")
    refused(packet(form(parameters=[PathId()])), "where it is from")
    refused(packet(form(parameters=[])), "where it is from")
    refused(packet(form(parameters=[PathId(), ORIGIN])), "type 2 stands where Code says ORIGIN")
    refused(packet(form(code=3, parameters=[ORIGIN, ORIGIN])), "type 1 stands where")
    refused(packet(form(code=3, parameters=[ORIGIN, DeviceLoad()])), "type 7 stands where")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("tlv", "reason"),
    [
        (PathId(tlv_version=1), "version 1 of PATH"),
        (FiveTuple(ip_version=5), "IP version 5"),
        (BufferStatus(level=8), "level 8"),
        (LinkUtilization(permille=1001), "1001 permille"),
        (DeviceLoad(permille=0xFFFF), "65535 permille"),
    ],
)
def test_values_out_of_range_are_refused(form: type[Packet], tlv: Tlv, reason: str) -> None:
    refused(packet(form(parameters=[ORIGIN, tlv])), reason)


@pytest.mark.parametrize("form", FORMS)
def test_unknown_versions_and_types_are_refused(form: type[Packet]) -> None:
    for version in (1, 0x10, 255):
        refused(packet(form(version=version, parameters=[ORIGIN])), f"version {version} ")
    for event in (0, 6, 255):
        refused(packet(form(event=event, parameters=[ORIGIN])), f"type {event}")


def test_other_packets_are_refused() -> None:
    udp, icmpv6 = (packet(form(parameters=[ORIGIN])) for form in FORMS)
    refused(replaced(udp, 46, b"\0\0"), "no checksum")
    refused(replaced(udp, 44, b"\0\x21"), "UDP length")
    refused(replaced(udp, 6, b"\x2b"), "next header 43")
    refused(replaced(icmpv6, 40, b"\x02"), "ICMPv6 type 2 ")
    refused(bytes(IP() / UDP(dport=FANTEL_PORT) / Fantel(parameters=[ORIGIN])), "IPv6 header")
    with pytest.raises(FantelError, match="UDP port 61021 is not 9"):
        read_fantel(udp, port=9)
    other = IPv6(src=P, dst=PE) / UDP(dport=9) / Fantel(parameters=[ORIGIN])
    assert read_fantel(bytes(other), port=9).code == Parameter.ORIGIN


def test_the_layout_octet_by_octet() -> None:
    origin = "0100001000000002000000030000" + "03e800000007"
    failure = Fantel(
        event=Event.FAILURE,
        parameters=[ORIGIN, PathId(path_id=5), INNER, FailureCause(cause=Cause.NEIGHBOR_SILENT)],
    )
    inner = "0300001040000711" + "0a0000010a010001" + "000912b7"
    assert packet(failure)[40:].hex() == (
        "c000ee5d0044689c00010f00" + origin + "0200000400000005" + inner + "0400000402000000"
    )
    congestion = FantelIcmpv6(
        event=Event.CONGESTION, parameters=[ORIGIN, OUTER, BufferStatus(queue=1, level=5, depth=40)]
    )
    addresses = "fc00" + "0" * 27 + "1" + "fc00" + "0" * 27 + "2"
    outer = "0300002868cafe29" + addresses + "00000000"
    assert packet(congestion)[40:].hex() == (
        "c8156b8c" + "03000000" + origin + outer + "0500000801050000" + "00000028"
    )
    load = Fantel(
        event=Event.LOAD,
        parameters=[ORIGIN, LinkUtilization(permille=900), DeviceLoad(permille=250)],
    )
    assert bytes(load).hex() == ("00056100" + origin + "0600000403840000" + "0700000400fa0000")


def test_they_are_found_behind_their_headers() -> None:
    for form in FORMS:
        octets = packet(form(parameters=ALL))
        found = IPv6(octets)[form]
        assert bytes(found) == octets[MESSAGE_AT[form] :]
        assert found[PathId].path_id == 5


@pytest.mark.parametrize("half", [1, 2**31 - 1])
@pytest.mark.parametrize("start", [0, 7, 2**31, 2**32 - 1])
def test_copies_and_older_messages_are_not_later(start: int, half: int) -> None:
    """The circle of RFC 1982, for sequence numbers and for epochs."""
    further = (start + half) % 2**32
    for name in ("sequence", "epoch"):
        last, new = Origin(**{name: start}), Origin(**{name: further})
        assert later(new, last)
        assert not later(last, new)
        assert not later(last, last)


def test_after_a_restart_sequence_numbers_begin_anew() -> None:
    before, after = Origin(epoch=1, sequence=500), Origin(epoch=2, sequence=0)
    assert later(after, before)
    assert not later(before, after)
