"""End.DT4 and End.DT46 of the kernel, and its H.Encaps.Red out of a VRF, as the other PE (FCN-5).

These need CONFIG_NET_VRF, which not every kernel has: the Linux PE is a guest with Debian's.
"""

import shutil
from collections.abc import Iterator

import pytest
from interop_seg6 import (
    PATHS,
    SIZES,
    Decapsulation,
    assert_linux_ends,
    linux_decapsulates,
    linux_encapsulates,
    we_encapsulate,
)
from interop_testbed import (
    LINUX_ADDRESS,
    PE_SID,
    REMOTE_MAC,
    REMOTE_V4,
    REMOTE_V6,
    InteropTestbed,
    skip_unless_possible,
)
from interop_traffic import PAIRS, assert_unharmed, roce_of_every_ecn, send_to_host

from fcn.hosts.guest.debian import PackageError
from fcn.hosts.guest.image import guest_image
from fcn.hosts.guest.qemu import QEMU, QEMU_PACKAGE

TABLE = 100
DECAPSULATIONS = {
    "dt4-dt6": Decapsulation(f"End.DT4 vrftable {TABLE}", f"End.DT6 vrftable {TABLE}"),
    "dt46": Decapsulation(f"End.DT46 vrftable {TABLE}", f"End.DT46 vrftable {TABLE}"),
}


@pytest.fixture(scope="module", params=["softswitch", "bmv2"])
def running_testbed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InteropTestbed]:
    """A guest as the Linux PE, its site interface in a VRF."""
    skip_unless_possible(request.param)
    if shutil.which(QEMU) is None:
        pytest.skip(f"no {QEMU}: install {QEMU_PACKAGE}, or run `make interop` once")
    try:
        guest_image()
    except PackageError as error:
        pytest.skip(f"Debian's kernel cannot be downloaded: {error}")
    testbed = InteropTestbed(request.param, tmp_path_factory.mktemp(request.param), guest=True)
    try:
        _into_vrf(testbed)
        yield testbed
    finally:
        testbed.close()


def _into_vrf(testbed: InteropTestbed) -> None:
    linux = testbed.linux
    linux.sysctl("net.vrf.strict_mode", 1)
    linux.ip(f"link add vrf{TABLE} type vrf table {TABLE}")
    linux.ip(f"link set vrf{TABLE} up")
    linux.ip(f"link set site master vrf{TABLE}")
    # The kernel flushes an interface's IPv6 addresses and neighbours when its VRF changes.
    linux.ip("addr replace 2001:db8:2::1/64 dev site nodad")
    for address in (REMOTE_V4, REMOTE_V6):
        linux.ip(f"neigh replace {address} lladdr {REMOTE_MAC} dev site nud permanent")
    # The VRF's encapsulated packets are looked up in its table, too.
    linux.ip(
        f"-6 route add fc00:0:1::/48 via fc00:0:12::1 dev wan src {LINUX_ADDRESS} table {TABLE}"
    )


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("decapsulation", DECAPSULATIONS)
def test_linux_ends_our_tunnels(testbed: InteropTestbed, path: str, decapsulation: str) -> None:
    """Labelled RoCE packets of each ECN codepoint arrive unchanged from the VRF."""
    assert_linux_ends(testbed, path, DECAPSULATIONS[decapsulation])


@pytest.mark.parametrize("mode", ["encap", "encap.red"])
def test_we_end_linux_tunnels(testbed: InteropTestbed, mode: str) -> None:
    """Our End.DT46 decapsulates the packets the kernel encapsulates in the VRF."""
    testbed.configure()
    linux_encapsulates(testbed, mode, PE_SID, table=str(TABLE))
    for host, remote in PAIRS:
        sent = roce_of_every_ecn(remote, host)
        arrived = send_to_host(testbed, (host, remote), *sent).arrived
        assert_unharmed(sent, arrived, hops=1)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("decapsulation", DECAPSULATIONS)
def test_hosts_reach_each_other(testbed: InteropTestbed, size: int, decapsulation: str) -> None:
    """Ping and its answer cross our encapsulation and the VRF's, IPv4 and IPv6."""
    pe = testbed.configure()
    we_encapsulate(pe, "one-sid")
    linux_decapsulates(testbed, DECAPSULATIONS[decapsulation])
    linux_encapsulates(testbed, "encap.red", PE_SID, table=str(TABLE))
    testbed.ping(size)
