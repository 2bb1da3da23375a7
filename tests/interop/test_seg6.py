"""The kernel's seg6 as the other PE (FCN-5): its decapsulation ends our tunnels, ours ends its.

The kernel is a peer for headers, not for ECN: it neither copies ECN out nor merges it back.
"""

from dataclasses import dataclass

import pytest
from interop_bed import (
    HOST_PREFIXES,
    LINUX_ADDRESS,
    PE_ADDRESS,
    PE_END_SID,
    PE_SID,
    REMOTE_V4,
    REMOTE_V6,
    TUNNEL_V4,
    TUNNEL_V6,
    VRF,
    Bed,
)
from interop_namespaces import CommandError
from interop_traffic import (
    DEST_QP,
    PAIRS,
    assert_unharmed,
    roce_of_every_ecn,
    send_to_host,
    send_to_remote,
)

from ptf_tests.lib.entries import PeTables
from ptf_tests.lib.packets import flow_label_of, srv6_full_path, srv6_red_path, traffic_class_of

END_SID = "fc00:0:2:e::"
SID_V4, SID_V6 = "fc00:0:2:d4::", "fc00:0:2:d6::"
LABEL = 0x81234
SIZES = (56, 1400)
"""Octets of ping payload: small, and close to the data centre's MTU."""


@dataclass(frozen=True, slots=True)
class Decapsulation:
    """The kernel's actions behind SID_V4 and SID_V6; vrf: they look up in a VRF device's table."""

    ipv4: str
    ipv6: str
    vrf: bool = False


DECAPSULATIONS = {
    "dx4-dx6": Decapsulation(f"End.DX4 nh4 {REMOTE_V4}", f"End.DX6 nh6 {REMOTE_V6}"),
    "dx4-dt6": Decapsulation(f"End.DX4 nh4 {REMOTE_V4}", "End.DT6 table main"),
    "dt4-dt6": Decapsulation("End.DT4 vrftable 100", "End.DT6 vrftable 100", vrf=True),
    "dt46": Decapsulation("End.DT46 vrftable 100", "End.DT46 vrftable 100", vrf=True),
}
PATHS = {
    "one-sid": lambda sid: srv6_red_path((sid,)),
    "one-sid-full": lambda sid: srv6_full_path((sid,)),
    "two-sids-red": lambda sid: srv6_red_path((END_SID, sid)),
    "two-sids-full": lambda sid: srv6_full_path((END_SID, sid)),
}


def linux_route(bed: Bed, route: str) -> None:
    """Add a route of the test at the Linux PE; skip when its kernel does not know the kind."""
    try:
        bed.linux.ip(f"route add {route} proto static")
    except CommandError as error:
        pytest.skip(f"this kernel or iproute2 does not take it: {error}")


def linux_decapsulates(bed: Bed, decapsulation: Decapsulation) -> None:
    """Install the SIDs, and a VRF with the site in it where the actions need one."""
    if decapsulation.vrf:
        try:
            bed.linux.ip("link add vrf100 type vrf table 100")
        except CommandError as error:
            pytest.skip(f"End.DT4 and End.DT46 need CONFIG_NET_VRF: {error}")
    linux_route(bed, f"{SID_V4}/64 encap seg6local action {decapsulation.ipv4} dev wan")
    linux_route(bed, f"{SID_V6}/64 encap seg6local action {decapsulation.ipv6} dev wan")
    linux_route(bed, f"{END_SID}/64 encap seg6local action End dev wan")


def linux_encapsulates(bed: Bed, mode: str, *sids: str) -> None:
    """Send both families through our SIDs, in travel order."""
    bed.linux.ip(f"sr tunsrc set {LINUX_ADDRESS}")
    for prefix in HOST_PREFIXES:
        linux_route(bed, f"{prefix} encap seg6 mode {mode} segs {','.join(sids)} dev wan")


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


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("decapsulation", DECAPSULATIONS)
def test_linux_ends_our_tunnels(bed: Bed, path: str, decapsulation: str) -> None:
    """Labelled RoCE packets of each ECN field arrive unharmed behind every End action."""
    pe = bed.configure()
    we_encapsulate(pe, path)
    linux_decapsulates(bed, DECAPSULATIONS[decapsulation])
    for host, remote in PAIRS:
        pe.flow(VRF, host, remote, DEST_QP, LABEL)
        sent = roce_of_every_ecn(host, remote)
        crossing = send_to_remote(bed, (host, remote), *sent)
        assert_unharmed(sent, crossing.arrived)
        assert [flow_label_of(outer) for outer in crossing.core] == [LABEL] * len(sent)
        assert [traffic_class_of(outer) & 3 for outer in crossing.core] == [0, 1, 2, 3]


@pytest.mark.parametrize("sids", [(PE_SID,), (PE_END_SID, PE_SID)], ids=["one-sid", "two-sids"])
@pytest.mark.parametrize("mode", ["encap", "encap.red"])
def test_we_end_linux_tunnels(bed: Bed, mode: str, sids: tuple[str, ...]) -> None:
    """End and End.DT46 take what the kernel encapsulates, with and without SRH, reduced or not."""
    bed.configure()
    linux_encapsulates(bed, mode, *sids)
    for host, remote in PAIRS:
        sent = roce_of_every_ecn(remote, host)
        arrived = send_to_host(bed, (host, remote), *sent).arrived
        # The kernel's seg6 takes a packet before it is forwarded: no hop of the customer's.
        assert_unharmed(sent, arrived, hops=1)


@pytest.mark.parametrize("size", SIZES)
def test_hosts_reach_each_other(bed: Bed, size: int) -> None:
    """Ping and its answer cross our encapsulation and the kernel's, IPv4 and IPv6."""
    pe = bed.configure()
    we_encapsulate(pe, "one-sid")
    linux_decapsulates(bed, DECAPSULATIONS["dx4-dt6"])
    linux_encapsulates(bed, "encap.red", PE_SID)
    bed.ping(size)
