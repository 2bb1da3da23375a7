"""The network of the example with a second tenant."""

from typing import Any

BLUE, RED = 1, 2
"""VRF IDs."""


def two_tenants(network: dict[str, Any]) -> dict[str, Any]:
    """The example with a second tenant, on ports of its own."""
    network["vrfs"]["red"] = {"id": RED}
    for site, far in ((1, 2), (2, 1)):
        node = network["nodes"][f"pe{site}"]
        address = f"10.{site}.0.1/24"
        node["ports"].append({"number": 9, "role": "dc", "vrf": "red", "addresses": [address]})
        node["vrfs"]["red"] = {
            "service_sid": f"2001:db8:0:{site}::d4",
            "routes": [{"prefix": f"10.{far}.0.0/24", "tunnel": f"pe{far}-srv6"}],
        }
    return network
