"""The page over HTTP: what it serves, to whom, and what it says while the controller is away."""

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from page_process import WAIT, page_running
from scripted_controller import ScriptedController, flow, line_network, network

from fcn.page import address, server
from fcn.page.address import PageError
from fcn.page.hub import FRAMES, FullError, Hub
from fcn.page.model import Frame
from fcn.page.server import FILES

Message = tuple[str, Any]


@pytest.fixture
def controller() -> ScriptedController:
    return ScriptedController(line_network())


@pytest.fixture
def api(tmp_path: Path) -> str:
    return f"unix:{tmp_path}/api"


@pytest.fixture(scope="module")
def lonely(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page without a controller."""
    with page_running(f"unix:{tmp_path_factory.mktemp('lonely')}/api") as address:
        yield address


def get(
    address: str,
    path: str,
    host: str | None = None,
    method: str = "GET",
    site: str | None = None,
    origin: str | None = None,
) -> http.client.HTTPResponse:
    """An answer, of which the headers were read."""
    place = urlsplit(address)
    connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=WAIT)
    headers = {"Host": host, "Sec-Fetch-Site": site, "Origin": origin}
    connection.request(method, path, headers={name: v for name, v in headers.items() if v})
    return connection.getresponse()


@contextmanager
def stream_of(address: str) -> Iterator[Iterator[Message]]:
    """Server-sent events, as they come."""

    def read() -> Iterator[Message]:
        name = ""
        for line in answer:
            head, _, value = line.decode().strip().partition(": ")
            if head == "event":
                name = value
            elif head == "data":
                yield name, json.loads(value)

    with get(address, "/stream") as answer:
        assert answer.headers.get_content_type() == "text/event-stream"
        yield read()


def first(messages: Iterator[Message], name: str, fits: Callable[[Any], bool]) -> Any:  # noqa: ANN401
    """The first message of this name that fits."""
    return next(value for each, value in messages if each == name and fits(value))


def test_a_browser_is_told_of_the_network(controller: ScriptedController, api: str) -> None:
    controller.flows = [flow(1, notifications=3)]
    with controller.serving(api), page_running(api) as address, stream_of(address) as messages:
        places = first(messages, "picture", bool)["places"]
        assert [place["name"] for place in places][:4] == ["pe1", "p1", "p2", "pe2"]
        rows = first(messages, "flows", lambda flows: flows["total"])["rows"]
        assert rows[0]["notifications"] == 3
        controller.tell("link-down", "p1", "p1: the link is down")
        frame = first(messages, "frame", lambda frame: frame["events"])
        assert frame["events"][0]["message"] == "p1: the link is down"
        controller.grow("p2", "notifications_sent", "FAST_CNP_SENT", 40)
        frame = first(messages, "frame", lambda frame: frame["travels"])
        assert frame["travels"][0]["count"] == 40


def test_a_controller_that_is_away_and_comes_back(controller: ScriptedController, api: str) -> None:
    with page_running(api) as address, stream_of(address) as messages:
        problem = first(messages, "frame", lambda frame: frame["problem"])["problem"]
        assert problem.startswith(f"no controller answers at {api}; start one with")
        with controller.serving(api):
            first(messages, "picture", bool)
            first(messages, "frame", lambda frame: not frame["problem"] and frame["nodes"])
        first(messages, "frame", lambda frame: frame["problem"])
        with controller.serving(api):
            # The same network: what was seen before stays.
            name, frame = next(each for each in messages if not each[1].get("problem"))
            assert name == "frame"
            assert frame["nodes"]


def test_another_network_is_put_in_force(controller: ScriptedController, api: str) -> None:
    """As by SIGHUP: the controller goes on, with another node that says something."""
    with controller.serving(api), page_running(api) as address, stream_of(address) as messages:
        first(messages, "picture", bool)
        controller.network = network({"pe1": "pe", "p9": "p"}, [("pe1", 2, "p9", 1)])
        controller.tell("configured", "", "the file is in force")
        places = first(messages, "picture", bool)["places"]
        assert [place["name"] for place in places] == ["pe1", "p9", "pe1/dc"]
        first(messages, "frame", lambda frame: len(frame["nodes"]) == 2)
        controller.grow("p9", "notifications_sent", "ARN_SENT", 3)
        assert first(messages, "frame", lambda frame: frame["travels"])["travels"][0]["count"] == 3


def test_flows_that_cannot_be_listed_hide_nothing_else(
    controller: ScriptedController, api: str
) -> None:
    """As when a switch goes away while its counters are read."""
    controller.flows_refused = "pe1 is away; its counters cannot be read"
    with controller.serving(api), page_running(api) as address, stream_of(address) as messages:
        frames = (value for name, value in messages if name == "frame")
        for _ in range(3):
            frame = next(frames)
            assert frame["nodes"]
            assert not frame["problem"]
        assert "flows" in controller.asked


def test_every_file_has_the_headers_that_keep_strangers_out(lonely: str) -> None:
    for path in FILES:
        with get(lonely, path) as answer:
            assert answer.status == 200, path
            policy = answer.headers["Content-Security-Policy"]
            assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
            assert "unsafe" not in policy
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert answer.read()
    assert get(lonely, "/../pyproject.toml").status == 404
    assert get(lonely, "/__main__.py").status == 404


def test_the_page_of_somebody_else_takes_no_place_of_a_viewer(lonely: str) -> None:
    """Whose script it is, browsers say."""
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200)):
        assert get(lonely, "/stream", site=site).status == status
    # Browsers that do not say it, and those that open a WebSocket.
    assert get(lonely, "/stream", origin="http://evil.example").status == 403


async def test_who_never_reads_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a browser whose machine sleeps: megabytes wait for it, and it has a viewer's place."""
    monkeypatch.setattr(server, "UNREAD", 1)
    monkeypatch.setattr("fcn.page.hub.VIEWERS", 1)
    hub = Hub()
    for _ in range(FRAMES):
        hub.show(Frame(1.0, problem="x" * 100_000))
    with socket.create_server(("127.0.0.1", 0)) as listening, socket.socket() as sleeper:
        serving = asyncio.create_task(server.serve(hub, listening))
        # It runs until it waits for connections, so that this one inherits what it sets.
        await asyncio.sleep(0)
        sleeper.connect(listening.getsockname())
        sleeper.setblocking(False)
        sleeper.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        async with asyncio.timeout(WAIT):
            assert await asyncio.get_running_loop().sock_recv(sleeper, 1)
            with pytest.raises(FullError):
                hub.look()
            while _is_full(hub):  # noqa: ASYNC110 - the kernel says it
                await asyncio.sleep(0.05)
            assert not serving.done()
            os.kill(os.getpid(), signal.SIGTERM)
            await serving


def _is_full(hub: Hub) -> bool:
    try:
        hub.look()
    except FullError:
        return True
    return False


def test_the_page_only_shows(lonely: str) -> None:
    for path in (*FILES, "/stream"):
        for method in ("POST", "PUT", "DELETE", "PATCH"):
            assert get(lonely, path, method=method).status == 405


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:9664", 200),
        ("127.0.0.1", 200),
        ("[::1]:9664", 200),
        ("evil.example", 400),
        ("evil.example:9664", 400),
        ("127.0.0.1.evil.example", 400),
        ("localhost.evil.example", 400),
    ],
)
def test_only_by_a_name_of_this_machine(lonely: str, host: str, status: int) -> None:
    assert get(lonely, "/", host=host).status == status
    if status != 200:
        assert get(lonely, "/stream", host=host).status == status


@pytest.mark.parametrize("listen", ["0.0.0.0:9664", "192.0.2.1:9664", "[::]:9664", "unix:/tmp/a"])
def test_an_address_that_others_reach_is_refused(listen: str) -> None:
    with pytest.raises(PageError, match="is no loopback address"):
        address.listen(listen)


def test_a_port_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        listen = f"127.0.0.1:{other.getsockname()[1]}"
        command = [sys.executable, "-m", "fcn.page", "--listen", listen]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=WAIT)
    assert done.returncode == 1
    assert f"cannot serve the page on {listen}: " in done.stderr


def test_a_socket_of_another_namespace_is_served(controller: ScriptedController, api: str) -> None:
    """One that listens already, as topologies hand on."""
    with socket.create_server(("127.0.0.1", 0)) as listening, controller.serving(api):
        port = listening.getsockname()[1]
        command = [sys.executable, "-m", "fcn.page", "--api", api, "--fd", str(listening.fileno())]
        process = subprocess.Popen(command, pass_fds=[listening.fileno()], stdout=subprocess.PIPE)
        try:
            with stream_of(f"http://127.0.0.1:{port}/") as messages:
                first(messages, "picture", bool)
        finally:
            process.terminate()
            process.wait(WAIT)


async def test_many_connections_take_no_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "CONNECTIONS", 2)
    hub, listening = Hub(), socket.create_server(("127.0.0.1", 0))
    address = listening.getsockname()
    serving = asyncio.create_task(server.serve(hub, listening))

    def answer(client: socket.socket) -> bytes:
        with suppress(ConnectionError):
            client.sendall(b"GET /page.css HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return client.recv(15)
        return b""

    def crowd() -> list[bytes]:
        with ExitStack() as stack:
            many = [
                stack.enter_context(socket.create_connection(address, timeout=WAIT))
                for _ in range(200)
            ]
            return [answer(client) for client in many]

    async with asyncio.timeout(WAIT):
        answers = await asyncio.to_thread(crowd)
        assert answers == [b"HTTP/1.1 200 OK"] * 2 + [b""] * 198
        # Who looks meanwhile finds a place when one has left.
        while not await asyncio.to_thread(_served, address):
            pass
    os.kill(os.getpid(), signal.SIGTERM)
    await serving


def _served(address: tuple[str, int]) -> bool:
    try:
        return get(f"http://{address[0]}:{address[1]}/", "/").status == 200
    except (ConnectionError, http.client.HTTPException):
        return False


async def test_connections_on_which_nobody_asks_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "IDLE", 0.2)
    hub, listening = Hub(), socket.create_server(("127.0.0.1", 0))
    address = listening.getsockname()
    serving = asyncio.create_task(server.serve(hub, listening))

    def closed(*said: bytes) -> bool:
        with socket.create_connection(address, timeout=WAIT) as client:
            for part in said:
                client.sendall(part)
            rest = b""
            while octets := client.recv(65536):
                rest += octets
            return not rest or b"200 OK" in rest

    half = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
    for said in ((), (b"GET /page.css HT",), (half,), (half + b"\r\n", half)):
        async with asyncio.timeout(WAIT):
            assert await asyncio.to_thread(closed, *said)
    with await asyncio.to_thread(socket.create_connection, address, WAIT) as client:
        # What is streamed goes on, however long nothing is asked for.
        client.sendall(b"GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await asyncio.sleep(1)
        hub.show(Frame(7.0, problem="still here"))
        found = b""
        while b"still here" not in found:
            octets = await asyncio.to_thread(client.recv, 65536)
            assert octets
            found += octets
    os.kill(os.getpid(), signal.SIGTERM)
    await serving
