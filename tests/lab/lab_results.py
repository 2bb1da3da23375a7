"""A small network and results on it, written by hand: two senders, two receivers, one queue."""

from fcn.lab.result.model import (
    About,
    BalanceInfo,
    EventInfo,
    HostInfo,
    LinkInfo,
    NetworkInfo,
    NodeInfo,
    QueueInfo,
    Result,
)
from fcn.lab.result.tables import ARRIVED, LINK_DOWN, LINK_UP, PATH, frame

ACCESS_NS = 500
NEAR_NS = 500_000
"""From pe1 to p1, 100 km."""
FAR_NS = 5_000_000
"""From p1 to pe2, 1000 km."""
FCN_BOUND_NS = NEAR_NS + ACCESS_NS
ECN_BOUND_NS = FAR_NS + ACCESS_NS + ACCESS_NS + FAR_NS + NEAR_NS + ACCESS_NS
ONSET_NS = 1_000_000
FAST_CNP_FRAME = 4711
FAST_CUT_NS = ONSET_NS + FCN_BOUND_NS + 700
SLOW_CUT_NS = ONSET_NS + ECN_BOUND_NS + 2_100
PE_ADDRESS = "10.1.1.1"
MS = 1_000_000
FAILED_NS = 3 * MS
DETECTED_NS = FAILED_NS + 4 * MS
MOVED_NS = DETECTED_NS + NEAR_NS + 20_000
MENDED_NS = 12 * MS

NETWORK = NetworkInfo(
    name="dumbbell",
    nodes=(
        NodeInfo(name="pe1", role="pe"),
        NodeInfo(name="p1", role="p"),
        NodeInfo(name="pe2", role="pe"),
    ),
    links=(
        LinkInfo(a="l1", b="pe1", delay_ns=ACCESS_NS, rate_bps=10**11),
        LinkInfo(a="l2", b="pe1", delay_ns=ACCESS_NS, rate_bps=10**11),
        LinkInfo(a="pe1", b="p1", delay_ns=NEAR_NS, rate_bps=4 * 10**11),
        LinkInfo(a="p1", b="pe2", delay_ns=FAR_NS, rate_bps=10**11),
        LinkInfo(a="r1", b="pe2", delay_ns=ACCESS_NS, rate_bps=10**11),
        LinkInfo(a="r2", b="pe2", delay_ns=ACCESS_NS, rate_bps=10**11),
    ),
    hosts=(
        HostInfo(name="l1", addresses=("10.1.1.10",), pe="pe1"),
        HostInfo(name="l2", addresses=("10.1.2.10",), pe="pe1"),
        HostInfo(name="r1", addresses=("10.2.1.10",), pe="pe2"),
        HostInfo(name="r2", addresses=("10.2.2.10",), pe="pe2"),
    ),
    queues=(QueueInfo(node="p1", towards="pe2", thresholds=(50, 100, 200), packets=1000),),
)

SCENARIO = """\
network: dumbbell.yaml
mode: fcn
duration: 20ms
traffic:
  - {pattern: permutation, from: [l*], to: [r*], size: 64kB}
"""


def about(**changes: object) -> About:
    """What a run of the dumbbell is about."""
    made = About(
        fcn="0.1.0",
        scenario="dumbbell",
        text=SCENARIO,
        mode="fcn",
        seed=1,
        duration_ns=2 * 10**7,
        reached_ns=2 * 10**7,
        finished=True,
        wall_s=0.5,
        digest="0123456789abcdef",
        hops=100,
        balance=BalanceInfo(
            sources={"l1: sent": 111, "l2: sent": 100},
            ends={
                "r1: received": 190,
                "p1: queue_full_drops": 9,
                "p1:2 to pe2:1: link down": 3,
                "pe1: to_cpu": 2,
                "pe1: ingress_drops": 12,
            },
            places={},
        ),
        network=NETWORK,
    )
    return made.model_copy(update=changes)


def congested(mode: str = "fcn") -> Result:
    """One congestion of p1 towards pe2; with FCN the CNP of pe1 comes first."""
    fcn = mode == "fcn"
    ce = [ONSET_NS + 300 * n for n in range(20)]
    crossings = [(time, "p1", "pe2", "ce", time) for time in ce]
    crossings += [(time + FAR_NS, "pe2", "r1", "ce", time + FAR_NS) for time in ce]
    notices: list[tuple[object, ...]] = [
        (SLOW_CUT_NS, "l2", 0, "cnp", 0, "10.2.2.10", 0),
        (SLOW_CUT_NS, "l2", 0, "cut", 30 * 10**9, "10.2.2.10", 0),
        (ONSET_NS + FAR_NS + 800, "r2", 0, "cnp_sent", 1, "10.1.2.10", 0),
    ]
    if fcn:
        notices += [
            (FAST_CUT_NS, "l1", 0, "cnp", 0, PE_ADDRESS, 1),
            (FAST_CUT_NS, "l1", 0, "cut", 50 * 10**9, PE_ADDRESS, 1),
        ]
        crossings.append((ONSET_NS + 20, "p1", "pe1", "fast_cnp", FAST_CNP_FRAME))
    queue = [(10_000 * n, max(0, 120 - abs(n - 200))) for n in range(2000)]
    counters = [
        (1_010_000, "p1", "event", "CE_MARKED", 9),
        (1_020_000, "p1", "event", "CE_MARKED", 20),
        (1_010_000, "p1", "event", "NEW_FLOW", 2),
        (1_500_000, "pe1", "drop", "NO_ROUTE", 4),
        (1_500_000, "pe1", "drop", "FLOW_INTERVAL", 2),
        (1_500_000, "p1", "drop", "QUEUE_FULL", 9),
        (1_500_000, "pe1", "drop", "INGRESS", 10),
        (1_500_000, "pe1", "event", "HELLO_RECEIVED", 2),
        (1_500_000, "pe1", "event", "LIGHT_CONGESTION", 1),
    ]
    if fcn:
        counters.append((1_010_000, "p1", "event", "FAST_CNP_SENT", 1))
    connections = [
        ("l1", 0, "r1", 0x100, 0x800000, "CONNECTED", 104, 110_000, 4, 6, 1, 0, 1, 1, 96_000, 12, 3,
         0, 0),
        ("l2", 0, "r2", 0x100, 0x800000, "CONNECTED", 100, 108_000, 0, 6, 0, 0, 1, 1, 100_000, 8, 0,
         0, 1),
    ]  # fmt: skip
    rates = [
        (time, host, 0, rate, time // 10_000, time)
        for host, first, cut_ns, rate_after in (
            ("l1", 0, FAST_CUT_NS if fcn else 10**9, 5e10),
            ("l2", 500_000, SLOW_CUT_NS, 3e10),
        )
        for time in range(first, 20_000_000, 100_000)
        for rate in (1e11 if time < cut_ns else rate_after,)
    ]
    return Result(
        about(mode=mode),
        messages=frame(
            "messages",
            [
                ("l1", 0, 0, 32_000, 0, 12_000_000),
                ("l1", 0, 1, 64_000, 100, 12_800_100),
                ("l2", 0, 0, 100_000, 500_000, None),
            ],
        ),
        connections=frame("connections", connections),
        rates=frame("rates", sorted(rates)),
        queues=frame("queues", [(t, "p1", "pe2", n, 1100 * n) for t, n in queue]),
        links=frame(
            "links", [(t, "p1", "pe2", t // 1000, 10 * t, 3) for t in range(0, 20_000_000, 100_000)]
        ),
        counters=frame("counters", counters),
        notices=frame("notices", sorted(notices, key=lambda row: str(row[0]).zfill(12))),
        crossings=frame("crossings", sorted(crossings)),
        controller=frame(
            "controller", [(0, "pe1", "flow learned", 2), (90_000, "pe1", "flow learned", 1)]
        ),
    )


def with_pauses() -> Result:
    """pe1 is told to wait by p1: twice for its full time, once until it may go on."""
    return Result(
        about(),
        pauses=frame(
            "pauses",
            [
                (1_000_000, "pe1", "p1", 3, 50_000),
                (1_040_000, "pe1", "p1", 3, 50_000),
                (2_000_000, "pe1", "p1", 3, 50_000),
                (2_010_000, "pe1", "p1", 3, 0),
                (19_990_000, "pe1", "p1", 4, 50_000),
            ],
        ),
    )


def link_failed(*more: tuple[object, ...], up_at: int | None = MENDED_NS) -> Result:
    """The link between p1 and pe2 fails; pe1, to which l1 belongs, takes path `b`."""
    events = [EventInfo(time_ns=FAILED_NS, text="link p1-pe2 down")]
    if up_at is not None:
        events.append(EventInfo(time_ns=up_at, text="link p1-pe2 up"))
    counters = [
        (0, "p1", LINK_UP, "pe2", 1),
        *((at, "pe1", PATH, "to-pe2: a", at) for at in range(MS, DETECTED_NS, MS)),
        (DETECTED_NS - MS, "pe2", LINK_DOWN, "p1", 1),
        (DETECTED_NS, "p1", LINK_DOWN, "pe2", 1),
        *((at, "pe1", PATH, "to-pe2: b", at) for at in range(MOVED_NS, MENDED_NS, MS)),
        *((at, "pe2", ARRIVED, "r1", at) for at in (MS, 2 * MS, FAILED_NS + 1, 8 * MS, 9 * MS)),
        *more,
    ]
    flow = ("l1", 0, "r1", 0x100, 0x800000, "CONNECTED", 104, 110_000, 40, 6, 1, 0, 1, 1, 96_000, 0,
            3, 2, 0)  # fmt: skip
    return Result(
        about(events=tuple(events)),
        messages=frame("messages", [("l1", 0, 0, 32_000, 0, 9_000_000)]),
        connections=frame("connections", [flow]),
        counters=frame("counters", counters),
    )
