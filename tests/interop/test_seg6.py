"""The kernel's seg6 as the other PE (FCN-5): each PE decapsulates what the other encapsulates.

Only headers are compared, not ECN: seg6 neither copies ECN to the outer header nor back.
"""

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
from interop_testbed import PE_END_SID, PE_SID, REMOTE_V4, REMOTE_V6, InteropTestbed
from interop_traffic import PAIRS, assert_unharmed, roce_of_every_ecn, send_to_host

DECAPSULATIONS = {
    "dx4-dx6": Decapsulation(f"End.DX4 nh4 {REMOTE_V4}", f"End.DX6 nh6 {REMOTE_V6}"),
    "dx4-dt6": Decapsulation(f"End.DX4 nh4 {REMOTE_V4}", "End.DT6 table main"),
}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("decapsulation", DECAPSULATIONS)
def test_linux_ends_our_tunnels(testbed: InteropTestbed, path: str, decapsulation: str) -> None:
    """Labelled RoCE packets of each ECN codepoint arrive unchanged through every End behaviour."""
    assert_linux_ends(testbed, path, DECAPSULATIONS[decapsulation])


@pytest.mark.parametrize("sids", [(PE_SID,), (PE_END_SID, PE_SID)], ids=["one-sid", "two-sids"])
@pytest.mark.parametrize("mode", ["encap", "encap.red"])
def test_we_end_linux_tunnels(testbed: InteropTestbed, mode: str, sids: tuple[str, ...]) -> None:
    """End and End.DT46 process the kernel's packets, with and without SRH, reduced or not."""
    testbed.configure()
    linux_encapsulates(testbed, mode, *sids)
    for host, remote in PAIRS:
        sent = roce_of_every_ecn(remote, host)
        arrived = send_to_host(testbed, (host, remote), *sent).arrived
        # The kernel's seg6 encapsulates before forwarding: the inner TTL is not decremented.
        assert_unharmed(sent, arrived, hops=1)


@pytest.mark.parametrize("size", SIZES)
def test_hosts_reach_each_other(testbed: InteropTestbed, size: int) -> None:
    """Ping and its answer cross our encapsulation and the kernel's, IPv4 and IPv6."""
    pe = testbed.configure()
    we_encapsulate(pe, "one-sid")
    linux_decapsulates(testbed, DECAPSULATIONS["dx4-dt6"])
    linux_encapsulates(testbed, "encap.red", PE_SID)
    testbed.ping(size)
