"""API addresses: sockets of ended and of running controllers, and files that are not sockets."""

import socket
from pathlib import Path
from typing import Any

import pytest
import yaml

from fcn.controller.app import ControlPlane
from fcn.controller.config import parse_config
from fcn.controller.northbound.serving import ApiError, serving


@pytest.fixture
async def plane(network: dict[str, Any]) -> ControlPlane:
    """A control plane that is not connected to its switches."""
    return ControlPlane(parse_config(yaml.safe_dump(network)))


async def refusal(plane: ControlPlane, endpoint: str) -> str:
    with pytest.raises(ApiError) as caught:
        async with serving(plane.network, endpoint):
            pass
    assert f"cannot listen on {endpoint}" in str(caught.value)
    return str(caught.value)


async def test_a_socket_nobody_listens_on_is_replaced(plane: ControlPlane, tmp_path: Path) -> None:
    path = tmp_path / "api"
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))
    assert path.is_socket()
    async with serving(plane.network, f"unix:{path}") as address:
        assert address == f"unix:{path}"
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))


async def test_a_running_controller_keeps_its_socket(plane: ControlPlane, tmp_path: Path) -> None:
    endpoint = f"unix:{tmp_path}/api"
    async with serving(plane.network, endpoint):
        assert "another controller does" in await refusal(plane, endpoint)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(f"{tmp_path}/api")


async def test_a_file_is_not_removed(plane: ControlPlane, tmp_path: Path) -> None:
    (tmp_path / "api").write_text("precious")
    assert "is not a socket" in await refusal(plane, f"unix:{tmp_path}/api")
    assert (tmp_path / "api").read_text() == "precious"


async def test_a_missing_directory_is_named(plane: ControlPlane, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert f"no directory {missing}" in await refusal(plane, f"unix:{missing}/api")


async def test_a_port_in_use(plane: ControlPlane) -> None:
    async with serving(plane.network, "127.0.0.1:0") as address:
        assert "is another controller running?" in await refusal(plane, address)


async def test_a_socket_that_cannot_be_asked(plane: ControlPlane, tmp_path: Path) -> None:
    """One for datagrams: whoever it belongs to, it is not ours to remove."""
    path = tmp_path / "api"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        other.bind(str(path))
        await refusal(plane, f"unix:{path}")
        assert path.is_socket()
