"""Host agents and controller over mutual TLS: accepted and refused reports (FCN-3 a)."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import grpc
import pytest
import yaml
from switches import WAIT, MemorySwitch, plane_up, until
from tenants import BLUE, DC_PORT

from fcn.contract.certificates import TlsFileError
from fcn.contract.rpc import Stub
from fcn.controller.app import ControlPlane
from fcn.controller.config import Config, ConfigError, parse_config
from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.shares import Host
from fcn.controller.hostagent.agent import AgentError, Credentials, HostAgent, run_agent
from fcn.controller.hostagent.rdma import RdmaError
from fcn.controller.hostagent.reports import MIN_INTERVAL, Device, HostRefusal
from fcn.controller.hostagent.service import MAX_REQUEST, HostAgentService
from fcn.controller.pace import TURN
from fcn.controller.pki.folder import make, parse_holder, revoke
from fcn.controller.proto import hostagent_pb2 as pb

pytestmark = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="openssl is not installed (Debian package openssl)"
)

A, B = ip_address("10.1.0.10"), ip_address("10.2.0.20")
HOSTS = {"host-a": A, "host-b": B}
FORTH, BACK = FlowKey("blue", A, B, 33), FlowKey("blue", B, A, 17)
DATA = (BLUE, int(A), int(B), 33, 0xFFFF, 5, 50000, 0x24, DC_PORT)
"""A UC SEND: its source is inferred from nothing."""

QUEUE_PAIRS = ((17, 33), (18, 34))


class Authority:
    """A CA and its certificates, in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        self.ca = folder / "ca.pem"
        self._openssl(
            *("req", "-x509", "-subj", "/CN=test CA", "-keyout", folder / "ca.key"),
            *("-out", self.ca, "-days", "2"),
        )

    def credentials(self, name: str, signer: Credentials | None = None) -> Credentials:
        """Certificate and key for a name, as docs/learning.md makes them; with `signer` not the
        CA's: signed by another host's key."""
        key, certificate = self._folder / f"{name}.key", self._folder / f"{name}.pem"
        by = (signer.certificate, signer.key) if signer else (self.ca, self._folder / "ca.key")
        self._openssl(
            *("req", "-x509", "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"),
            *("-addext", "basicConstraints=critical,CA:FALSE", "-CA", by[0], "-CAkey", by[1]),
            *("-keyout", key, "-out", certificate, "-days", "2"),
        )
        if signer:
            certificate.write_bytes(certificate.read_bytes() + signer.certificate.read_bytes())
        return Credentials(certificate, key, self.ca)

    @staticmethod
    def _openssl(*arguments: str | Path) -> None:
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
        subprocess.run(["openssl", *arguments, *curve], check=True, capture_output=True)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls") / "ours")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls") / "theirs")


def with_agents(network: dict[str, Any], authority: Authority) -> dict[str, Any]:
    server = authority.credentials("localhost")
    network["host_agents"] = {
        "listen": "127.0.0.1:0",
        "certificate": str(server.certificate),
        "key": str(server.key),
        "ca": str(server.ca),
        "hosts": {
            "host-a": {"vrf": "blue", "addresses": [str(A)]},
            "host-b": {"vrf": "blue", "addresses": [str(B)]},
        },
    }
    for node in network["nodes"].values():
        node["features"] = "all"
    return network


@pytest.fixture
async def plane(
    network: dict[str, Any], switches: dict[str, MemorySwitch], authority: Authority
) -> AsyncIterator[ControlPlane]:
    """A control plane with one flow of unknown source."""
    async with plane_up(parse_config(yaml.safe_dump(with_agents(network, authority)))) as found:
        switches["pe1"].engine.digest("new_flow_ipv4_t", DATA)
        await until(lambda: FORTH in found.flows.on_node("pe1"))
        yield found


def device(*addresses: Any, pairs: Sequence[tuple[int, int]] = QUEUE_PAIRS) -> Device:  # noqa: ANN401
    return Device("rxe0", addresses or (A,), tuple(pairs))


@asynccontextmanager
async def agent(plane: ControlPlane, credentials: Credentials) -> AsyncIterator[HostAgent]:
    async with credentials.channel(plane.agents_address, "localhost") as channel:
        yield HostAgent(channel)


async def refusal(
    plane: ControlPlane, credentials: Credentials, *devices: Device
) -> tuple[grpc.StatusCode, str]:
    async with agent(plane, credentials) as host:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await host.report(devices)
        return caught.value.code(), caught.value.details() or ""


async def test_the_second_report_names_the_source(
    plane: ControlPlane, authority: Authority
) -> None:
    async with agent(plane, authority.credentials("host-a")) as host:
        assert (await host.report([device()])).learned == 0
        await asyncio.sleep(2 * MIN_INTERVAL)
        answer = await host.report([device()])
        assert (answer.learned, answer.ambiguous) == (1, 0)
        flow = plane.flows.on_node("pe1")[FORTH]
        assert (flow.source_qp, flow.origin, flow.watched) == (17, "agent", False)
        await asyncio.sleep(2 * MIN_INTERVAL)
        assert (await host.report([device()])).learned == 0
        await asyncio.sleep(2 * MIN_INTERVAL)
        assert (await host.report([device(pairs=[(19, 33)])])).learned == 1
        assert plane.flows.on_node("pe1")[FORTH].source_qp == 19
    assert plane.reports.accepted == {"host-a": 4}


async def test_a_report_costs_the_flows_of_its_host(
    plane: ControlPlane, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not those of all tenants, times all hosts that report."""
    looked_at = []
    plane.flows.add(FlowKey("blue", A, B, 40), 50)
    plane.flows.add(BACK, 33)
    monkeypatch.setattr(plane.flows, "all", None)
    monkeypatch.setattr(plane.reports, "sender", lambda key, _since: looked_at.append(key))
    async with agent(plane, authority.credentials("host-a")) as host:
        await host.report([device()])
    assert looked_at == [FORTH]


async def test_two_candidates_stay_unknown(plane: ControlPlane, authority: Authority) -> None:
    async with agent(plane, authority.credentials("host-a")) as host:
        pairs = [(17, 33), (18, 33)]
        await host.report([device(pairs=pairs)])
        await asyncio.sleep(2 * MIN_INTERVAL)
        answer = await host.report([device(pairs=pairs)])
    assert (answer.learned, answer.ambiguous) == (0, 1)
    assert plane.flows.on_node("pe1")[FORTH].source_qp is None


async def test_what_people_registered_stands(plane: ControlPlane, authority: Authority) -> None:
    plane.flows.add(FORTH, 99)
    async with agent(plane, authority.credentials("host-a")) as host:
        await host.report([device()])
        await asyncio.sleep(2 * MIN_INTERVAL)
        assert (await host.report([device()])).learned == 0
    assert plane.flows.on_node("pe1")[FORTH].source_qp == 99


async def test_refused_reports_are_logged_and_counted(
    plane: ControlPlane, authority: Authority
) -> None:
    with plane.bus.watch() as events:
        code, text = await refusal(plane, authority.credentials("host-a"), device(B))
        assert code == grpc.StatusCode.PERMISSION_DENIED
        assert "10.2.0.20 is not among the addresses of host-a" in text
        code, text = await refusal(
            plane, authority.credentials("host-b"), device(B, pairs=[(1, 5)])
        )
        assert code == grpc.StatusCode.INVALID_ARGUMENT
        code, text = await refusal(plane, authority.credentials("host-z"), device())
        assert code == grpc.StatusCode.PERMISSION_DENIED
        assert "host-z" in text
        refused: list[str] = []
        async with asyncio.timeout(WAIT):
            while len(refused) < 3:
                event = await anext(events)
                if event.kind == "agent-refused":
                    refused.append(event.fields["host"])
    assert refused == ["host-a", "host-b", "host-z"]
    assert plane.reports.refused == {
        HostRefusal.FOREIGN_ADDRESS: 1,
        HostRefusal.NONSENSE: 1,
        HostRefusal.UNKNOWN_HOST: 1,
    }


async def test_addresses_that_are_none_are_refused(
    plane: ControlPlane, authority: Authority
) -> None:
    credentials = authority.credentials("host-a")
    async with credentials.channel(plane.agents_address, "localhost") as channel:
        stub = Stub(channel, pb.DESCRIPTOR.services_by_name["HostAgents"])
        request = pb.ReportRequest(devices=[pb.RdmaDevice(name="x", addresses=["10.1.0"])])
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.Report(request)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT


async def test_the_limit_counts_before_a_report_is_parsed(
    plane: ControlPlane, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Octets that are no report cost their host the next one, and are looked at once."""
    monkeypatch.setattr(plane.reports, "_clock", lambda: 1000.0)
    credentials = authority.credentials("host-a")
    async with credentials.channel(plane.agents_address, "localhost") as channel:
        report = channel.unary_unary("/fcn.v1.HostAgents/Report")
        codes = []
        for octets in (b"\xff" * 64, b"\xff" * 64, pb.ReportRequest().SerializeToString()):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await report(octets)
            codes.append(caught.value.code())
        assert codes == [grpc.StatusCode.INVALID_ARGUMENT] + 2 * [
            grpc.StatusCode.RESOURCE_EXHAUSTED
        ]
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await report(bytes(2 * MAX_REQUEST))
        assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert plane.reports.refused == {HostRefusal.NONSENSE: 1, HostRefusal.TOO_OFTEN: 2}


async def test_others_have_their_turn_while_the_flows_of_a_host_are_looked_through(
    plane: ControlPlane, switches: dict[str, MemorySwitch], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ends in between stays so."""
    count = 2 * TURN
    more = [(*DATA[:3], 100 + number, *DATA[4:]) for number in range(count - 1)]
    switches["pe1"].engine.digest("new_flow_ipv4_t", *more)
    await until(lambda: len(plane.flows.on_node("pe1")) == count)
    last = plane.flows.of_host(Host("blue", A))[-1].key
    service = HostAgentService(plane.reports, plane.flows, plane.bus)
    pairs = [pb.QueuePair(qpn=1000 + n, remote_qpn=n) for n in (33, *range(100, 99 + count))]
    said = pb.RdmaDevice(name="rxe0", addresses=[str(A)], queue_pairs=pairs)
    report = pb.ReportRequest(devices=[said]).SerializeToString()
    context: Any = Mock(spec=grpc.aio.ServicerContext)
    context.peer_identities.return_value, context.auth_context.return_value = [b"host-a"], {}
    latest = max(flow.since for flow in plane.flows.all())
    monkeypatch.setattr(plane.reports, "_clock", lambda: latest + 1)
    await service.report(report, context)
    monkeypatch.setattr(plane.reports, "_clock", lambda: latest + 2)
    begun, learn = asyncio.Event(), plane.flows.reported

    def reported(key: FlowKey, source_qp: int) -> bool:
        begun.set()
        return learn(key, source_qp)

    monkeypatch.setattr(plane.flows, "reported", reported)
    task = asyncio.create_task(service.report(report, context))
    await begun.wait()
    assert not task.done()
    plane.flows.delete(last)
    assert (await task).learned == count - 1
    assert last not in plane.flows.on_node("pe1")


async def test_nobody_gets_in_without_a_certificate_of_our_ca(
    plane: ControlPlane, authority: Authority, stranger: Authority
) -> None:
    theirs = stranger.credentials("host-a")
    mixed = Credentials(theirs.certificate, theirs.key, authority.ca)
    code, _ = await refusal(plane, mixed, device())
    assert code == grpc.StatusCode.UNAVAILABLE
    ca_only = grpc.ssl_channel_credentials(authority.ca.read_bytes())
    options = [("grpc.ssl_target_name_override", "localhost")]
    for channel in (
        grpc.aio.secure_channel(plane.agents_address, ca_only, options),
        grpc.aio.insecure_channel(plane.agents_address),
    ):
        async with channel:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await HostAgent(channel).report([device()])
            assert caught.value.code() == grpc.StatusCode.UNAVAILABLE
    assert plane.reports.accepted == plane.reports.refused == {}


async def test_a_host_cannot_make_another_hosts_certificate(
    plane: ControlPlane, authority: Authority
) -> None:
    forged = authority.credentials("host-b", signer=authority.credentials("host-a"))
    code, _ = await refusal(plane, forged, device(B))
    assert code == grpc.StatusCode.UNAVAILABLE
    assert plane.reports.accepted == plane.reports.refused == {}


async def test_an_agent_does_not_report_to_another_controller(
    plane: ControlPlane, authority: Authority, stranger: Authority
) -> None:
    ours = authority.credentials("host-a")
    code, _ = await refusal(plane, Credentials(ours.certificate, ours.key, stranger.ca), device())
    assert code == grpc.StatusCode.UNAVAILABLE


async def test_an_agent_goes_on_after_failures(
    plane: ControlPlane, authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    """The device cannot be read, then has another host's address, then is valid."""
    found: list[list[Device]] = [[], [device(B)]]

    def snapshot() -> Sequence[Device]:
        now = found.pop(0) if found else [device()]
        if not now:
            raise RdmaError("no netlink")
        return now

    credentials = authority.credentials("host-a")
    caplog.set_level("INFO", logger="fcn.host-agent")
    async with credentials.channel(plane.agents_address, "localhost") as channel:
        task = asyncio.create_task(HostAgent(channel, snapshot).run(1.5 * MIN_INTERVAL))
        await until(lambda: "the controller learned" in caplog.text)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
    assert plane.flows.on_node("pe1")[FORTH].source_qp == 17
    said = [record.getMessage() for record in caplog.records if record.name == "fcn.host-agent"]
    assert said[0] == "no netlink"
    assert "is refused by the controller: 10.2.0.20 is not among" in said[1]
    assert said[2:] == [
        "1 RDMA devices, 2 queue pairs reported",
        "the controller learned the source of 1 flows",
    ]


async def test_the_command_reports(
    plane: ControlPlane, authority: Authority, tmp_path: Path
) -> None:
    """On a host whose `rdma` says that there are no queue pairs."""
    rdma = tmp_path / "rdma"
    rdma.write_text("#!/bin/sh\necho '[]'\n")
    rdma.chmod(0o755)
    host = authority.credentials("host-a")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "fcn.controller.cli.main", "host-agent", plane.agents_address),
        *("--certificate", str(host.certificate), "--key", str(host.key), "--ca", str(host.ca)),
        *("--controller-name", "localhost", "--interval", "300ms"),
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        stderr=asyncio.subprocess.DEVNULL,
    )
    await until(lambda: plane.reports.accepted["host-a"] >= 2)
    process.terminate()
    await process.wait()


async def test_a_revoked_host_is_refused(
    network: dict[str, Any], switches: dict[str, MemorySwitch], tmp_path: Path
) -> None:
    make(tmp_path, [parse_holder(f"agent:{name}") for name in ("host-a", "host-b")])
    own = tmp_path / "controller"
    hosts = {name: {"vrf": "blue", "addresses": [str(it)]} for name, it in HOSTS.items()}
    network["host_agents"] = {
        "listen": "127.0.0.1:0",
        "certificate": str(own / "certificate.pem"),
        "key": str(own / "key.pem"),
        "ca": str(own / "agents-ca.pem"),
        "crl": str(own / "agents-crl.pem"),
        "hosts": hosts,
    }
    found = ControlPlane(parse_config(yaml.safe_dump(network)))
    async with found.running():
        homes = {name: tmp_path / "agents" / name for name in HOSTS}
        credentials = {
            name: Credentials(home / "certificate.pem", home / "key.pem", home / "ca.pem")
            for name, home in homes.items()
        }
        async with agent(found, credentials["host-a"]) as host:
            await host.report([device()])
            revoke(tmp_path, parse_holder("agent:host-a"))
            with pytest.raises(grpc.aio.AioRpcError, match="host-a's certificate is revoked"):
                await host.report([device()])
        async with agent(found, credentials["host-b"]) as host:
            await host.report([device(B)])
    assert found.reports.refused == {HostRefusal.REVOKED: 1}


async def test_renewed_files_are_used_by_the_next_report(
    plane: ControlPlane,
    authority: Authority,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Of two controllers one is away."""
    monkeypatch.setattr(HostAgent.__init__, "__defaults__", (lambda: [device()], ""))
    files = {"host-a": authority.credentials("host-a"), "host-b": authority.credentials("host-b")}
    used = Credentials(tmp_path / "certificate.pem", tmp_path / "key.pem", authority.ca)

    def install(name: str) -> None:
        shutil.copy(files[name].certificate, used.certificate)
        shutil.copy(files[name].key, used.key)

    install("host-a")
    task = asyncio.create_task(
        run_agent(["127.0.0.1:1", plane.agents_address], used, "localhost", 1.5 * MIN_INTERVAL)
    )
    await until(lambda: plane.reports.accepted["host-a"] >= 1)
    # The device has an address of the other host: it is refused, by the name in the certificate.
    install("host-b")
    await until(lambda: plane.reports.refused[HostRefusal.FOREIGN_ADDRESS] >= 1)
    await until(lambda: "cannot reach controller 127.0.0.1:1: " in caplog.text)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def test_missing_files_are_named(authority: Authority, tmp_path: Path) -> None:
    host = authority.credentials("host-a")
    missing = Credentials(host.certificate, tmp_path / "none.key", host.ca)
    with pytest.raises(AgentError, match=r"cannot read .*none\.key: No such file"):
        missing.channel("127.0.0.1:1", None)


@pytest.mark.parametrize(
    ("key", "named"),
    [("/missing/controller.key", r"/missing/controller\.key: No such"), ("a\0b", r"'a\\x00b'")],
)
async def test_a_controller_whose_files_are_gone_does_not_start(
    network: dict[str, Any], authority: Authority, key: str, named: str
) -> None:
    data = with_agents(network, authority)
    data["host_agents"]["key"] = key
    with pytest.raises(ConfigError, match=f"host_agents.key: .*{named}"):
        parse_config(yaml.safe_dump(data))
    plane = ControlPlane(Config.model_validate(data))
    with pytest.raises(TlsFileError, match=named):
        async with plane.running():
            pass


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ({"vrf": "green", "addresses": ["10.9.9.9"]}, "there is no VRF green"),
        ({"vrf": "blue", "addresses": [str(A)]}, "this address is already"),
        ({"vrf": "blue", "addresses": []}, "at least 1"),
    ],
)
def test_wrong_configuration_is_refused(
    network: dict[str, Any], authority: Authority, host: dict[str, Any], message: str
) -> None:
    data = with_agents(network, authority)
    data["host_agents"]["hosts"]["host-c"] = host
    with pytest.raises(ConfigError, match=message):
        parse_config(yaml.safe_dump(data))
