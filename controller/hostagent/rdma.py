"""Reads this host's RDMA devices and queue pairs, from sysfs and `rdma` of iproute2."""

import json
import subprocess
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any

from fcn.controller.config.notation import Address
from fcn.controller.hostagent.reports import Device

SYSFS = Path("/sys/class/infiniband")
COMMAND = ("rdma", "-j", "resource", "show", "qp")
ROCEV2 = "RoCE v2"
CONNECTED = frozenset({"RC", "UC"})
READY = frozenset({"RTR", "RTS", "SQD"})
TIMEOUT = 10.0


class RdmaError(Exception):
    """This host's devices cannot be read; the message says why and what to do."""


def devices(sysfs: Path = SYSFS) -> list[Device]:
    """The RoCEv2 devices with their connected queue pairs. Raises RdmaError."""
    pairs = queue_pairs(_run(COMMAND))
    names = sorted(entry.name for entry in sysfs.iterdir()) if sysfs.is_dir() else []
    return [
        Device(name, addresses, tuple(sorted(pairs.get(name, ()))))
        for name in names
        if (addresses := _addresses(sysfs / name))
    ]


def queue_pairs(text: str) -> dict[str, set[tuple[int, int]]]:
    """(own QPN, peer's QPN) of connected queue pairs by device, from the output of `rdma`.

    Raises RdmaError.
    """
    found: dict[str, set[tuple[int, int]]] = {}
    try:
        entries: list[dict[str, Any]] = json.loads(text or "[]")
        for entry in entries:
            if entry["type"] in CONNECTED and entry["state"] in READY and entry.get("rqpn"):
                pair = int(entry["lqpn"]), int(entry["rqpn"])
                found.setdefault(entry["ifname"], set()).add(pair)
    except (ValueError, KeyError, TypeError) as error:
        raise RdmaError(
            f"cannot read the output of {' '.join(COMMAND)}: {type(error).__name__} {error}"
        ) from None
    return found


def _addresses(device: Path) -> tuple[Address, ...]:
    """RoCEv2 GIDs of all ports as IP addresses, without link-local ones, which are not routed."""
    found: list[Address] = []
    for gid in sorted(device.glob("ports/*/gids/*")):
        try:
            kind = (gid.parents[1] / "gid_attrs" / "types" / gid.name).read_text().strip()
            address = IPv6Address(gid.read_text().strip())
        except OSError:
            continue  # the kernel refuses to read empty entries
        if kind != ROCEV2 or address.is_link_local or address.is_unspecified:
            continue
        plain = address.ipv4_mapped or address
        if plain not in found:
            found.append(plain)
    return tuple(found)


def _run(command: tuple[str, ...]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except FileNotFoundError:
        raise RdmaError("there is no `rdma` command; install iproute2") from None
    except subprocess.TimeoutExpired:
        raise RdmaError(f"{' '.join(command)} does not answer") from None
    if done.returncode:
        raise RdmaError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return done.stdout
