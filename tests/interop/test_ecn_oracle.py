"""RFC 6040 decapsulation (SRF-2): the kernel's VXLAN receive path is the reference for ours.

Both decapsulate the same packet; the results must be equal, octet by octet, in all 16 combinations
of inner and outer ECN field. (The kernel's encapsulation is no reference: it follows RFC 3168 and
writes an outer ECT(0) on packets with an inner CE.)
"""

import pytest
from interop_linux_vxlan import LINUX_MAC, OUR_MAC, VNI, linux_vxlan, our_vxlan
from interop_namespaces import Namespace, frames_until
from interop_testbed import (
    DC_PORT,
    HOST_MAC,
    LINUX_ADDRESS,
    LINUX_WAN_MAC,
    PE_ADDRESS,
    PE_CORE_MAC,
    PE_DC_MAC,
    REMOTE_V4,
    REMOTE_V6,
    VRF,
    InteropTestbed,
)
from interop_traffic import FRAME_TIMEOUT_S

from fcn.ptf_tests.lib.packets import BTH_HEADER, Ecn, datagram_of, ethernet, roce, udp, vxlan

CELLS = [(inner, outer) for inner in Ecn for outer in Ecn]
PAYLOAD = b"cell of RFC 6040"
ICRC = 4


def to_linux(inner: bytes, ecn: Ecn) -> bytes:
    """The frame that brings `inner` to the Linux PE, with this outer ECN field."""
    outer = _vxlan(inner, (PE_ADDRESS, OUR_MAC), (LINUX_ADDRESS, LINUX_MAC), ecn)
    return ethernet(outer, src=PE_CORE_MAC, dst=LINUX_WAN_MAC)


def to_us(inner: bytes, ecn: Ecn) -> bytes:
    """The frame that brings `inner` to our PE, with this outer ECN field."""
    outer = _vxlan(inner, (LINUX_ADDRESS, LINUX_MAC), (PE_ADDRESS, OUR_MAC), ecn)
    return ethernet(outer, src=LINUX_WAN_MAC, dst=PE_CORE_MAC)


def _vxlan(inner: bytes, near: tuple[str, str], far: tuple[str, str], ecn: Ecn) -> bytes:
    return vxlan(
        inner,
        near[0],
        far[0],
        VNI,
        inner_src_mac=near[1],
        inner_dst_mac=far[1],
        sport=0xC000,
        traffic_class=ecn,
    )


def forwarded(
    wire: Namespace, interface: str, cells: list[bytes], markers: list[bytes], host: Namespace
) -> list[list[str]]:
    """For the frame of each combination, the datagrams that reach `host` because of it, as hex.

    A distinct marker follows each frame, so that late datagrams are not attributed to the next one.
    BMv2 may also receive and forward the frames sent on its own interface: duplicates count once.
    """
    seen: list[bytes] = []
    with wire.packet_socket(interface) as sender, host.packet_socket("eth0") as receiver:
        for number, (cell, marker) in enumerate(zip(cells, markers, strict=True)):
            sender.send(cell)
            sender.send(marker)
            seen += frames_until(receiver, marker_payload(number), FRAME_TIMEOUT_S)
    return [
        sorted(
            {datagram_of(each).hex() for each in seen if transport_of(cell) == transport_of(each)}
        )
        for cell in cells
    ]


def marker_payload(number: int) -> bytes:
    """Payload that distinguishes the marker of one combination from the others."""
    return b"cell %02d is before" % number


def transport_of(frame: bytes) -> bytes:
    """BTH and payload, which no router changes; each combination has its own PSN."""
    return frame[-(BTH_HEADER + len(PAYLOAD) + ICRC) : -ICRC]


@pytest.mark.parametrize(
    ("src", "dst"), [("10.3.0.30", "10.9.0.9"), ("2001:db8:3::30", "2001:db8:9::9")]
)
def test_all_cells(testbed: InteropTestbed, src: str, dst: str) -> None:
    """Both drop the packet or forward the same datagram; only Not-ECT inside CE is dropped."""
    pe = testbed.configure()
    our_vxlan(pe)
    linux_vxlan(testbed)
    # Both PEs route to the same address; our host need not own it: the datagrams are captured.
    width, via = (128, REMOTE_V6) if ":" in dst else (32, REMOTE_V4)
    prefix = f"{dst}/{width}"
    pe.route(VRF, prefix, "to_dc", port=DC_PORT, vlan_id=0, src_mac=PE_DC_MAC, dst_mac=HOST_MAC)
    testbed.linux.ip(f"route add {prefix} via {via} dev site onlink proto static")
    markers = [udp(src, dst, 9, 9, marker_payload(number)) for number in range(len(CELLS))]
    cells = [
        (roce(src, dst, 0x118, payload=PAYLOAD, psn=inner << 2 | outer, ecn=inner), outer)
        for inner, outer in CELLS
    ]
    ours = forwarded(
        testbed.wires,
        "wan",
        [to_us(*cell) for cell in cells],
        [to_us(marker, Ecn.NOT_ECT) for marker in markers],
        testbed.host,
    )
    linux = forwarded(
        testbed.pe,
        "core",
        [to_linux(*cell) for cell in cells],
        [to_linux(marker, Ecn.NOT_ECT) for marker in markers],
        testbed.remote,
    )
    by_cell = dict(zip(CELLS, zip(ours, linux, strict=True), strict=True))
    assert {cell: pair[0] for cell, pair in by_cell.items()} == {
        cell: pair[1] for cell, pair in by_cell.items()
    }
    dropped = [cell for cell, (_, kernel) in by_cell.items() if not kernel]
    assert dropped == [(Ecn.NOT_ECT, Ecn.CE)]
    assert all(len(kernel) <= 1 for _, kernel in by_cell.values())
