"""How often a queue marks packets at each depth, measured in virtual time: the marking curves of
the two-threshold mode as they are in a switch (PEC-1), and random early detection (`fcn.lab.red`).

A host sends bursts of packets to a P that runs the controller's entries. The first packet of a
burst leaves at once; the others wait together, so that packet k of n leaves n - k behind it: each
burst has one packet at every depth from n - 2 to 0, whatever the marks are.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv6Address

from scipy.special import bdtr, bdtrc

from fcn.contract.constants import compiled_programs
from fcn.contract.ecn import Ecn
from fcn.controller.config.addressing import port_mac
from fcn.controller.config.load import parse_config
from fcn.controller.config.model import Config
from fcn.lab.core import Simulation
from fcn.lab.entries import provision_of, write_entries
from fcn.lab.errors import LabError
from fcn.lab.red import Red
from fcn.softswitch.engine import load_program

IN_PORT, OUT_PORT = 1, 2
SOURCE, SINK = IPv6Address("2001:db8:1::1"), IPv6Address("2001:db8:2::1")
SINK_MAC = "02:00:00:00:00:02"
RATE_BPS = 100 * 10**9
PAYLOAD = 64
_ETHERNET, _IPV6 = 14, 40
FRAME = _ETHERNET + _IPV6 + PAYLOAD
"""Octets of each packet in the queue."""
_NO_NEXT_HEADER = 59
_HOP_LIMIT = 64
_SOURCE_MAC_AND_TYPE = bytes.fromhex("020000000001 86dd")
_PART = 200
"""Bursts whose packets are kept at a time."""


@dataclass(frozen=True, slots=True)
class MarksAtDepth:
    """Packets that left with `depth` others behind them, and how many had each codepoint then."""

    depth: int
    packets: int
    codepoints: Counter[Ecn]


def p_config(
    depths: tuple[int, int, int], light_probability: float, heavy_probability: float
) -> Config:
    """A P with these T1, T2 and maximum in packets, and probabilities, that sends nothing."""
    return _p_config(f"""
notification: two-threshold
two_threshold:
  depths: {list(depths)}
  light_probability: {light_probability}
  heavy_probability: {heavy_probability}
  treatment: none
""")


def plain_config() -> Config:
    """A P that neither marks nor sends."""
    level = "{ mark: false, notify: false, interval: 1ms }"
    return _p_config(f"congestion: {{ thresholds: [1], levels: {{ 1: {level} }} }}")


def _p_config(domain: str) -> Config:
    return parse_config(
        f"""{domain}
nodes:
  p1:
    role: p
    grpc: 127.0.0.1:50001
    underlay_address: 2001:db8:0:ff::1
    ports: [{{ number: {IN_PORT}, role: core }}, {{ number: {OUT_PORT}, role: core }}]
    underlay:
      - {{ prefix: "{SINK}/128", via: [{{ port: {OUT_PORT}, mac: "{SINK_MAC}" }}] }}
""",
        "marking",
    )


def measure_marks(
    config: Config,
    *,
    deepest: int,
    bursts: int,
    seed: int,
    sent: Ecn = Ecn.ECT0,
    red: Red | None = None,
) -> list[MarksAtDepth]:
    """Send bursts through the P of p_config() or plain_config(), whose port has `red`; what left at
    depths 0 to `deepest`, one packet of each burst at each. Raises LabError when a packet was
    lost."""
    codepoints = [Counter[Ecn]() for _ in range(deepest + 1)]
    size = deepest + 2
    with Simulation(seed) as simulation:
        p = simulation.add_switch("p1", load_program(compiled_programs() / "p.json"))
        source, sink = simulation.add_host("source"), simulation.add_host("sink")
        simulation.connect(source, 0, p, IN_PORT, rate_bps=None, delay_ns=0)
        link = simulation.connect(p, OUT_PORT, sink, 0, rate_bps=RATE_BPS, delay_ns=0, buffer=size)
        if red is not None:
            link.set_red(red)
        link.tap(0, snap=_ETHERNET + 2)
        write_entries(provision_of(config, "p1"), p.engine)
        frame = _frame(config, sent)
        drained_ns = size * (len(frame) + link.overhead) * 8 * 10**9 // RATE_BPS + 1_000
        for first in range(0, bursts, _PART):
            number = min(_PART, bursts - first)
            for _ in range(number):
                for _ in range(size):
                    source.send(frame)
                simulation.run_until(simulation.now_ns + drained_ns)
            left = list(_codepoints(simulation))
            if len(left) != number * size:
                raise LabError(f"{len(left)} of {number * size} packets left the queue")
            for place, codepoint in enumerate(left):
                position = place % size
                if position:
                    codepoints[size - 1 - position][codepoint] += 1
    return [
        MarksAtDepth(depth, sum(found.values()), found) for depth, found in enumerate(codepoints)
    ]


def _codepoints(simulation: Simulation) -> Iterator[Ecn]:
    for frame in simulation.tapped():
        # The ECN field is the last two bits of the traffic class.
        yield Ecn(frame.data[_ETHERNET + 1] >> 4 & 3)


def _frame(config: Config, ecn: Ecn) -> bytes:
    node = config.nodes["p1"]
    port = node.port(IN_PORT)
    assert port is not None, "p_config() has it"
    ethernet = port_mac("p1", node, port).to_bytes(6, "big") + _SOURCE_MAC_AND_TYPE
    first = 6 << 28 | ecn << 20
    header = (
        first.to_bytes(4, "big") + PAYLOAD.to_bytes(2, "big") + bytes([_NO_NEXT_HEADER, _HOP_LIMIT])
    )
    ends = SOURCE.packed + SINK.packed
    assert len(header + ends) == _IPV6
    return ethernet + header + ends + bytes(PAYLOAD)


def binomial_error(packets: int, marked: int, probability: float) -> float:
    """The probability that a fair draw is at least as far from its mean as this one: the exact
    two-sided binomial test, twice the smaller tail, at most 1."""
    at_most = float(bdtr(marked, packets, probability))
    at_least = float(bdtrc(marked - 1, packets, probability))
    return min(1.0, 2 * min(at_most, at_least))
