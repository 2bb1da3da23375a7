"""Values of the wrong kind, and numbers no network has, are refused where they are."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from test_config import example, refused
from test_modes import two_threshold

from fcn.controller.config import parse_config
from fcn.controller.config.holding import Holding
from fcn.controller.config.notation import format_depth, format_duration

Where = tuple[str | int, ...]


def everything(*, two: bool) -> dict[str, Any]:
    """The example with all keys of holding, flows, neighbors and two_threshold."""
    data = two_threshold() if two else example()
    data["flow_control"] = "service"
    holding = Holding().model_dump()
    for key in ("time", "repeat", "longest", "drain_every", "relief_repeat"):
        holding[key] = format_duration(holding[key])
    for key in ("hold_at", "release_at", "drain_below"):
        holding[key] = format_depth(getattr(Holding(), key))
    data["holding"] = holding | {"octets": "4MB", "relief": "pfc"}
    if two:
        data["two_threshold"] |= {"light_probability": 0.25, "heavy_probability": 1.0}
        data["two_threshold"] |= {"rate": {"rate": 1000, "burst": 4}, "depths": [16, 48, 128]}
    data["neighbors"] = {"attempts": 3}
    data["controller_share"] = {"packets": {"rate": 1000, "burst": 250}}
    data["nodes"]["p1"]["notifications"] = {"rate": 1000, "burst": 250}
    # What pause_share is for
    data["flow_control"] = "service"
    (dc_port,) = [port for port in data["nodes"]["pe1"]["ports"] if port["role"] == "dc"]
    dc_port |= {"heed_pause": True, "rate": "100 Gb/s"}
    return data


def numbers(value: object, path: Where = ()) -> Iterator[Where]:
    """Paths of all numbers."""
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers(item, (*path, key))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path


def spelled(path: Where) -> str:
    """As messages do."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


@pytest.mark.parametrize("two", [False, True])
def test_no_number_is_a_boolean(two: bool) -> None:
    data = everything(two=two)
    parse_config(yaml.safe_dump(data))
    paths = list(numbers(data))
    assert len(paths) > 40
    for path in paths:
        at: Any = data
        for key in path[:-1]:
            at = at[key]
        before, at[path[-1]] = at[path[-1]], True
        found = refused(yaml.safe_dump(data))
        assert any(where == spelled(path) and "True" in why for _, where, why in found), found
        at[path[-1]] = before


def put(*path: str | int, value: object) -> list[tuple[int, str, str]]:
    """The problems of the example with another value."""
    data: dict[str, Any] = example()
    at: Any = data
    for key in path[:-1]:
        at = at.setdefault(key, {})
    at[path[-1]] = value
    return refused(yaml.safe_dump(data))


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("nodes", "pe1", "cnp", "min_interval"), "400h", "400h is out of range; write 0us to 10s"),
        (("congestion", "levels", 1, "interval"), "1m", "1m is out of range; write 0us to 10s"),
        (("flows", "learning_window"), "0us", "0us is out of range; write 1us to 10s"),
        (("flows", "label_quarantine"), "25h", "25h is out of range; write 0us to 24h"),
        (("neighbors", "retry"), "0us", "0us is out of range; write 1ms to 1h"),
        (("neighbors", "refresh"), "0us", "0us is out of range; write 1ms to 24h"),
        (("congestion", "levels"), {True: {"interval": "1ms"}}, "valid integer, got True"),
    ],
)
def test_times_no_network_has_are_refused(path: Where, value: object, reason: str) -> None:
    found = put(*path, value=value)
    assert any(where.startswith(spelled(path)) and reason in why for _, where, why in found), found


VRF = ("nodes", "pe1", "vrfs", "blue")
HOP = {"prefix": "2001:db8:f::/48", "via": [{"port": 2, "address": "10.0.0.1"}]}


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ((*VRF, "end_con_sid"), "1.2.3.4", "1.2.3.4 is an IPv4 address; expected an IPv6 address"),
        ((*VRF, "service_sid"), "1.2.3.4", "1.2.3.4 is an IPv4 address; expected an IPv6 address"),
        ((*VRF, "end_con_sid"), "2001:db8::1/64", "is a prefix; expected an IPv6 address such as"),
        ((*VRF, "end_con_sid"), "2001:db8:::1", "'2001:db8:::1' is not an IPv6 address such as"),
        ((*VRF, "end_con_sid"), "::ffff:1.2.3.4", "stands for an IPv4 address"),
        ((*VRF, "end_con_sid"), 5, "expected an IPv6 address such as 2001:db8::1, got 5"),
        (("nodes", "pe1", "end_sids", 0), "10.0.0.1", "expected an IPv6 address"),
        (("nodes", "p1", "underlay_address"), "10.0.0.1", "expected an IPv6 address"),
        (("nodes", "pe1", "cnp", "ipv6_source"), "10.0.0.1", "expected an IPv6 address"),
        (("nodes", "pe1", "cnp", "ipv4_source"), "2001:db8::1", "expected an IPv4 address"),
        (("nodes", "pe1", "cnp", "ipv4_source"), "10.0.0.1/24", "is a prefix; expected an IPv4"),
        (("nodes", "pe1", "cnp", "ipv4_source"), "224.0.0.1", "not a unicast address"),
        (("nodes", "pe1", "cnp", "ipv4_source"), "255.255.255.255", "the broadcast address"),
        (("nodes", "pe1", "locator"), "10.0.0.0/24", "10.0.0.0/24 is IPv4; the underlay is IPv6"),
        (("nodes", "pe1", "locator"), "2001:zz::/64", "2001:zz::/64"),
        (("trusted_prefixes",), ["10.0.0.0/8"], "10.0.0.0/8 is IPv4; the underlay is IPv6"),
        (
            ("nodes", "pe1", "tunnels", "pe2-vxlan", "source"),
            "10.0.0.1",
            "expected an IPv6 address",
        ),
        (("nodes", "p1", "underlay"), [HOP], "expected an IPv6 address"),
    ],
)
def test_addresses_of_the_other_version_are_named(path: Where, value: object, reason: str) -> None:
    found = put(*path, value=value)
    assert any(
        where.startswith(spelled(path)) and reason in why and "parts" not in why
        for _, where, why in found
    ), found
