"""Without a controller customers keep their connectivity; with it back nothing is written twice."""

from collections.abc import Callable
from typing import Any

import pytest

SWITCHES = ("pe1", "p1", "p2", "pe2")


@pytest.mark.parametrize("target", ["softswitch", "bmv2"])
def test_hosts_reach_each_other_without_a_controller(
    target: str, run_system: Callable[..., dict[str, Any]]
) -> None:
    """Hosts that have forgotten their gateways find them, IPv4 and IPv6: the switches answer.

    A host with a new MAC address is found when the controller is back, which finds on the switches
    what it wants.
    """
    report = run_system("outage_network", target)
    away = report["away"]
    assert away["forgotten"] == {"h1": {}, "h3": {}}
    assert away["reached"].keys() == {"ipv4", "ipv6"}
    assert {name: len(known) for name, known in away["gateways"].items()} == {"h1": 2, "h3": 2}
    assert report["back"]["written"] == dict.fromkeys(SWITCHES, 0)
    assert report["back"]["reached"].keys() == {"ipv4", "ipv6"}
    assert not away["reaches moved"]
    assert not away["gateway answers ping"]
    assert report["back"]["reached moved"].keys() == {"ipv4"}
