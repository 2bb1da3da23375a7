"""Queues, rates, delays and priorities of ports, and the queueing metadata of packets."""

from dataclasses import dataclass

from engine_making import MakeEngine
from engine_scenarios import ethernet, pack

from fcn.softswitch.api import PortQueue
from fcn.softswitch.engine import MemoryEngine, Output

FRAME = 100
OCTET_NS = 8_000
"""Time one octet takes at 1 Mb/s."""


@dataclass(frozen=True)
class QueueingMetadata:
    """The fields queueing.p4 writes."""

    enq_timestamp: int
    enq_qdepth: int
    deq_timedelta: int
    deq_qdepth: int
    ingress_ts: int
    egress_ts: int
    length: int


def packet(port: int = 2, priority: int = 0) -> bytes:
    head = ethernet(1) + pack((port, 16), (priority, 8), (0, 32 * 4), (0, 96), (0, 32))
    return head + bytes(FRAME - len(head))


def queueing_metadata(out: Output) -> QueueingMetadata:
    at, values = 17, []
    for width in (4, 4, 4, 4, 6, 6, 4):
        values.append(int.from_bytes(out.data[at : at + width], "big"))
        at += width
    return QueueingMetadata(*values)


def limited(make_engine: MakeEngine, **queue: int) -> MemoryEngine:
    engine = make_engine("queueing")
    engine.port_queue_set(2, PortQueue(**queue))
    return engine


def test_without_limits_packets_leave_at_once(make_engine: MakeEngine) -> None:
    engine = make_engine("queueing")
    engine.advance(5_000_000)
    engine.inject(1, packet())
    (out,) = engine.outputs()
    assert out.time_ns == 5_000_000
    assert queueing_metadata(out) == QueueingMetadata(5000, 0, 0, 0, 5000, 5000, FRAME)


def test_bit_rate(make_engine: MakeEngine) -> None:
    engine = limited(make_engine, rate_bps=1_000_000)
    for _ in range(4):
        engine.inject(1, packet())
    engine.advance(1_000_000_000)
    outs = engine.outputs()
    assert [o.time_ns for o in outs] == [FRAME * OCTET_NS * n for n in (1, 2, 3, 4)]
    # Depth counts waiting packets: the first is being transmitted when the second arrives.
    assert [queueing_metadata(o).enq_qdepth for o in outs] == [0, 0, 1, 2]
    assert [queueing_metadata(o).deq_qdepth for o in outs] == [0, 2, 1, 0]
    assert [queueing_metadata(o).deq_timedelta for o in outs] == [0, 800, 1600, 2400]


def test_packet_rate(make_engine: MakeEngine) -> None:
    engine = limited(make_engine, rate_pps=1000)
    for _ in range(3):
        engine.inject(1, packet())
    engine.advance(10_000_000)
    assert [o.time_ns for o in engine.outputs()] == [1_000_000, 2_000_000, 3_000_000]


def test_an_idle_line_earns_no_burst(make_engine: MakeEngine) -> None:
    engine = limited(make_engine, rate_pps=1000)
    engine.advance(50_000_000)
    for _ in range(3):
        engine.inject(1, packet())
    engine.advance(50_000_000)
    assert [o.time_ns for o in engine.outputs()] == [51_000_000, 52_000_000, 53_000_000]


def test_delay_follows_serialisation(make_engine: MakeEngine) -> None:
    engine = limited(make_engine, rate_bps=1_000_000, delay_ns=3_200_000)
    engine.inject(1, packet())
    engine.inject(1, packet())
    assert engine.next_due_ns() == FRAME * OCTET_NS
    engine.advance(3_999_999)
    assert engine.outputs() == []
    engine.advance(1)
    (first,) = engine.outputs()
    assert first.time_ns == FRAME * OCTET_NS + 3_200_000
    engine.advance(FRAME * OCTET_NS)
    assert len(engine.outputs()) == 1
    assert engine.next_due_ns() is None


def test_the_longest_queue_of_the_last_second_or_two(make_engine: MakeEngine) -> None:
    """Whoever asks once a second misses none, however many ask."""
    engine = limited(make_engine, rate_pps=1000)
    first, second = [], []
    for turn in range(4):
        if turn == 1:
            for _ in range(5):
                engine.inject(1, packet())
        engine.advance(500_000_000)
        first.append(engine.port_counters(2).queue_peak)
        engine.advance(500_000_000)
        second.append(engine.port_counters(2).queue_peak)
        assert engine.port_counters(2).queue_depth == 0
    assert (first, second) == ([0, 4, 4, 0], [0, 4, 0, 0])


def test_a_full_queue_drops(make_engine: MakeEngine) -> None:
    engine = limited(make_engine, rate_pps=1, depth=4)
    for _ in range(10):
        engine.inject(1, packet())
    # One is being transmitted, four wait.
    counters = engine.port_counters(2)
    assert (counters.queue_drops, counters.queue_depth, counters.queue_peak) == (5, 4, 4)
    engine.advance(10_000_000_000)
    assert len(engine.outputs()) == 5
    counters = engine.port_counters(2)
    assert counters.queue_peak == 0, "nobody asked for ten seconds"
    assert (counters.tx_packets, counters.tx_octets, counters.queue_depth) == (5, 5 * FRAME, 0)
    assert engine.port_counters(1).rx_packets == 10


def test_higher_priorities_go_first(make_engine: MakeEngine) -> None:
    engine = limited(make_engine, rate_pps=1000)
    order = (0, 1, 7, 3, 7, 0)
    for priority in order:
        engine.inject(1, packet(priority=priority))
    engine.advance(1_000_000_000)
    assert [o.data[16] for o in engine.outputs()] == [0, 7, 7, 3, 1, 0]


def test_a_priority_without_queue_is_dropped(make_engine: MakeEngine) -> None:
    engine = make_engine("queueing", queues=2)
    engine.inject(1, packet(priority=1))
    engine.inject(1, packet(priority=2))
    assert len(engine.outputs()) == 1


def test_ports_do_not_wait_for_each_other(make_engine: MakeEngine) -> None:
    engine = limited(make_engine, rate_pps=1000)
    engine.port_queue_set(3, PortQueue(rate_pps=4000))
    for port in (2, 3, 2, 3):
        engine.inject(1, packet(port))
    engine.advance(1_000_000_000)
    assert [(o.port, o.time_ns) for o in engine.outputs()] == [
        (3, 250_000), (3, 500_000), (2, 1_000_000), (2, 2_000_000),
    ]  # fmt: skip


def test_fractions_of_a_nanosecond_add_up(make_engine: MakeEngine) -> None:
    """800 bits at 3 Gb/s take 266.67 ns; an idle line begins anew."""
    engine = limited(make_engine, rate_bps=3_000_000_000)
    for _ in range(6):
        engine.inject(1, packet())
    engine.advance(10_000)
    engine.inject(1, packet())
    engine.advance(10_000)
    times = [o.time_ns for o in engine.outputs()]
    assert times == [266, 533, 800, 1066, 1333, 1600, 10_266]


def test_overhead_counts_for_the_bit_rate(make_engine: MakeEngine) -> None:
    engine = limited(make_engine, rate_bps=1_000_000)
    engine.port_overhead_set(2, 24)
    for _ in range(2):
        engine.inject(1, packet())
    engine.advance(1_000_000_000)
    assert [o.time_ns for o in engine.outputs()] == [(FRAME + 24) * OCTET_NS * n for n in (1, 2)]
    assert engine.port_counters(2).tx_octets == 2 * FRAME


def test_every_packet_is_accounted_for(make_engine: MakeEngine) -> None:
    engine = make_engine("queueing", queues=2)
    engine.port_queue_set(2, PortQueue(rate_pps=1, depth=4))
    for _ in range(10):
        engine.inject(1, packet())
    engine.inject(1, bytes(20_000))
    engine.inject(1, packet(priority=3))
    balance = engine.balance()
    named = {name: n for name, n in balance.items() if n}
    assert named == {
        "received": 11, "refused": 1, "queue_full_drops": 5, "no_queue_drops": 1, "held": 5,
    }  # fmt: skip
    engine.advance(10_000_000_000)
    assert engine.balance()["sent"] == 5
    assert engine.balance()["held"] == 0


def test_a_queue_is_full_by_octets_too(make_engine: MakeEngine) -> None:
    """One is being transmitted and three wait in 300 octets; a queue of another priority has its
    own."""
    engine = limited(make_engine, rate_bps=1_000_000)
    engine.port_buffer_set(2, 3 * FRAME)
    for _ in range(6):
        engine.inject(1, packet())
    counters = engine.port_counters(2)
    assert (counters.queue_octets, counters.queue_octets_peak) == (3 * FRAME, 3 * FRAME)
    assert (counters.queue_depth, counters.queue_drops) == (3, 2)
    engine.inject(1, packet(priority=1))
    assert engine.port_counters(2).queue_octets == 4 * FRAME
    assert engine.balance()["queue_full_drops"] == 2
    engine.advance(FRAME * OCTET_NS)
    assert engine.port_counters(2).queue_octets == 3 * FRAME
    engine.port_buffer_set(2, None)
    engine.inject(1, packet())
    engine.advance(1_000_000_000)
    assert len(engine.outputs()) == 6
    assert engine.port_counters(2).queue_octets == 0


def test_queues_share_the_memory_of_a_switch(make_engine: MakeEngine) -> None:
    engine = limited(make_engine, rate_bps=1_000_000)
    engine.port_queue_set(3, PortQueue(rate_bps=1_000_000))
    engine.buffer_set(4 * FRAME)
    for port in (2, 2, 2, 3, 3, 3, 3):
        engine.inject(1, packet(port))
    balance = engine.balance()
    assert (balance["buffer_full_drops"], balance["queue_full_drops"]) == (1, 0)
    depths = [engine.port_counters(port).queue_octets for port in (2, 3)]
    assert depths == [2 * FRAME, 2 * FRAME]
    assert engine.port_counters(3).queue_drops == 1
    engine.advance(1_000_000_000)
    assert len(engine.outputs()) == 6
