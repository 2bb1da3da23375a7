"""Reports of hosts: validation, and the senders found in them (FCN-3 a)."""

import json
import random
from ipaddress import ip_address
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fcn.controller.config.notation import Address
from fcn.controller.config.tls import AgentHost
from fcn.controller.flows.key import FlowKey
from fcn.controller.hostagent import rdma
from fcn.controller.hostagent.rdma import RdmaError, queue_pairs
from fcn.controller.hostagent.reports import (
    MAX_ADDRESSES,
    MAX_DEVICES,
    MAX_QUEUE_PAIRS,
    REST,
    Ambiguous,
    Device,
    HostRefusal,
    HostReports,
    ReportRefusedError,
)
from fcn.controller.proto import hostagent_pb2 as pb

A, A6, B, C = (
    ip_address(text) for text in ("10.1.0.10", "2001:db8:1::10", "10.2.0.20", "10.2.0.21")
)
HOSTS = {
    name: AgentHost.model_validate({"vrf": vrf, "addresses": [str(each) for each in addresses]})
    for name, vrf, addresses in (
        ("a", "blue", (A, A6)),
        ("b", "blue", (B,)),
        ("c", "blue", (C,)),
        ("a-red", "red", (A,)),
    )
}


class Reports:
    """Reports with a simulated clock: each two seconds after the previous one."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.reports = HostReports(HOSTS, lambda: self.now)

    def report(
        self, host: str, *pairs: tuple[int, int], addresses: tuple[Address, ...] = ()
    ) -> None:
        self.now += 2
        own = addresses or HOSTS[host].addresses
        with self.reports.admitted(host):
            self.reports.accept(host, [Device("rxe0", own, pairs)])

    def look_at(self, host: str) -> None:
        """A report that takes no time."""
        with self.reports.admitted(host):
            pass

    def sender(
        self, dest_qp: int, *, dst: Address = B, seen: float = 0.0, vrf: str = "blue"
    ) -> object:
        return self.reports.sender(FlowKey(vrf, A, dst, dest_qp), seen)


def twice(reports: Reports, host: str, *pairs: tuple[int, int]) -> None:
    """Report twice, because only the second snapshot is known to be later than the flow."""
    reports.report(host, *pairs)
    reports.report(host, *pairs)


def test_the_only_queue_pair_with_that_peer_sends_the_flow() -> None:
    reports = Reports()
    twice(reports, "a", (17, 33), (18, 34))
    assert reports.sender(33) == 17
    assert reports.sender(34) == 18
    assert reports.sender(35) is None
    assert reports.sender(33, vrf="red") is None
    assert reports.reports.sender(FlowKey("blue", A6, ip_address("::1"), 33), 0.0) == 17


def test_a_flow_younger_than_the_snapshot_waits_for_the_next() -> None:
    reports = Reports()
    reports.report("a", (17, 33))
    assert reports.sender(33) is None
    first = reports.now
    reports.report("a", (17, 33))
    assert reports.sender(33, seen=first) == 17
    assert reports.sender(33, seen=first + 0.001) is None
    reports.report("a", (17, 33))
    assert reports.sender(33, seen=first + 0.001) == 17


def test_equal_numbers_at_two_peers_need_the_peers_report() -> None:
    reports = Reports()
    twice(reports, "a", (17, 33), (18, 33))
    assert reports.sender(33) is Ambiguous.AMBIGUOUS
    twice(reports, "b", (33, 17))
    assert reports.sender(33) == 17
    assert reports.sender(33, dst=C) is Ambiguous.AMBIGUOUS
    twice(reports, "c", (33, 18))
    assert reports.sender(33, dst=C) == 18


def test_a_peer_that_contradicts_leaves_the_flow_unknown() -> None:
    reports = Reports()
    twice(reports, "a", (17, 33))
    twice(reports, "b", (33, 99))
    assert reports.sender(33) is Ambiguous.AMBIGUOUS


def test_a_peer_without_that_queue_pair_has_no_such_flow() -> None:
    reports = Reports()
    twice(reports, "a", (17, 33))
    twice(reports, "b", (34, 17))
    assert reports.sender(33) is None


def test_nobody_speaks_for_another_hosts_queue_pairs() -> None:
    """B's report of its peers does not make a queue pair of A the sender."""
    reports = Reports()
    twice(reports, "b", (33, 17))
    assert reports.sender(33) is None
    twice(reports, "a")
    assert reports.sender(33) is Ambiguous.AMBIGUOUS


def test_a_report_replaces_the_one_before() -> None:
    reports = Reports()
    twice(reports, "a", (17, 33))
    reports.report("a", (19, 33))
    assert reports.sender(33) == 19
    reports.report("a", (19, 33), addresses=(A6,))
    assert reports.sender(33) is None


# -- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("devices", "what"),
    [
        ([pb.RdmaDevice()] * (MAX_DEVICES + 1), "devices"),
        ([pb.RdmaDevice(addresses=[str(A)] * (MAX_ADDRESSES + 1))], "addresses"),
        ([pb.RdmaDevice(queue_pairs=[pb.QueuePair()] * (MAX_QUEUE_PAIRS + 1))], "queue pairs"),
    ],
    ids=["devices", "addresses", "queue pairs"],
)
def test_more_than_a_host_has_is_refused_before_it_is_looked_at(
    devices: list[pb.RdmaDevice], what: str
) -> None:
    reports = Reports()
    with pytest.raises(ReportRefusedError, match=f"more than .* {what}") as caught:
        reports.reports.check_size(devices)
    assert caught.value.reason is HostRefusal.NONSENSE


@pytest.mark.parametrize(
    ("devices", "reason", "message"),
    [
        ([Device("x", (B,), ())], HostRefusal.FOREIGN_ADDRESS, "10.2.0.20 is not among"),
        ([Device("x", (A, B), ((17, 33),))], HostRefusal.FOREIGN_ADDRESS, "10.2.0.20 is not among"),
        ([Device("x", (A,), ()), Device("y", (A,), ())], HostRefusal.NONSENSE, "reported twice"),
        ([Device("x", (A,), ((1, 33),))], HostRefusal.NONSENSE, "not a data queue pair"),
        ([Device("x", (A,), ((17, 0),))], HostRefusal.NONSENSE, "not a data queue pair"),
        ([Device("x", (A,), ((1 << 24, 33),))], HostRefusal.NONSENSE, "not a data queue pair"),
        ([Device("x", (A,), ((17, 33), (17, 34)))], HostRefusal.NONSENSE, "a QP is reported twice"),
    ],
)
def test_nonsense_is_refused_and_changes_nothing(
    devices: list[Device], reason: HostRefusal, message: str
) -> None:
    reports = Reports()
    twice(reports, "a", (17, 33))
    reports.now += 2
    with pytest.raises(ReportRefusedError, match=message) as caught:
        reports.reports.accept("a", devices)
    assert caught.value.reason is reason
    assert reports.reports.refused == {reason: 1}
    assert reports.reports.accepted == {"a": 2}
    assert reports.sender(33) == 17


def test_reports_in_quick_succession_are_refused() -> None:
    """Refused ones count, and those that come too early delay nothing."""
    reports = Reports()
    reports.look_at("a")
    for _ in range(3):
        reports.now += 0.05
        with pytest.raises(ReportRefusedError, match="more than once"):
            reports.look_at("a")
    reports.now += 0.06
    reports.look_at("a")
    reports.look_at("b")
    assert reports.reports.refused == {HostRefusal.TOO_OFTEN: 3}


def test_a_host_rests_longer_than_its_report_took() -> None:
    """Else one that has many flows, and says something else of all of them each time, would be all
    that is listened to."""
    reports = Reports()
    with reports.reports.admitted("a"):
        for _ in range(10):
            reports.now += 0.1
            with pytest.raises(ReportRefusedError, match="while its last report is looked at"):
                reports.look_at("a")
        reports.look_at("b")
    reports.now += REST - 0.1
    with pytest.raises(ReportRefusedError, match="as long as that took"):
        reports.look_at("a")
    reports.now += 0.2
    reports.look_at("a")


@pytest.mark.parametrize("names", [[], ["z"], ["a", "b"], [""]])
def test_a_certificate_of_no_or_of_several_hosts_is_refused(names: list[str]) -> None:
    reports = Reports()
    with pytest.raises(ReportRefusedError, match="the certificate has"):
        reports.reports.identify(names)
    assert reports.reports.refused == {HostRefusal.UNKNOWN_HOST: 1}


def test_a_certificate_may_have_other_names_too() -> None:
    assert Reports().reports.identify(["a.example.net", "a"]) == "a"


# -- many hosts --------------------------------------------------------------------------------


@settings(max_examples=60, derandomize=True)
@given(
    seed=st.integers(0, 1 << 32),
    count=st.integers(1, 40),
    numbers=st.sampled_from([8, 100, 10_000]),
    reporting=st.sets(st.sampled_from(["a", "b", "c"])),
)
def test_never_wrong(seed: int, count: int, numbers: int, reporting: set[str]) -> None:
    """Connections among three hosts with as many equal QPNs as possible."""
    rng = random.Random(seed)
    address: dict[str, Address] = {"a": A, "b": B, "c": C}
    free = {name: rng.sample(range(2, 2 + numbers), min(count, numbers)) for name in address}
    pairs: dict[str, list[tuple[int, int]]] = {name: [] for name in address}
    truth: dict[FlowKey, int] = {}
    for _ in range(count):
        one, other = rng.sample(sorted(address), 2)
        if not free[one] or not free[other]:
            continue
        near, far = free[one].pop(), free[other].pop()
        pairs[one].append((near, far))
        pairs[other].append((far, near))
        truth[FlowKey("blue", address[one], address[other], far)] = near
        truth[FlowKey("blue", address[other], address[one], near)] = far
    reports = Reports()
    for name in sorted(reporting):
        for _ in range(2):
            reports.report(name, *pairs[name], addresses=(address[name],))
    for flow, source_qp in truth.items():
        found = reports.reports.sender(flow, 0.0)
        assert found in (source_qp, None, Ambiguous.AMBIGUOUS)
        if reporting == {"a", "b", "c"}:
            assert found == source_qp


# -- the host ----------------------------------------------------------------------------------

OUTPUT = json.dumps(
    [
        {"ifindex": 0, "ifname": "rxe0", "port": 1, "lqpn": 1, "type": "GSI", "state": "RTS",
         "sq-psn": 0, "comm": "ib_core"},
        {"ifindex": 0, "ifname": "rxe0", "port": 1, "lqpn": 17, "rqpn": 33, "type": "RC",
         "state": "RTS", "rq-psn": 5, "sq-psn": 9, "path-mig-state": "MIGRATED", "pid": 700,
         "comm": "ib_write_bw"},
        {"ifindex": 0, "ifname": "rxe0", "port": 1, "lqpn": 18, "rqpn": 34, "type": "UC",
         "state": "RTR", "rq-psn": 5, "sq-psn": 0, "pid": 700, "comm": "x"},
        {"ifindex": 0, "ifname": "rxe0", "port": 1, "lqpn": 19, "rqpn": 0, "type": "RC",
         "state": "INIT", "pid": 700, "comm": "x"},
        {"ifindex": 0, "ifname": "rxe0", "port": 1, "lqpn": 20, "rqpn": 40, "type": "RC",
         "state": "ERR", "pid": 700, "comm": "x"},
        {"ifindex": 1, "ifname": "mlx5_1", "lqpn": 21, "type": "UD", "state": "RTS", "comm": "x"},
    ]
)  # fmt: skip


def test_real_output_is_read() -> None:
    """From a Debian 12 host with rdma_rxe that runs ib_write_bw with itself."""
    text = (Path(__file__).parents[2] / "data" / "rdma-resource-show-qp.json").read_text()
    assert queue_pairs(text) == {"rxe0": {(17, 18), (18, 17)}}


def test_connected_queue_pairs_are_read() -> None:
    assert queue_pairs(OUTPUT) == {"rxe0": {(17, 33), (18, 34)}}
    assert queue_pairs("[]") == queue_pairs("") == {}


@pytest.mark.parametrize("text", ["{", "[1]", '[{"type": "RC"}]', '{"type": 1}'])
def test_output_that_is_something_else_is_an_error(text: str) -> None:
    with pytest.raises(RdmaError, match="cannot read the output of rdma"):
        queue_pairs(text)


def test_devices_have_the_addresses_of_their_rocev2_gids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A GID per address and RoCE version, of VLANs too; empty entries are all zero."""
    gids = [
        ("fe80:0000:0000:0000:5054:00ff:fe00:0001", "RoCE v2"),
        ("0000:0000:0000:0000:0000:ffff:0a01:000a", "IB/RoCE v1"),
        ("0000:0000:0000:0000:0000:ffff:0a01:000a", "RoCE v2"),
        ("2001:0db8:0001:0000:0000:0000:0000:0010", "RoCE v2"),
        ("2001:0db8:0001:0000:0000:0000:0000:0010", "RoCE v2"),
        ("0000:0000:0000:0000:0000:0000:0000:0000", "RoCE v2"),
    ]
    port = tmp_path / "rxe0" / "ports" / "1"
    (port / "gids").mkdir(parents=True)
    (port / "gid_attrs" / "types").mkdir(parents=True)
    for index, (gid, kind) in enumerate(gids):
        (port / "gids" / str(index)).write_text(gid + "\n")
        (port / "gid_attrs" / "types" / str(index)).write_text(kind + "\n")
    (tmp_path / "down0" / "ports").mkdir(parents=True)
    monkeypatch.setattr(rdma, "_run", lambda command: OUTPUT)
    assert rdma.devices(tmp_path) == [Device("rxe0", (A, A6), ((17, 33), (18, 34)))]


def test_a_host_without_devices_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdma, "_run", lambda command: "[]")
    assert rdma.devices(tmp_path / "missing") == []


def test_a_command_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rdma, "COMMAND", ("sh", "-c", "echo no netlink >&2; exit 3"))
    with pytest.raises(RdmaError, match="failed: no netlink"):
        rdma.devices()
    monkeypatch.setattr(rdma, "COMMAND", ("rdma-that-is-missing",))
    with pytest.raises(RdmaError, match="install iproute2"):
        rdma.devices()


def test_what_hosts_said_counts_while_the_file_says_the_same_of_them() -> None:
    world = Reports()
    for host, pair in (("a", (17, 33)), ("b", (33, 17)), ("c", (40, 41))) * 2:
        world.report(host, pair)
    assert world.sender(33) == 17
    moved = AgentHost.model_validate({"vrf": "blue", "addresses": ["10.2.0.99"]})
    world.reports.move_to({"a": HOSTS["a"], "b": moved, "d": HOSTS["c"]})
    assert world.sender(33) == 17, "only what its own host said is left"
    assert world.reports.identify(["d"]) == "d"
    with pytest.raises(ReportRefusedError):
        world.reports.identify(["c"])
    with pytest.raises(ReportRefusedError, match="not among the addresses of b"):
        world.report("b", (33, 17))
    world.reports.move_to({"b": HOSTS["b"]})
    assert world.sender(33) is None
