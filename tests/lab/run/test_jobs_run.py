"""Jobs in a network that is never congested take what closed forms say."""

from typing import Any

import pytest
from small import small

from fcn.lab.result.jobs import iterations
from fcn.lab.result.model import Result
from fcn.lab.result.slowdown import Ideal
from fcn.lab.run.runner import run_scenario

COMPUTE_NS = 200_000
RING = ("h1", "h2", "h3", "h4")
ACK_NS = 40
"""What ACKs of a step take that go before its data, at 100 Gb/s, on two links."""


CORE = [["pe1", "p1"], ["p1", "p2"], ["p2", "pe2"]]


def run(*jobs: dict[str, Any], duration: str = "20ms") -> Result:
    """In the small network, in which nothing else is sent, with a core faster than its hosts: a
    part that is sent while the one before is on the way does not wait for it."""
    plan = small(
        mode="none",
        duration=duration,
        traffic=[],
        jobs=list(jobs),
        measure={"interval": "1ms"},
        links={
            "core": {"rate": "400 Gb/s", "buffer": 4000},
            "hosts": {"rate": "100 Gb/s", "delay": "500ns", "buffer": 4000},
            "only": [{"between": ends, "delay": "30 km"} for ends in CORE],
        },
    )
    return run_scenario(plan)


def took(result: Result) -> list[int]:
    done = iterations(result)
    assert done["took_ns"].notna().all(), result.jobs
    return [int(each) for each in done["took_ns"]]


def one_way(result: Result, host: str, remote: str, size: int) -> float:
    """Until all of a message was received that has the network for itself."""
    ideal = Ideal(result.about.network).received_ns(host, remote, size)
    assert ideal is not None
    return ideal


def around(expected: float, steps: int) -> Any:  # noqa: ANN401 - pytest's own type
    """What is below a nanosecond at each hop, and ACKs that go before data."""
    return pytest.approx(expected, abs=steps * (ACK_NS + 8))


def test_a_ring_within_a_site_takes_2_n_minus_1_steps() -> None:
    job = {"job": "ring", "ranks": ["pe1"], "size": "400kB", "compute": "200us", "iterations": 3}
    result = run(job)
    step = one_way(result, "h1", "h2", 200_000)
    assert took(result) == [around(COMPUTE_NS + 2 * step, 2)] * 3
    assert len(result.messages) == 3 * 2 * 2
    assert result.messages["completed_ns"].notna().all()


def test_a_ring_between_two_sites_takes_all_but_two_hops_twice() -> None:
    """2 (n - 1) steps, one behind the other: twice around but for the two shortest hops."""
    job = {"job": "ring", "ranks": list(RING), "size": "400kB", "compute": "200us"}
    result = run(job)
    hops = [
        one_way(result, host, remote, 100_000)
        for host, remote in zip(RING, (*RING[1:], RING[0]), strict=True)
    ]
    left_out = min(first + second for first, second in zip(hops, (*hops[1:], hops[0]), strict=True))
    assert took(result) == [around(COMPUTE_NS + 2 * sum(hops) - left_out, 6)]


def test_a_tree_takes_its_longest_way_up_and_down() -> None:
    """h1 is above h2 and h3, h2 above h4; what h1 sends to h2 and h3 shares its line."""
    job = {"job": "tree", "ranks": list(RING), "size": "4kB", "compute": "200us"}
    result = run(job)
    far = one_way(result, "h4", "h2", 4000)
    near = one_way(result, "h2", "h1", 4000)
    assert took(result) == [around(COMPUTE_NS + 2 * (far + near), 12)]


def test_an_all_to_all_of_two_is_a_message() -> None:
    job = {"job": "all-to-all", "ranks": ["h1", "h3"], "size": "1MB", "compute": "200us"}
    result = run({**job, "iterations": 2})
    expected = COMPUTE_NS + one_way(result, "h1", "h3", 1_000_000)
    assert took(result) == [around(expected, 1 + 1_000_000 // 4096 // 32)] * 2


def test_an_all_to_all_sends_to_everybody_once() -> None:
    result = run({"job": "all-to-all", "ranks": list(RING), "size": "10kB"})
    assert len(result.connections) == len(result.messages) == 12
    assert result.jobs["completed_ns"].notna().all()


def test_a_pipeline_is_filled_and_emptied() -> None:
    """Of n stages and m microbatches (m + n - 1) times both ways, and the hops between."""
    job = {
        "job": "pipeline", "ranks": ["h1", "h2", "h3"], "size": "100kB", "compute": "100us",
        "microbatches": 4, "backward": "150us",
    }  # fmt: skip
    result = run(job)
    hops = one_way(result, "h1", "h2", 100_000) + one_way(result, "h2", "h3", 100_000)
    assert took(result) == [around((4 + 3 - 1) * 250_000 + 2 * hops, 12)]
    assert result.jobs["compute_ns"].tolist() == [4 * 250_000] * 3


def test_jobs_that_the_run_does_not_complete_say_so() -> None:
    job = {"job": "ring", "ranks": list(RING), "size": "400kB", "iterations": 50}
    result = run({**job, "start": "500us"}, duration="3ms")
    done = iterations(result)
    assert 0 < done["took_ns"].notna().sum() < 50
    assert len(done) == 50
    assert done["begun_ns"].iloc[0] == 500_000
    assert (result.messages["start_ns"] <= 3_000_000).all()
    again = run({**job, "start": "500us"}, duration="3ms")
    assert again.about.digest == result.about.digest
    assert again.jobs.equals(result.jobs)
