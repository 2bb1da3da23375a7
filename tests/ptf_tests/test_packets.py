"""The packet builders themselves: the ICRC oracle against known vectors and real packets."""

import pytest

from fcn.packets.icrc import icrc_valid
from fcn.ptf_tests.lib import vectors
from fcn.ptf_tests.lib.packets import (
    cnp,
    datagram_of,
    ecn_of,
    flow_label_of,
    routed,
    srv6,
    srv6_full_path,
    srv6_red_path,
    ttl_of,
    udp,
    udp_checksum_valid,
    udp_flows,
    with_ecn,
    with_ttl,
)


@pytest.mark.parametrize("vector", vectors.CNP_VECTORS, ids=lambda v: v.name)
def test_cnp_builder_meets_the_icrc_vectors(vector: vectors.CnpVector) -> None:
    """FCN-13: the independent CNP builder reproduces the known CNPs byte for byte."""
    built = cnp(
        vector.src,
        vector.dst,
        vector.dest_qp,
        traffic_class=vector.traffic_class,
        ttl=vector.ttl,
        sport=vector.udp_src_port,
        ipv4_id=vector.ipv4_id,
    )
    assert built.hex() == vector.datagram.hex()
    assert icrc_valid(vector.datagram)


def test_corruption_breaks_the_icrc_and_ecn_does_not() -> None:
    datagram = vectors.CNP_VECTORS[0].datagram
    assert icrc_valid(with_ecn(datagram, 3))
    assert icrc_valid(with_ttl(datagram, 7))
    flipped = bytearray(datagram)
    flipped[16] ^= 1
    assert not icrc_valid(bytes(flipped))


def test_ipv6_cnp_has_a_valid_udp_checksum() -> None:
    assert udp_checksum_valid(vectors.CNP_VECTORS[1].datagram)
    assert not udp_checksum_valid(vectors.CNP_VECTORS[0].datagram)


def test_routed_changes_the_ttl_and_the_ipv4_checksum_only() -> None:
    for vector in vectors.CNP_VECTORS:
        after = routed(vector.datagram)
        assert ttl_of(after) == vector.ttl - 1
        assert with_ttl(after, vector.ttl) == vector.datagram
        assert ecn_of(after) == ecn_of(vector.datagram)


def test_srv6_paths_list_the_last_sid_first() -> None:
    sids = ["fc00::1", "fc00::2", "fc00::3"]
    assert srv6_red_path(sids) == ("fc00::1", ["fc00::3", "fc00::2"], 2)
    assert srv6_full_path(sids) == ("fc00::1", ["fc00::3", "fc00::2", "fc00::1"], 2)
    destination, segments, left = srv6_red_path(sids)
    built = srv6(
        vectors.CNP_VECTORS[0].datagram,
        "2001:db8::1",
        destination,
        segments,
        left,
        flow_label=0x81234,
    )
    assert flow_label_of(built) == 0x81234
    assert built[6] == 43
    assert built[40:48].hex() == "0404040201000000"
    assert built[80:] == vectors.CNP_VECTORS[0].datagram


def test_datagram_of_strips_the_tag() -> None:
    assert datagram_of(bytes(12) + b"\x81\x00\x00\x05\x08\x00rest") == b"rest"
    assert datagram_of(bytes(12) + b"\x08\x00rest") == b"rest"


@pytest.mark.parametrize(
    ("src", "dst", "last"),
    # The checksum of the last is 0, which is sent as 0xFFFF.
    [("10.1.0.10", "10.2.0.20", 57165), ("2001:db8:1::10", "2001:db8:2::20", 38857)],
)
def test_flows_differ_by_source_port(src: str, dst: str, last: int) -> None:
    first = last - 3
    wanted = [udp(src, dst, port, 53) for port in range(first, last + 1)]
    assert udp_flows(src, dst, first, 4) == wanted
    assert udp_checksum_valid(wanted[-1])
