"""Logs, metrics, events and the shell's environment."""

import asyncio
import http.client
import json
import logging
import socket
import ssl
import sys
import threading
import urllib.error
import urllib.request
from contextlib import ExitStack, suppress
from dataclasses import FrozenInstanceError
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import generate_latest
from rich.console import Console
from switches import WAIT, MemorySwitch, packet_to, until

from fcn.contract.transport import ServerFiles
from fcn.contract.version import fcn_version
from fcn.controller.app import ControlPlane
from fcn.controller.cli.shell import ShellError, open_shell
from fcn.controller.clock import SYSTEM_CLOCK
from fcn.controller.config import Config, parse_config
from fcn.controller.events import QUEUE_SIZE, EventBus, Kind
from fcn.controller.flows.key import FlowKey
from fcn.controller.logs import JsonFormatter, KeyValueFormatter
from fcn.controller.node.connection import State
from fcn.controller.northbound import metrics, probes
from fcn.controller.northbound.snapshot import take_snapshot
from fcn.controller.pki.folder import make, parse_holder, revoke
from fcn.controller.proto import fcn_pb2 as pb
from fcn.controller.timings import Timings


def free_port() -> int:
    """An unused TCP port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port


def record(**fields: str) -> logging.LogRecord:
    made = logging.makeLogRecord({"msg": "it %s", "args": ("happened",), "name": "fcn", **fields})
    made.levelname = "INFO"
    return made


def test_key_value_lines_quote_what_needs_it() -> None:
    line = KeyValueFormatter().format(record(node="pe1", why='a "b"', empty=""))
    assert line.endswith('INFO fcn: it happened node=pe1 why="a \\"b\\"" empty=""')


def test_json_lines_have_the_fields() -> None:
    data = json.loads(JsonFormatter().format(record(node="pe1")))
    assert (data["message"], data["level"], data["node"]) == ("it happened", "INFO", "pe1")


def test_traceback_is_kept() -> None:
    try:
        raise ValueError("why")
    except ValueError as error:
        made = record()
        made.exc_info = (ValueError, error, error.__traceback__)
    assert "ValueError: why" in KeyValueFormatter().format(made)
    assert "ValueError: why" in json.loads(JsonFormatter().format(made))["traceback"]


async def test_slow_watcher_loses_the_oldest_events_and_is_told() -> None:
    bus = EventBus(SYSTEM_CLOCK)
    with bus.watch() as events:
        for number in range(QUEUE_SIZE + 3):
            # Each of another tenant: events of one are limited.
            bus.emit(Kind.FEATURES, "pe1", str(number), vrf=number)
        first, second = await anext(events), await anext(events)
    assert first.kind is Kind.LOST
    assert first.message.startswith("3 events were lost")
    assert second.message == "3"


async def test_watching_ends_with_the_context() -> None:
    bus = EventBus(SYSTEM_CLOCK)
    with bus.watch():
        pass
    for number in range(QUEUE_SIZE + 1):
        bus.emit(Kind.FEATURES, "pe1", str(number))


async def test_clients_of_metrics_that_are_silent_are_left(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each would occupy a thread and a descriptor for good."""
    monkeypatch.setattr(metrics._Handler, "timeout", 0.2)

    def connect(port: int) -> bytes:
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(4)]
        clients[0].sendall(b"GET /metrics HT")
        for client in clients:
            assert client.recv(1) == b""
            client.close()
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            return bytes(answer.read())

    def serving() -> int:
        return sum("process_request" in thread.name for thread in threading.enumerate())

    with metrics.serving_metrics(ControlPlane(config).metrics, "127.0.0.1:0") as port:
        async with asyncio.timeout(WAIT):
            assert b"fcn_node_up" in await asyncio.to_thread(connect, port)
        await until(lambda: not serving())


@pytest.mark.parametrize("with_tls", [False, True])
async def test_clients_of_metrics_that_hold_on_give_way(
    config: Config, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_tls: bool
) -> None:
    """Those that are not silent, but never done, would let a supervisor take the controller for
    dead."""
    files, context, scheme = None, None, "http"
    if with_tls:
        make(tmp_path, [parse_holder("read-only:prometheus")])
        names = ("certificate.pem", "key.pem", "operators-ca.pem", "operators-crl.pem")
        files = ServerFiles(*(tmp_path / "controller" / name for name in names))
        home = tmp_path / "operators" / "prometheus"
        context = ssl.create_default_context(cafile=str(home / "ca.pem"))
        context.load_cert_chain(home / "certificate.pem", home / "key.pem")
        scheme = "https"
    monkeypatch.setattr(metrics._Handler, "timeout", WAIT)
    monkeypatch.setattr(metrics, "CLIENT_TIMEOUT", WAIT)
    # Beside the threads that other tests have left.
    monkeypatch.setattr(metrics, "CLIENTS", threading.active_count() + 4)

    def ask(port: int, context: ssl.SSLContext | None) -> bytes:
        url = f"{scheme}://127.0.0.1:{port}/healthz"
        with urllib.request.urlopen(url, context=context, timeout=WAIT) as answer:
            return bytes(answer.read())

    with (
        metrics.serving_metrics(ControlPlane(config).metrics, "127.0.0.1:0", files) as port,
        ExitStack() as stack,
    ):
        for _ in range(2 * metrics.CLIENTS):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            client.sendall(b"\x16" if with_tls else b"GET /healthz HTTP/1.1\r\nX: ")
        for _ in range(3):
            # Threads of those that gave way may have had no turn to end; it is asked again then.
            for _again in range(100):
                with suppress(ConnectionError, urllib.error.URLError):
                    assert b"true" in await asyncio.to_thread(ask, port, context)
                    break
            else:
                pytest.fail("nobody gave way")


async def test_metrics_show_nodes_flows_and_counters(
    network: dict[str, Any], switches: dict[str, MemorySwitch]
) -> None:
    """Prometheus gets the latest snapshot."""
    network["metrics"] = f"127.0.0.1:{free_port()}"
    network["nodes"]["pe2"]["features"] = ["learning"]
    url = f"http://{network['metrics']}/metrics"

    async def served() -> str:
        def read() -> str:
            with urllib.request.urlopen(url) as answer:
                return str(answer.read().decode())

        return await asyncio.to_thread(read)

    plane = ControlPlane(parse_config(yaml.safe_dump(network)))
    async with plane.running():
        assert 'fcn_node_up{node="pe1"} 0.0' in await served()
        await until(lambda: all(a.status.state is State.UP for a in plane.nodes.values()))
        switches["pe1"].engine.digest("new_flow_ipv4_t", packet_to(33))
        await until(lambda: plane.flows.all())
        await plane.nodes["pe1"].counters.read()
        expected = (
            'fcn_flows{node="pe1",source_qp="unknown"} 1.0',
            'fcn_switch_packets_total{counter="drops",name="NO_ROUTE",node="pe1"} 0.0',
            'fcn_switch_octets_total{counter="drops",name="NO_ROUTE",node="pe1"} 0.0',
            'fcn_report_latency_seconds_count{node="pe1"} 1.0',
        )
        text = ""
        async with asyncio.timeout(30):
            while not all(line in text for line in expected):
                text = await served()
    assert 'fcn_node_up{node="pe1"} 1.0' in text
    assert 'fcn_labels{state="used"} 1.0' in text
    assert f'fcn_build_info{{version="{fcn_version()}"}} 1.0' in text
    assert "process_cpu_seconds_total" in text
    # A P node labels no flows.
    assert 'fcn_flows{node="p1"' not in text
    assert 'fcn_node_feature{feature="notification",node="p1"} 1.0' in text
    assert 'fcn_node_feature{feature="learning",node="pe2"} 1.0' in text
    assert 'fcn_node_feature{feature="translation",node="pe2"} 0.0' in text
    assert 'fcn_node_feature{feature="learning",node="p1"}' not in text


async def test_a_supervisor_hears_whether_the_controller_lives_and_is_ready(
    network: dict[str, Any], switches: dict[str, MemorySwitch], monkeypatch: pytest.MonkeyPatch
) -> None:
    network["metrics"] = f"127.0.0.1:{free_port()}"

    async def asked(path: str) -> tuple[int, dict[str, Any]]:
        def read() -> tuple[int, dict[str, Any]]:
            try:
                with urllib.request.urlopen(f"http://{network['metrics']}{path}") as answer:
                    return answer.status, json.load(answer)
            except urllib.error.HTTPError as error:
                return error.code, json.load(error)

        return await asyncio.to_thread(read)

    plane = ControlPlane(parse_config(yaml.safe_dump(network)))
    await switches["p1"].stop()
    async with plane.running():
        code, body = await asked("/readyz")
        assert (code, body["ready"]) == (503, False)
        nobody = f"no session with {switches['p1'].address}"
        assert body["waiting_for"]["p1"].startswith(f"connecting: {nobody}")
        await switches["p1"].start()
        async with asyncio.timeout(WAIT):
            while code != 200:
                code, body = await asked("/ready")
        assert body == {"ready": True, "waiting_for": {}}
        assert await asked("/healthz") == (200, {"healthy": True})
        assert (await asked("/"))[0] == 404
        monkeypatch.setattr(probes, "STALE", -1.0)
        code, body = await asked("/healthz")
        assert (code, body["healthy"]) == (503, False)
        # Of what a controller that stands still last saw nobody knows whether it is still so.
        code, body = await asked("/ready")
        assert (code, body["ready"]) == (503, False)
        assert "the event loop has stood still" in body["reason"]


async def test_metrics_over_tls_are_for_those_with_a_certificate(
    config: Config, tmp_path: Path
) -> None:
    make(tmp_path, [parse_holder("agent:gpu-1"), parse_holder("read-only:prometheus")])
    own = tmp_path / "controller"
    names = ("certificate.pem", "key.pem", "operators-ca.pem", "operators-crl.pem")
    files = ServerFiles(*(own / name for name in names))

    def ask(port: int, folder: str, path: str = "/metrics") -> bytes:
        home = tmp_path / folder
        context = ssl.create_default_context(cafile=str(tmp_path / "operators/admin/ca.pem"))
        if folder:
            context.load_cert_chain(home / "certificate.pem", home / "key.pem")
        url = f"https://127.0.0.1:{port}{path}"
        with urllib.request.urlopen(url, context=context, timeout=WAIT) as answer:
            return bytes(answer.read())

    with metrics.serving_metrics(ControlPlane(config).metrics, "127.0.0.1:0", files) as port:
        # Who says nothing keeps nobody else waiting.
        silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(4)]
        holder = "operators/prometheus"
        assert b"fcn_node_up" in await asyncio.to_thread(ask, port, holder)
        assert b"true" in await asyncio.to_thread(ask, port, holder, "/healthz")
        for stranger in ("", "agents/gpu-1"):
            with pytest.raises(OSError, match=r"(?i)certificate|eof|reset|alert"):
                await asyncio.to_thread(ask, port, stranger)
        plain = f"http://127.0.0.1:{port}/metrics"
        with pytest.raises((OSError, http.client.HTTPException)):
            await asyncio.to_thread(urllib.request.urlopen, plain, timeout=WAIT)
        revoke(tmp_path, parse_holder("read-only:prometheus"))
        with pytest.raises((OSError, http.client.HTTPException)):
            await asyncio.to_thread(ask, port, holder)
        for each in silent:
            each.close()


async def test_latency_is_among_the_metrics(config: Config) -> None:
    plane = ControlPlane(config)
    lag = Timings()
    for seconds in (0.0005, 0.03, 0.03, 60.0):
        lag.observe(seconds)
    plane.flows.regions.silent = {("east", "east-1"): "", ("east", "east-2"): "refused"}
    plane.metrics.show(take_snapshot(plane.network, lag.now(), {"x.pem": 7.0}))
    text = generate_latest(plane.metrics).decode()
    for line in (
        'fcn_loop_lag_seconds_bucket{le="0.001"} 1.0',
        'fcn_loop_lag_seconds_bucket{le="0.05"} 3.0',
        'fcn_loop_lag_seconds_bucket{le="10.0"} 3.0',
        'fcn_loop_lag_seconds_bucket{le="+Inf"} 4.0',
        "fcn_loop_lag_seconds_sum 60.0605",
        'fcn_write_latency_seconds_count{node="p1"} 0.0',
        'fcn_report_latency_seconds_count{node="pe1"} 0.0',
        'fcn_node_lists_lost_total{node="pe1"} 0.0',
        'fcn_certificate_expires{file="x.pem"} 7.0',
        'fcn_region_heard{controller="east-1",region="east"} 1.0',
        'fcn_region_heard{controller="east-2",region="east"} 0.0',
    ):
        assert line in text
    assert 'fcn_report_latency_seconds_count{node="p1"}' not in text


async def test_metrics_are_those_of_a_snapshot(config: Config) -> None:
    """The HTTP server's thread has no access to later changes."""
    plane = ControlPlane(config)
    key = FlowKey("blue", ip_address("10.1.0.10"), ip_address("10.2.0.20"), 33)
    before = generate_latest(plane.metrics)
    with pytest.raises(FrozenInstanceError):
        setattr(take_snapshot(plane.network), "counters", {})  # noqa: B010
    plane.flows.add(key, 17)
    assert generate_latest(plane.metrics) == before
    plane.metrics.show(take_snapshot(plane.network))
    assert b'fcn_flows{node="pe1",source_qp="known"} 1.0' in generate_latest(plane.metrics)


def test_shell_explains_when_it_cannot_be_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its `venv` makes a Python whose `pip` fails."""
    python = tmp_path / "python"
    fails = "printf '#!/bin/sh\\necho no route >&2; exit 1' > \"$3/bin/python\""
    python.write_text(f'#!/bin/sh\nmkdir -p "$3/bin"; {fails}; chmod +x "$3/bin/python"\n')
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(ShellError, match=r"failed: no route; the shell needs the network once"):
        open_shell(pb.NodeStatus(grpc="127.0.0.1:1", device_id=1), Console(quiet=True))
    assert not (tmp_path / "fcn" / "p4runtime-shell" / "complete").exists()
