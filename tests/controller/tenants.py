"""The tenant of the example, and a second one."""

from typing import Any

from fcn.contract.ports import PORT_BITS

BLUE, RED = 1, 2
"""VRF IDs."""

DC_PORT, RED_PORT = 1, 9
"""Where their hosts are, at both provider edges."""


def two_tenants(network: dict[str, Any]) -> dict[str, Any]:
    """The example with a second tenant, on ports of its own."""
    network["vrfs"]["red"] = {"id": RED}
    for site, far in ((1, 2), (2, 1)):
        node = network["nodes"][f"pe{site}"]
        address = f"10.{site}.0.1/24"
        node["ports"].append(
            {"number": RED_PORT, "role": "dc", "vrf": "red", "addresses": [address]}
        )
        node["vrfs"]["red"] = {
            "service_sid": f"2001:db8:0:{site}::d4",
            "routes": [{"prefix": f"10.{far}.0.0/24", "tunnel": f"pe{far}-srv6"}],
        }
    return network


def cm_item(
    vrf: int,
    src: int,
    dst: int,
    attribute: int,
    local_comm_id: int,
    remote_comm_id: int,
    qpn: int,
    port: int,
) -> tuple[int, ...]:
    """The item of a digest cm_* (p4src/learning/digests.p4)."""
    return vrf, src, dst, local_comm_id, remote_comm_id, qpn, attribute << PORT_BITS | port
