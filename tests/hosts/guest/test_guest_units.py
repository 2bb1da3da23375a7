"""Units of the guests and of the mapping's comparison, without QEMU or a network."""

import base64
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fcn.hosts.guest.channel import Channel, GuestError
from fcn.hosts.guest.kernel_modules import ModuleError, load_order
from fcn.topologies.catalog import network
from fcn.topologies.data_centre import LEAVES, DataCentre
from fcn.topologies.dc.sample import sample_flows
from fcn.topologies.interop.mapping import Comparison, Pair


def module(directory: Path, name: str, *depends: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    modinfo = f"license=GPL\0depends={','.join(depends)}\0name={name}\0"
    (directory / f"{name}.ko").write_bytes(b"\x7fELF\0" + modinfo.encode())


def test_modules_come_after_what_they_need(tmp_path: Path) -> None:
    module(tmp_path / "net", "virtio_net", "virtio", "net-failover")
    module(tmp_path / "virtio", "virtio", "virtio_ring")
    module(tmp_path / "virtio", "virtio_ring")
    module(tmp_path / "net", "net-failover")
    order = [path.stem for path in load_order(tmp_path, ["virtio_net", "virtio"])]
    assert order == ["virtio_ring", "virtio", "net-failover", "virtio_net"]


def test_a_missing_module_is_named(tmp_path: Path) -> None:
    module(tmp_path, "rdma_rxe", "ib_core")
    with pytest.raises(ModuleError, match="ib_core"):
        load_order(tmp_path, ["rdma_rxe"])


@contextmanager
def guest(path: Path, talk: Callable[[socket.socket], None]) -> Iterator[None]:
    """A stand-in for init.sh at the other end of the virtio-serial port."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            talk(connection)

    thread = threading.Thread(target=serve)
    thread.start()
    yield
    thread.join(10)
    listener.close()


def reply(number: int, status: int, output: bytes) -> bytes:
    return f"{number} {status} {base64.b64encode(output).decode() or '-'}\n".encode()


def test_replies_are_told_apart_in_any_order(tmp_path: Path) -> None:
    def talk(connection: socket.socket) -> None:
        connection.sendall(b"ready\n")
        requests = connection.makefile("rb")
        scripts = [base64.b64decode(requests.readline().split()[1]) for _ in range(2)]
        second, first = reply(2, 3, scripts[1]), reply(1, 0, b"")
        connection.sendall(second[:4])
        connection.sendall(second[4:] + first)
        requests.readline()

    with guest(tmp_path / "s", talk):
        channel = Channel("g", tmp_path / "s", 10)
        one, two = channel.start("first"), channel.start("second")
        assert channel.wait(one, 10).output == ""
        assert channel.done(two)
        result = channel.wait(two, 10)
        assert (result.status, result.output) == (3, "second")
        channel.close()


def test_a_guest_that_ends_is_an_error_that_names_it(tmp_path: Path) -> None:
    def talk(connection: socket.socket) -> None:
        connection.sendall(b"ready\n")
        connection.makefile("rb").readline()

    with guest(tmp_path / "s", talk):
        channel = Channel("g7", tmp_path / "s", 10)
        with pytest.raises(GuestError, match="g7 has ended: sleep"):
            channel.run("sleep", 10)
        channel.close()


def test_a_guest_that_fails_a_command_or_talks_no_json(tmp_path: Path) -> None:
    def talk(connection: socket.socket) -> None:
        connection.sendall(b"ready\n")
        requests = connection.makefile("rb")
        for number, (status, output) in enumerate(((1, b"no such device"), (0, b"{")), 1):
            requests.readline()
            connection.sendall(reply(number, status, output))

    with guest(tmp_path / "s", talk):
        channel = Channel("g", tmp_path / "s", 10)
        with pytest.raises(GuestError, match="status 1: no such device"):
            channel.run("rdma link", 10)
        with pytest.raises(GuestError, match="Expecting"):
            channel.json("rdma link -j", 10)
        channel.close()


def test_no_guest_is_an_error_in_time(tmp_path: Path) -> None:
    with pytest.raises(GuestError, match="no command channel"):
        Channel("g", tmp_path / "nobody", 0.1)


def comparison(*mapped: Pair) -> Comparison:
    return Comparison(frozenset({Pair("a", "b", 1, 2), Pair("b", "a", 2, 1)}), frozenset(mapped))


def test_the_comparison_tells_right_unknown_wrong_missing_and_surplus_apart() -> None:
    exact = comparison(Pair("a", "b", 1, 2), Pair("b", "a", 2, 1))
    assert exact.exact
    assert len(exact.right) == 2
    wrong = comparison(Pair("a", "b", 9, 2))
    assert wrong.wrong == {Pair("a", "b", 9, 2)}
    assert Pair("b", "a", 2, 1) in wrong.missing
    unknown = comparison(Pair("a", "b", None, 2), Pair("b", "a", 2, 1))
    assert unknown.unknown == {Pair("a", "b", 1, 2)}
    assert not unknown.missing
    assert not unknown.wrong
    assert not unknown.exact
    surplus = comparison(Pair("a", "b", 1, 2), Pair("b", "a", 2, 1), Pair("a", "b", 5, 6))
    assert surplus.surplus == {Pair("a", "b", 5, 6)}
    assert not surplus.exact


def test_hosts_are_where_the_figure_has_them() -> None:
    hosts = DataCentre(2, 64).hosts
    assert [host.leaf for host in hosts[:5]] == [1, 1, 1, 1, 2]
    assert [host.leaf for host in hosts[-4:]] == [LEAVES] * 4
    assert len({host.ipv4 for host in hosts}) == len({host.ipv6 for host in hosts}) == 64
    assert str(hosts[4].ipv4) == "10.102.2.10"
    assert all(host.ipv4 in DataCentre(2, 64).networks[0] for host in hosts)


@pytest.mark.parametrize("size", [0, 3201])
def test_too_few_or_too_many_hosts_are_refused(size: int) -> None:
    with pytest.raises(ValueError, match="hosts"):
        DataCentre(1, size)


@pytest.mark.parametrize("size", [1, 13, 26, 64, 65])
def test_the_sample_uses_every_host_once(size: int) -> None:
    flows = sample_flows(DataCentre(1, size), DataCentre(2, size), size)
    assert len({flow.sender for flow in flows}) == len({flow.receiver for flow in flows}) == size
    assert {flow.family for flow in flows} <= {4, 6}


def test_the_wan_of_figure_1() -> None:
    topology = network("dual-dc")
    assert topology.path("pe1", "pe2") in (("pe1", "r1", "r3", "pe2"), ("pe1", "r2", "r4", "pe2"))
    for router in ("r1", "r2", "r3", "r4"):
        assert topology.path("r5", router) == ("r5", router)
    assert topology.path("gw1", "gw2")[0] == "gw1"
