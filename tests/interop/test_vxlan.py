"""VXLAN over IPv6 of the kernel as the other PE (FCN-5), both directions, IPv4 and IPv6 inside."""

import pytest
from interop_linux_vxlan import linux_vxlan, our_vxlan
from interop_testbed import InteropTestbed
from interop_traffic import (
    DEST_QP,
    PAIRS,
    assert_unharmed,
    roce_of_every_ecn,
    send_to_host,
    send_to_remote,
)

from fcn.ptf_tests.lib.packets import flow_label_of

LABEL = 0x81234
SIZES = (56, 1400)


def test_linux_ends_our_tunnels(testbed: InteropTestbed) -> None:
    """Labelled RoCE packets arrive unchanged; the kernel must accept a zero UDP checksum."""
    pe = testbed.configure()
    our_vxlan(pe)
    linux_vxlan(testbed)
    for host, remote in PAIRS:
        pe.flow(1, host, remote, DEST_QP, LABEL)
        sent = roce_of_every_ecn(host, remote)
        crossing = send_to_remote(testbed, (host, remote), *sent)
        assert_unharmed(sent, crossing.arrived)
        assert [flow_label_of(outer) for outer in crossing.core] == [LABEL] * len(sent)


@pytest.mark.parametrize("checksum", ["noudp6zerocsumtx", "udp6zerocsumtx"])
def test_we_end_linux_tunnels(testbed: InteropTestbed, checksum: str) -> None:
    """Our PE accepts the kernel's UDP checksum, sent by default, and a zero one."""
    our_vxlan(testbed.configure())
    linux_vxlan(testbed, checksum)
    for host, remote in PAIRS:
        sent = roce_of_every_ecn(remote, host)
        crossing = send_to_host(testbed, (host, remote), *sent)
        assert_unharmed(sent, crossing.arrived)
        checksums = [outer[46:48] for outer in crossing.core]
        assert len(checksums) == len(sent)
        assert all((value == bytes(2)) == (checksum == "udp6zerocsumtx") for value in checksums)


@pytest.mark.parametrize("size", SIZES)
def test_hosts_reach_each_other(testbed: InteropTestbed, size: int) -> None:
    """Ping and its answer cross our encapsulation and the kernel's, IPv4 and IPv6."""
    our_vxlan(testbed.configure())
    linux_vxlan(testbed)
    testbed.ping(size)
