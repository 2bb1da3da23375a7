"""Hosts with TIMELY and Swift in virtual time."""

import pytest
from lab_networks import GIGABIT, Rates, address, wan

from fcn.lab.balance import balance
from fcn.lab.controls import CONTROLS, ControlName, Swift, Timely
from fcn.lab.core import Simulation
from fcn.lab.depths import depths, measure_depth
from fcn.lab.notices import keep_notices, notices
from fcn.lab.roce import RetransmissionName, RoceOptions, State, completions

MILLISECOND = 1_000_000
BOTTLENECK = 10 * GIGABIT
RATES = Rates((20 * GIGABIT, 500), (40 * GIGABIT, 20_000), (BOTTLENECK, 30_000))
TRIP_NS = 2 * (2 * 500 + 20_000 + 30_000)
"""Propagation."""

WIRE = 1024 + 20 + 8 + 12 + 4 + 14 + 40 + 24
"""On the bottleneck."""

SWIFT = Swift.model_construct(base_target=TRIP_NS + 60_000, scaling=0, most_window=2000.0)
TIMELY = Timely.model_construct(
    low=TRIP_NS + 30_000, high=TRIP_NS + 400_000, least_rtt=TRIP_NS, additive_increase=20_000_000
)


@pytest.mark.parametrize(
    ("control", "extra_ns"), [("swift", (45_000, 75_000)), ("timely", (5_000, 400_000))]
)
def test_two_flows_fill_the_link_and_queue_what_their_targets_say(
    control: ControlName, extra_ns: tuple[int, int]
) -> None:
    """Swift's queue is its target beyond propagation; TIMELY's is between its thresholds."""
    options = RoceOptions(control=control, timely=TIMELY, swift=SWIFT, ack_every=8)
    with Simulation() as simulation:
        network = wan(simulation, RATES, 4000, hosts=2, threshold=1)
        keep_notices(simulation)
        for number in range(2):
            network.roce(2, number, options)
        senders = [network.roce(1, number, options) for number in range(2)]
        for number, sender in enumerate(senders):
            sender.connect(address(2, number))
            sender.write(0, 60_000_000)
        simulation.run_until(30 * MILLISECOND)
        before = [sender.sender(0).acknowledged for sender in senders]
        p1 = simulation.switches["p1"]
        measure_depth(simulation, p1, 2)
        simulation.run_until(60 * MILLISECOND)
        after = [sender.sender(0) for sender in senders]
        share = [end.acknowledged - begin for end, begin in zip(after, before, strict=True)]
        assert sum(share) * WIRE * 8 / 30e-3 == pytest.approx(BOTTLENECK, rel=0.06)
        assert min(share) > 0.3 * max(share)
        low, high = (extra * BOTTLENECK / 8e9 for extra in extra_ns)
        assert low < depths(simulation, p1, 2).mean_octets < high
        assert min(end.cuts for end in after) > 0
        assert min(end.cnps for end in after) > 0, "told, and not listened to"
        by_switch = notices(simulation).groupby("what")["by_switch"].any()
        assert by_switch["cnp"]
        assert not by_switch["cut"], "a CNP cuts nothing here"


@pytest.mark.parametrize("control", CONTROLS)
def test_a_window_smaller_than_the_distance_of_acks_does_not_stall(control: ControlName) -> None:
    options = RoceOptions(control=control, window=3, ack_every=32, timely=TIMELY, swift=SWIFT)
    with Simulation() as simulation:
        network = wan(simulation, RATES)
        network.roce(2, options=options)
        left = network.roce(1, options=options)
        left.connect(address(2))
        left.write(0, 100 * 1024)
        simulation.run_until(20 * MILLISECOND)
        assert len(completions(simulation)) == 1
        assert left.sender(0).timeouts == 0


def test_swift_repairs_losses_and_waits_where_nothing_comes_back() -> None:
    """A queue of 20 packets overflows; the link dies, and the window is its least until it is
    mended. TIMELY has no rule for losses."""
    options = RoceOptions(control="swift", swift=SWIFT, ack_every=8, timeout=5 * MILLISECOND)
    with Simulation() as simulation:
        network = wan(simulation, RATES, 20, features="[]")
        right, left = network.roce(2, options=options), network.roce(1, options=options)
        left.connect(address(2))
        left.write(0, 3_000_000)
        simulation.run_until(30 * MILLISECOND)
        assert balance(simulation).ends["p1: queue_full_drops"] > 0
        network.links[2].set_up(False)
        left.write(0, 40_000, start_ns=simulation.now_ns)
        simulation.run_until(52 * MILLISECOND)
        assert left.sender(0).timeouts > 0
        assert left.sender(0).rate_bps < 1e6
        network.links[2].set_up(True)
        simulation.run_until(400 * MILLISECOND)
        assert (left.sender(0).state, len(completions(simulation))) == (State.CONNECTED, 2)
        assert right.receiver(0).payload == 3_040_000


@pytest.mark.parametrize("retransmission", ["go-back-n", "selective-repeat"])
def test_what_swift_sends_again_is_clocked_by_acks_too(
    retransmission: RetransmissionName,
) -> None:
    """After a time-out one packet in the first round trip, and soon as many as before."""
    options = RoceOptions(
        control="swift", swift=SWIFT, ack_every=8, timeout=5 * MILLISECOND,
        retransmission=retransmission,
    )  # fmt: skip
    with Simulation() as simulation:
        network = wan(simulation, RATES, 4000, features="[]")
        network.roce(2, options=options)
        left = network.roce(1, options=options)
        left.connect(address(2))
        left.write(0, 6_000_000)
        simulation.run_until(2 * MILLISECOND)
        network.links[2].set_up(False)
        while not left.sender(0).timeouts:
            simulation.run_until(simulation.now_ns + 1_000)
        before = left.sender(0)
        assert before.highest - before.acknowledged > 500
        network.links[2].set_up(True)
        simulation.run_until(simulation.now_ns + TRIP_NS - 2_000)
        assert left.sender(0).retransmitted == 1
        simulation.run_until(20 * MILLISECOND)
        assert len(completions(simulation)) == 1
        assert left.sender(0).timeouts == 1
