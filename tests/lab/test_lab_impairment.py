"""Jitter and bit errors of links."""

from dataclasses import dataclass

import pytest
from lab_networks import address, wan

from fcn.lab.balance import balance
from fcn.lab.core import Simulation
from fcn.lab.errors import LabError
from fcn.lab.impairment import Impairment, impair
from fcn.lab.marking import binomial_error
from fcn.lab.roce import completions

MILLISECOND = 1_000_000
FRAME, FRAMES, DELAY = 1000, 20_000, 5_000


@dataclass(frozen=True)
class Seen:
    """What came of FRAMES frames in one direction, and of as many in the other."""

    errors: tuple[int, int]
    delays: tuple[int, float, int]
    arrived: list[tuple[int, int]]
    digest: int


def across(impairment: Impairment, *, seed: int = 1, apart_ns: int = 10_000) -> Seen:
    """Two hosts and a link; the first octets of a frame are its number."""
    with Simulation(seed=seed) as simulation:
        simulation.keep_digest()
        left, right = simulation.add_host("left"), simulation.add_host("right")
        link = simulation.connect(left, 0, right, 0, rate_bps=100 * 10**9, delay_ns=DELAY)
        impair(simulation, link, impairment)
        link.tap(0, snap=4)
        frames = [number.to_bytes(4, "big") + bytes(FRAME - 4) for number in range(FRAMES)]
        for host in (left, right):
            host.send_series(frames, per_second=1e9 / apart_ns, count=FRAMES)
        simulation.run_until(FRAMES * apart_ns + 50_000)
        balance(simulation)
        seen = right.counters()
        return Seen(
            errors=(link.counters(0).errors, link.counters(1).errors),
            delays=(seen.delay_min_ns, seen.delay_sum_ns / seen.timed, seen.delay_max_ns),
            arrived=[
                (frame.time_ns, int.from_bytes(frame.data[:4], "big"))
                for frame in simulation.tapped()
            ],
            digest=simulation.digest,
        )


@pytest.mark.parametrize("bit_errors", [1e-7, 1e-6, 1e-4])
def test_as_many_frames_are_lost_as_independent_errors_hit(bit_errors: float) -> None:
    """Those of both directions, which draw by themselves."""
    seen = across(Impairment(bit_errors=bit_errors))
    share = 1 - (1 - bit_errors) ** (8 * (FRAME + 4))
    for errors in seen.errors:
        assert binomial_error(FRAMES, errors, share) > 1e-3
    assert seen.errors[0] != seen.errors[1]
    assert len(seen.arrived) == FRAMES - seen.errors[0]


def test_jitter_is_alike_likely_up_to_its_most() -> None:
    jitter = 2_000
    bare = across(Impairment()).delays
    least, mean, most = across(Impairment(jitter_ns=jitter)).delays
    assert bare[0] == bare[2]
    assert bare[0] <= least <= bare[0] + 2
    assert bare[0] + jitter - 2 <= most <= bare[0] + jitter
    assert mean - bare[1] == pytest.approx(jitter / 2, rel=0.02)


def test_no_frame_overtakes_another() -> None:
    """They leave every 100 ns, and take up to 5 us longer."""
    seen = across(Impairment(jitter_ns=5_000), apart_ns=100)
    assert seen.arrived == sorted(seen.arrived)
    assert [number for _, number in seen.arrived] == list(range(FRAMES))
    times = [time for time, _ in seen.arrived]
    assert len(set(times)) < FRAMES, "some wait for the one before them"


def test_it_follows_from_the_seed() -> None:
    impairment = Impairment(jitter_ns=500, bit_errors=1e-6)
    runs = [across(impairment, seed=seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert runs[0].digest != runs[2].digest


@pytest.mark.parametrize("wrong", [Impairment(bit_errors=0.1), Impairment(bit_errors=1e-30),
                                   Impairment(jitter_ns=-1)])  # fmt: skip
def test_what_cannot_be_is_refused(wrong: Impairment) -> None:
    with pytest.raises(LabError):
        across(wrong)


def test_messages_arrive_over_a_line_with_errors() -> None:
    with Simulation() as simulation:
        network = wan(simulation)
        impair(simulation, network.links[2], Impairment(jitter_ns=1_000, bit_errors=1e-6))
        left, right = network.roce(1), network.roce(2)
        left.connect(address(2))
        for number in range(20):
            left.write(0, 100_000, start_ns=number * MILLISECOND)
        simulation.run_until(800 * MILLISECOND)
        assert network.links[2].counters(0).errors > 0
        assert left.sender(0).retransmitted > 0
        assert len(completions(simulation)) == 20
        assert right.receiver(0).payload == 20 * 100_000
        balance(simulation)
