"""The live page that `fcn run` starts, and that ends with it."""

import re
import signal
import socket
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from fcn import controller
from fcn.hosts.processes import Process, wait_until

EXAMPLE = Path(controller.__file__).parent / "examples" / "network.yaml"
PATIENCE_S = 120.0
ADDRESS = re.compile(r"live page of the controller at \S+: (http://\S+)")


@contextmanager
def controller_with(folder: Path, page: str) -> Iterator[Process]:
    """`fcn run` with a page; its switches are away."""
    data = yaml.safe_load(EXAMPLE.read_text())
    data |= {"api": f"unix:{folder}/api", "page": page}
    del data["metrics"]
    file = folder / "network.yaml"
    file.write_text(yaml.safe_dump(data))
    command: list[str | Path] = [sys.executable, "-m", "fcn.controller.cli.main", "run", "-c", file]
    with Process("fcn run", command, folder / "log") as process:
        yield process


def answers(address: str) -> bool:
    """Whether the page is served there."""
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return b"<title>fcn live</title>" in answer.read()
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_page_ends_with_the_controller(tmp_path: Path, number: signal.Signals) -> None:
    with controller_with(tmp_path, "127.0.0.1:0") as process:
        process.wait_ready(lambda: ADDRESS.search(process.log.read_text()) is not None, PATIENCE_S)
        found = ADDRESS.search(process.log.read_text())
        assert found is not None
        wait_until(lambda: answers(found[1]), PATIENCE_S, "the page is served")
        process.send(number)
        process.wait(PATIENCE_S)
    wait_until(lambda: not answers(found[1]), PATIENCE_S, "the page is gone")


def test_a_page_that_cannot_be_served_ends_no_controller(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        listen = f"127.0.0.1:{other.getsockname()[1]}"
        with controller_with(tmp_path, listen) as process:
            process.wait_ready(lambda: "the live page ended" in process.log.read_text(), PATIENCE_S)
            assert f"cannot serve the page on {listen}" in process.log.read_text()
            process.send(signal.SIGTERM)
            assert process.wait(PATIENCE_S) == 0
