"""Fixtures for the RoCEv2 hosts: the C driver and two network namespaces joined by a veth pair."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from roce_testing import Driver, HostPair

from fcn.hosts.build import compile_cached
from fcn.hosts.roce.build import SOURCES, fcn_roce

_PARTS = ("cm", "dcqcn", "delay", "icrc", "packet", "pfc")
WITHOUT_MAIN = [SOURCES / f"{name}.c" for name in _PARTS]


@pytest.fixture(scope="session")
def driver() -> Iterator[Driver]:
    sources = [*WITHOUT_MAIN, Path(__file__).with_name("roce_driver.c")]
    program = Driver(compile_cached("roce-driver", sources, sanitize=True))
    yield program
    program.close()


@pytest.fixture(scope="session")
def roce_program() -> Path:
    """fcn-roce under ASan and UBSan."""
    return fcn_roce(sanitize=True)


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


@pytest.fixture
def host_pair() -> Iterator[HostPair]:
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    prefix = f"fr{os.getpid() % 100000}"
    pair = HostPair(f"{prefix}a", f"{prefix}b")
    try:
        for namespace in (pair.a, pair.b):
            ip("netns", "add", namespace)
        ip("link", "add", f"{prefix}x", "netns", pair.a, "type", "veth",
           "peer", "name", f"{prefix}y", "netns", pair.b)  # fmt: skip
        for index, (namespace, device) in enumerate(
            ((pair.a, f"{prefix}x"), (pair.b, f"{prefix}y"))
        ):
            ip("-n", namespace, "addr", "add", f"{HostPair.ADDRESSES[4][index]}/24", "dev", device)
            ip("-n", namespace, "addr", "add", f"{HostPair.ADDRESSES[6][index]}/64",
               "dev", device, "nodad")  # fmt: skip
            ip("-n", namespace, "link", "set", device, "up")
        yield pair
    finally:
        for namespace in (pair.a, pair.b):
            subprocess.run(["ip", "netns", "del", namespace], capture_output=True, check=False)
