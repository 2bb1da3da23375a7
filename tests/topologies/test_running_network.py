"""`fcn topo run failover`: its links cut and mended, and traffic sent, by commands."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
import typer
from process_tree import descendants, ended
from typer.testing import CliRunner

from fcn.controller.northbound.client import ControllerError, FcnClient
from fcn.hosts.processes import wait_until
from fcn.topologies.running import RunningError, configuration, hosts
from fcn.topologies.traffic import traffic

PATIENCE_S = 180.0


@dataclass(frozen=True)
class Network:
    """One that runs, and what it said when it was ready."""

    out: Path
    said: str

    @property
    def api(self) -> str:
        return f"unix:{self.out}/api/fcn.sock"

    def command(self, module: str, *arguments: str) -> list[str]:
        return [
            sys.executable,
            "-m",
            f"fcn.topologies.{module}",
            *arguments,
            "--out",
            str(self.out),
        ]


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    if os.geteuid() != 0:
        pytest.skip("Mininet needs root")
    out = tmp_path_factory.mktemp("failover")
    run = [sys.executable, "-m", "fcn.topologies.run", "failover", "--target", "softswitch"]
    with subprocess.Popen([*run, "--out", str(out)], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        try:
            said = ""
            while "ends it" not in said:
                line = running.stdout.readline()
                assert line, f"never started: {said}"
                said += line
            yield Network(out, said)
        finally:
            running.terminate()
            running.wait()


def first_path(api: str) -> str:
    """State of the first path of pe1; nothing while nobody knows it."""
    try:
        with FcnClient(api) as client:
            policies = client.paths("pe1")
    except ControllerError:
        return ""
    return policies[0].paths[0].state if policies else ""


def test_a_path_fails_and_is_well_again(network: Network) -> None:
    assert f"topo cut r1:r3 --out {network.out}" in network.said
    wait_until(lambda: first_path(network.api) == "up", PATIENCE_S, "the path is up")
    subprocess.run(network.command("cables", "cut", "r1:r3"), check=True)
    wait_until(lambda: first_path(network.api) == "failed", PATIENCE_S, "the path has failed")
    subprocess.run(network.command("cables", "mend", "r3:r1"), check=True)
    wait_until(lambda: first_path(network.api) == "up", PATIENCE_S, "the path is up again")


def labelled(api: str) -> int:
    """Labels of flows."""
    with FcnClient(api) as client:
        return client.status().labels_in_use


def test_traffic_is_sent_until_it_is_ended(network: Network) -> None:
    assert f"topo traffic h1 h3 --out {network.out}" in network.said
    command = network.command("traffic", "h1", "h3", "--ipv6")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as sending:
        assert sending.stdout is not None
        said = ""
        while "ends it" not in said:
            line = sending.stdout.readline()
            assert line, f"never started: {said}"
            said += line
        assert f"flows list --api {network.api}" in said
        wait_until(lambda: labelled(network.api) > 0, PATIENCE_S, "the flow has a label")
        again = subprocess.run(
            network.command("traffic", "h2", "h3"), capture_output=True, text=True, check=False
        )
        assert again.returncode == 1
        assert "h3 sends or receives already" in again.stderr
        sending.send_signal(signal.SIGINT)
        said = sending.stdout.read()
    assert sending.returncode == 0
    sent = re.search(r"h1 sent (\d+) packets", said)
    assert sent is not None, said
    assert int(sent[1]) > 0


def test_traffic_does_not_outlive_its_command(network: Network) -> None:
    command = network.command("traffic", "h2", "h4")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as sending:
        assert sending.stdout is not None
        while "ends it" not in sending.stdout.readline():
            assert sending.poll() is None
        started = descendants(sending.pid)
        assert len(started) == 2, "a sender and a receiver"
        sending.kill()
        wait_until(partial(ended, started), PATIENCE_S, "both have ended")


@pytest.mark.parametrize("name", ["h9", "pe2"])
def test_a_host_that_is_not_there(network: Network, name: str) -> None:
    reason = f"no host {name} in that network; there are h1, h2"
    with pytest.raises(RunningError, match=reason):
        list(hosts(configuration(network.out), ("h1", name)))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [(("h1", "h1"), "h1 cannot send to itself"), (("h1", "h3", "--rate", "ten"), "--rate: ")],
)
def test_what_is_mistyped(arguments: tuple[str, ...], reason: str) -> None:
    app = typer.Typer()
    app.command()(traffic)
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, arguments)
    assert done.exit_code == 2
    assert reason in done.stderr
