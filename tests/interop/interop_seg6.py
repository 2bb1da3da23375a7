"""The two ends of an SRv6 tunnel: the kernel's seg6 and our PE's tables."""

from dataclasses import dataclass

import pytest
from interop_namespaces import CommandError
from interop_testbed import (
    HOST_PREFIXES,
    LINUX_ADDRESS,
    PE_ADDRESS,
    TUNNEL_V4,
    TUNNEL_V6,
    VRF,
    InteropTestbed,
)
from interop_traffic import DEST_QP, PAIRS, assert_unharmed, roce_of_every_ecn, send_to_remote

from fcn.ptf_tests.lib.packets import flow_label_of, srv6_full_path, srv6_red_path, traffic_class_of
from fcn.ptf_tests.lib.pe_entries import PeTables

END_SID = "fc00:0:2:e::"
SID_V4, SID_V6 = "fc00:0:2:d4::", "fc00:0:2:d6::"
LABEL = 0x81234
SIZES = (56, 1400)
"""Octets of ping payload: small, and nearly the data centre's MTU."""


@dataclass(frozen=True, slots=True)
class Decapsulation:
    """The kernel's actions behind SID_V4 and SID_V6."""

    ipv4: str
    ipv6: str


PATHS = {
    "one-sid": lambda sid: srv6_red_path((sid,)),
    "one-sid-full": lambda sid: srv6_full_path((sid,)),
    "two-sids-red": lambda sid: srv6_red_path((END_SID, sid)),
    "two-sids-full": lambda sid: srv6_full_path((END_SID, sid)),
}


def linux_route(testbed: InteropTestbed, route: str) -> None:
    """Add a route at the Linux PE; skip the test when its kernel has no seg6."""
    try:
        testbed.linux.ip(f"route add {route} proto static")
    except CommandError as error:
        if "not supported" not in str(error):
            raise
        pytest.skip(f"this kernel does not support the route: {error}")


def linux_decapsulates(testbed: InteropTestbed, decapsulation: Decapsulation) -> None:
    """Install the SIDs."""
    linux_route(testbed, f"{SID_V4}/64 encap seg6local action {decapsulation.ipv4} dev wan")
    linux_route(testbed, f"{SID_V6}/64 encap seg6local action {decapsulation.ipv6} dev wan")
    linux_route(testbed, f"{END_SID}/64 encap seg6local action End dev wan")


def linux_encapsulates(testbed: InteropTestbed, mode: str, *sids: str, table: str = "main") -> None:
    """Encapsulate both families with our SIDs, in path order, by routes in `table`."""
    testbed.linux.ip(f"sr tunsrc set {LINUX_ADDRESS}")
    for prefix in HOST_PREFIXES:
        encapsulation = f"encap seg6 mode {mode} segs {','.join(sids)} dev wan"
        linux_route(testbed, f"{prefix} {encapsulation} table {table}")


def we_encapsulate(pe: PeTables, path: str) -> None:
    """Tunnels of both families along one of PATHS."""
    for tunnel, sid in ((TUNNEL_V4, SID_V4), (TUNNEL_V6, SID_V6)):
        dst, segments, left = PATHS[path](sid)
        if not segments:
            pe.tunnel(tunnel, "encap_srv6", src=PE_ADDRESS, dst=dst)
            continue
        pe.tunnel(
            tunnel,
            f"encap_srv6_srh{len(segments)}",
            src=PE_ADDRESS,
            dst=dst,
            segments_left=left,
            **{f"seg{i}": segment for i, segment in enumerate(segments)},
        )


def assert_linux_ends(testbed: InteropTestbed, path: str, decapsulation: Decapsulation) -> None:
    """Labelled RoCE packets of each ECN codepoint arrive unchanged at the remote host."""
    pe = testbed.configure()
    we_encapsulate(pe, path)
    linux_decapsulates(testbed, decapsulation)
    for host, remote in PAIRS:
        pe.flow(VRF, host, remote, DEST_QP, LABEL)
        sent = roce_of_every_ecn(host, remote)
        crossing = send_to_remote(testbed, (host, remote), *sent)
        assert_unharmed(sent, crossing.arrived)
        assert [flow_label_of(outer) for outer in crossing.core] == [LABEL] * len(sent)
        assert [traffic_class_of(outer) & 3 for outer in crossing.core] == [0, 1, 2, 3]
