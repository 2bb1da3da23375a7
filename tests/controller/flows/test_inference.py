"""Source queue pairs inferred from the reverse path (FCN-3 b): right, or unknown, never wrong."""

from dataclasses import replace
from ipaddress import ip_address

import pytest
from inference_simulator import VRF, A, B, Conditions, simulate, survey, total
from inference_traffic import ACK, READ_REQUEST, READ_RESPONSE, WRITE, Kind, Trouble
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.utils import rdpcap

from fcn.controller.config.notation import Address
from fcn.controller.flows.inference import PATIENCE, Inference
from fcn.controller.flows.key import FlowKey, host_pair
from fcn.controller.flows.trail import RESPONSE_SPACING, Sample, connection_port
from fcn.packets.cm import QP1
from fcn.packets.roce import BTH, ROCEV2_PORT
from fcn.ptf_tests.lib.captures import SOFTROCE

UC_SEND, UD_SEND = 0x24, 0x64
FORTH, BACK = FlowKey(VRF, A, B, 0x85), FlowKey(VRF, B, A, 0x15)
SEEDS = (*range(150), 1100)
"""The last one: READs of 2 GiB whose lag is the distance of the first PSNs."""


def sources(inference: Inference) -> dict[FlowKey, int]:
    """Flows by source queue pair, of what is concluded now."""
    return {flow: qp for pairing in inference.conclude() for flow, qp in pairing.sources}


class Bench:
    """An inference with a clock the test moves."""

    def __init__(self, *, complete: bool = True) -> None:
        self.now = 100.0
        self.inference = Inference(lambda: self.now, lambda _: complete)

    def see(self, flow: FlowKey, opcode: int, psn: int, port: int = 0xC000) -> None:
        self.now += RESPONSE_SPACING / 2
        self.inference.observe(flow, Sample(opcode, psn, port))

    def conclude(self, wait: float = 2.0) -> dict[FlowKey, int]:
        self.now += wait
        return sources(self.inference)


# -- real traffic ------------------------------------------------------------------------------


def _replay(
    ignore_ports: bool = False, window: float = 0.01
) -> tuple[dict[FlowKey, int], set[FlowKey]]:
    """The capture's data packets as PEs report them; nothing of its CM messages is used."""
    clock = 0.0
    inference = Inference(lambda: clock, lambda _: True)
    bound: dict[FlowKey, int] = {}
    reported: dict[FlowKey, float] = {}
    for packet in rdpcap(str(SOFTROCE)):
        if UDP not in packet or packet[UDP].dport != ROCEV2_PORT or packet[BTH].dqpn == QP1:
            continue
        ip, bth = packet[IP] if IP in packet else packet[IPv6], packet[BTH]
        flow = FlowKey(VRF, ip_address(ip.src), ip_address(ip.dst), bth.dqpn)
        time = float(packet.time)
        clock = clock or time
        while time - clock > PATIENCE:
            clock += PATIENCE
            bound |= sources(inference)
        clock = time
        if flow not in bound and time - reported.get(flow, 0.0) >= window:
            reported[flow] = time
            port = 0xC000 if ignore_ports else packet[UDP].sport
            inference.observe(flow, Sample(bth.opcode, bth.psn, port))
    for _ in range(20):
        clock += PATIENCE
        bound |= sources(inference)
    return bound, set(reported)


def test_of_the_whole_capture_one_connection_is_bound_by_its_port() -> None:
    """Both its ends happen to have the same number. The others are too short for their PSNs to be
    evidence, and their port says nothing."""
    bound, seen = _replay()
    forth = FlowKey(VRF, ip_address("192.168.7.2"), ip_address("192.168.7.1"), 0x15)
    assert bound == {forth: 0x15, replace(forth, src=forth.dst, dst=forth.src): 0x15}
    assert len(seen) == 10
    assert {flow.dest_qp for flow in seen - bound.keys()} == {0x11, 0x12, 0x13, 0x14}


def test_of_the_capture_without_ports_nothing_is_bound() -> None:
    bound, seen = _replay(ignore_ports=True)
    assert bound == {}
    assert len(seen) == 10


# -- the port ----------------------------------------------------------------------------------


def test_one_answer_is_enough_when_the_port_confirms_it() -> None:
    bench = Bench()
    port = connection_port(0x85, 0x15)
    bench.see(FORTH, WRITE, 1000, port)
    bench.see(BACK, ACK, 1003, port)
    assert bench.conclude(PATIENCE + 0.01) == {FORTH: 0x15, BACK: 0x85}
    assert len(bench.inference) == 0


def test_a_port_alone_is_not_enough() -> None:
    bench = Bench()
    port = connection_port(0x85, 0x15)
    bench.see(FORTH, WRITE, 1000, port)
    bench.see(BACK, ACK, 0x800000, port)
    assert bench.conclude() == {}


def test_a_port_that_others_have_too_confirms_nothing() -> None:
    bench = Bench()
    port = connection_port(0x85, 0x15)
    bench.see(FlowKey(VRF, A, B, 0x99), WRITE, 1000, port)
    bench.see(FORTH, WRITE, 1000, port)
    bench.see(BACK, ACK, 1003, port)
    assert bench.conclude() == {}


# -- the PSN alone -----------------------------------------------------------------------------


def _acknowledge(bench: Bench, times: int, psn: int = 1000, answer: int = ACK) -> None:
    for step in range(times):
        bench.see(FORTH, WRITE, (psn + 10 * step) % (1 << 24), 0xC001)
        bench.see(BACK, answer, (psn + 10 * step) % (1 << 24), 0xC002)


def test_four_answers_and_no_rival_are_enough() -> None:
    bench = Bench()
    _acknowledge(bench, 4)
    assert bench.conclude() == {FORTH: 0x15, BACK: 0x85}


def test_three_answers_are_not_enough() -> None:
    bench = Bench()
    _acknowledge(bench, 3)
    assert bench.conclude() == {}


def test_the_same_answer_over_and_over_is_one_answer() -> None:
    bench = Bench()
    for _ in range(20):
        bench.see(FORTH, WRITE, 1000)
        bench.see(BACK, ACK, 1000)
    assert bench.conclude() == {}


def test_psns_wrap() -> None:
    bench = Bench()
    _acknowledge(bench, 5, psn=(1 << 24) - 15)
    assert bench.conclude() == {FORTH: 0x15, BACK: 0x85}


def test_read_responses_count_as_answers() -> None:
    bench = Bench()
    for step in range(5):
        bench.see(FORTH, READ_REQUEST, 500 + 64 * step)
        bench.see(BACK, READ_RESPONSE, 500 + 64 * step + 63)
    assert bench.conclude() == {FORTH: 0x15, BACK: 0x85}


def test_nothing_is_concluded_while_flows_are_not_reported() -> None:
    bench = Bench(complete=False)
    _acknowledge(bench, 10)
    assert bench.conclude() == {}


def test_two_candidates_stay_unknown_until_they_part() -> None:
    """Two connections with the same PSNs; later one of them has sent more."""
    bench = Bench()
    other_forth, other_back = FlowKey(VRF, A, B, 0x86), FlowKey(VRF, B, A, 0x16)
    for step in range(10):
        for forth, back in ((FORTH, BACK), (other_forth, other_back)):
            bench.see(forth, WRITE, 10 * step)
            bench.see(back, ACK, 10 * step)
    assert bench.conclude() == {}
    for step in range(40):
        for forth, back, base in ((FORTH, BACK, 200), (other_forth, other_back, 1_000_000)):
            bench.see(forth, WRITE, base + 10 * step)
            bench.see(back, ACK, base + 10 * step)
    assert bench.conclude() == {FORTH: 0x15, BACK: 0x85, other_forth: 0x16, other_back: 0x86}


def test_a_flow_that_never_answers_stays_a_rival() -> None:
    """It is a reliable connection of unknown PSNs: it may be the partner."""
    bench = Bench()
    bench.see(FlowKey(VRF, B, A, 0x77), WRITE, 7)
    _acknowledge(bench, 5)
    assert bench.conclude() == {}
    bench.inference.forget(FlowKey(VRF, B, A, 0x77))
    _acknowledge(bench, 5, psn=2000)
    assert bench.conclude() == {FORTH: 0x15, BACK: 0x85}


def test_where_ports_follow_from_queue_pairs_those_of_all_must() -> None:
    """Halves of two connections with equal PSNs, whose other halves are not seen."""
    bench = Bench()
    port = connection_port(0x86, 0x16)
    bench.see(FlowKey(VRF, A, B, 0x86), WRITE, 0x700000, port)
    bench.see(FlowKey(VRF, B, A, 0x16), ACK, 0x700000, port)
    for step in range(5):
        bench.see(FORTH, WRITE, 1000 + 10 * step, connection_port(0x85, 0x17))
        bench.see(BACK, ACK, 1000 + 10 * step, connection_port(0x87, 0x15))
    assert len(bench.conclude()) == 2
    assert bench.conclude() == {}
    assert len(bench.inference) == 2


@pytest.mark.parametrize("opcode", [UC_SEND, UD_SEND, 0x81, 0x15, 0xFF])
def test_other_than_reliable_connections_are_left_alone(opcode: int) -> None:
    bench = Bench()
    for step in range(5):
        bench.see(FORTH, opcode, step)
        bench.see(BACK, ACK, step)
    assert bench.conclude() == {}
    bench = Bench()
    bench.see(FORTH, opcode, 5)
    assert len(bench.inference) == 0


def test_other_vrfs_and_hosts_are_no_candidates() -> None:
    bench = Bench()
    other: Address = ip_address("10.9.9.9")
    for step in range(5):
        bench.see(FlowKey("red", B, A, 0x33), ACK, 1000 + 10 * step)
        bench.see(FlowKey(VRF, other, A, 0x34), ACK, 1000 + 10 * step)
        bench.see(FORTH, WRITE, 1000 + 10 * step)
    assert bench.conclude() == {}
    assert host_pair(FORTH) == host_pair(BACK) != host_pair(FlowKey("red", B, A, 0x33))


# -- many queue pairs between the same two hosts -----------------------------------------------


@pytest.mark.parametrize(
    "seeds", [SEEDS[-60:], pytest.param(SEEDS, marks=pytest.mark.exhaustive)], ids=len
)
def test_never_wrong(seeds: tuple[int, ...]) -> None:
    """inference_simulator.py does more seeds, and says how many flows are right and unknown."""
    table, _, wrong = survey(seeds)
    assert wrong == []
    for kind in Kind:
        assert table["traffic", kind]["right"] > 0
    for trouble in Trouble:
        assert table["trouble", trouble]["right"] > 0
    for count in (" 4", " 8", "16", "32", "64"):
        assert table["connections", count]["right"] > 0
    by_port = table["ports", "queue pairs"]
    assert by_port["right"] > 0.9 * (by_port["right"] + by_port["unknown"])


@pytest.mark.parametrize("depth", [1, 16])
@pytest.mark.parametrize("count", [8, 16])
def test_reads_of_a_gibibyte_are_never_bound_wrong(count: int, depth: int) -> None:
    """Their responses are ahead of what was asked for last, or far behind."""
    given = Conditions(
        connections=count,
        kind=Kind.READ,
        message=1 << 18,
        rate=5e4,
        depth=depth,
        ports="per queue pair",
        window=0.05,
        seconds=10.0,
    )
    assert total([simulate(given, seed) for seed in range(12)])["wrong"] == 0


@pytest.mark.parametrize("kind", list(Kind))
def test_small_messages_of_any_kind_are_bound_by_their_psns(kind: str) -> None:
    given = Conditions(kind=kind, message=16, ports="per queue pair", window=0.02, seconds=8.0)
    outcomes = total([simulate(given, seed) for seed in range(3)])
    assert outcomes["wrong"] == 0
    assert outcomes["right"] > outcomes["unknown"]


@pytest.mark.parametrize(
    ("ports", "psns", "all_bound"),
    [
        ("queue pairs", "random", True),
        ("queue pairs", "equal", True),
        ("per queue pair", "random", True),
        ("one", "random", True),
        ("one", "equal", False),
    ],
)
def test_64_connections_between_two_hosts(ports: str, psns: str, all_bound: bool) -> None:
    """Equal PSNs and one port for all leave nothing to tell them apart: all stay unknown."""
    given = Conditions(connections=64, ports=ports, psns=psns, in_step=True, window=0.02)
    outcome = simulate(given, 1)
    assert (outcome.right, outcome.wrong) == (128 if all_bound else 0, 0)
    assert outcome.unknown == 128 - outcome.right
