"""packets/arn.py: what is written is read, and nothing else is (SRF-5)."""

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import UDP
from scapy.layers.inet6 import IPv6

from fcn.packets.arn import (
    ARN_HEADER_LENGTH,
    ARN_HOP_LIMIT,
    ARN_PORT,
    Arn,
    ArnError,
    ArnType,
    Parameter,
    arn_length,
    read_arn,
)

WORDS = st.integers(0, 2**32 - 1)
PORTS = st.integers(0, 2**16 - 1)
SERVICE = Parameter.FIVE_TUPLE | Parameter.TIME
PRIORITY = Parameter.PRIORITY | Parameter.TIME
UNKNOWN_BITS = [1 << bit for bit in range(4, 8)]


@st.composite
def messages(draw: st.DrawFn) -> Arn:
    """Any sound ARN."""
    para_type = draw(st.integers(0, 15))
    fields = {
        "type": draw(st.sampled_from(ArnType)),
        "metric": draw(st.integers(0, 255)),
        "para_type": para_type,
    }
    if para_type & Parameter.FIVE_TUPLE:
        version = draw(st.sampled_from((4, 6)))
        address = {
            4: st.builds(lambda n: str(IPv4Address(n)), WORDS),
            6: st.builds(lambda n: str(IPv6Address(n)), st.integers(0, 2**128 - 1)),
        }[version]
        fields |= {
            "ip_version": version,
            "label": draw(st.integers(0, 2**20 - 1)),
            "protocol": draw(st.integers(0, 255)),
            f"src{version}": draw(address),
            f"dst{version}": draw(address),
            "sport": draw(PORTS),
            "dport": draw(PORTS),
        }
    for name in ("path_id", "priority", "time"):
        if para_type & Parameter[name.upper()]:
            fields[name] = draw(WORDS)
    return Arn(**fields)


@given(messages())
def test_what_is_written_is_read(arn: Arn) -> None:
    octets = bytes(arn)
    read = read_arn(octets)
    assert bytes(read) == octets
    for name in arn.fields:
        assert read.getfieldval(name) == arn.getfieldval(name), name


@given(messages(), st.data())
def test_every_other_length_is_refused(arn: Arn, data: st.DataObject) -> None:
    octets = bytes(arn)
    for length in range(len(octets)):
        with pytest.raises(ArnError):
            read_arn(octets[:length])
    with pytest.raises(ArnError):
        read_arn(octets + data.draw(st.binary(min_size=1, max_size=64)))


@given(st.binary(max_size=80))
def test_other_octets_are_read_as_they_are_or_refused(octets: bytes) -> None:
    try:
        read = read_arn(octets)
    except ArnError:
        return
    assert bytes(read) == octets


@pytest.mark.parametrize("bits", UNKNOWN_BITS)
def test_unknown_parameters_are_refused(bits: int) -> None:
    with pytest.raises(ArnError, match="unknown bits"):
        read_arn(bytes(Arn(para_type=bits | Parameter.TIME)))


def test_unknown_types_versions_and_ip_versions_are_refused() -> None:
    octets = bytes(Arn(para_type=SERVICE))
    assert read_arn(octets)
    for index, value, reason in ((0, 3, "type 3"), (1, 0x10, "version 1"), (4, 0x50, "version 5")):
        changed = bytes([*octets[:index], value, *octets[index + 1 :]])
        with pytest.raises(ArnError, match=reason):
            read_arn(changed)


def test_the_layout_octet_by_octet() -> None:
    arn = Arn(
        type=ArnType.DETECTED, metric=7, para_type=SERVICE, label=0x8CAFE, protocol=41,
        src6="fc00::1", dst6="fc00::2", time=500,
    )  # fmt: skip
    source, destination = IPv6Address("fc00::1").packed, IPv6Address("fc00::2").packed
    expected = "0100070968cafe29" + source.hex() + destination.hex() + "00000000000001f4"
    assert bytes(arn).hex() == expected
    assert len(bytes(arn)) == arn_length(SERVICE)
    priority = Arn(type=ArnType.ELIMINATED, para_type=PRIORITY, priority=3, time=1)
    assert bytes(priority).hex() == "0200000c0000000300000001"
    assert arn_length(0) == ARN_HEADER_LENGTH


def test_it_is_found_behind_its_udp_port() -> None:
    arn = Arn(para_type=PRIORITY, priority=3, time=1)
    sent = IPv6(hlim=ARN_HOP_LIMIT) / UDP(sport=49152, dport=ARN_PORT) / arn
    assert bytes(IPv6(bytes(sent))[Arn]) == bytes(arn)
