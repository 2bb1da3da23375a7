"""Tasks that wait for others: exact in virtual time."""

import pytest
from lab_networks import GIGABIT, Rates, address, wan
from test_lab_roce import MILLISECOND, RETH, connected, on_the_way

from fcn.lab.core import Simulation
from fcn.lab.errors import LabError
from fcn.lab.jobs import Jobs, TaskTimes

RATES = Rates((100 * GIGABIT, 777), (400 * GIGABIT, 123_456), (50 * GIGABIT, 654_321))
THINKS_NS = 700
START_NS = 20 * MILLISECOND


def test_an_answer_is_sent_in_the_nanosecond_in_which_its_time_is_over() -> None:
    with Simulation() as simulation:
        network = wan(simulation, RATES)
        left, right, there = connected(network)
        back = right.connect(address(1), at_ns=simulation.now_ns)
        simulation.run_until(15 * MILLISECOND)
        jobs = Jobs(simulation)
        ask = jobs.channel(left, there, right)
        answer = jobs.channel(right, back, left)
        asked = jobs.message(ask, 1000, start_ns=START_NS)
        thought = jobs.time(THINKS_NS, after=[asked])
        answered = jobs.message(answer, 500, after=[thought])
        heard = jobs.time(0, after=[asked, answered])
        never = jobs.time(0, start_ns=40 * MILLISECOND, after=[heard])
        jobs.begin()
        assert jobs.times(asked) == TaskTimes(START_NS, None)
        assert jobs.times(answered) == TaskTimes(None, None)
        simulation.run_until(30 * MILLISECOND)
        arrived = START_NS + on_the_way(RETH + 1000, RATES)
        assert jobs.times(asked) == TaskTimes(START_NS, arrived)
        assert jobs.times(thought) == TaskTimes(arrived, arrived + THINKS_NS)
        done = arrived + THINKS_NS + on_the_way(RETH + 500, RATES)
        assert jobs.times(answered) == TaskTimes(arrived + THINKS_NS, done)
        assert jobs.times(heard) == TaskTimes(done, done)
        assert jobs.times(never).done_ns == 40 * MILLISECOND, "known before it is so"
        jobs.check()


def test_who_waits_for_several_begins_with_the_last() -> None:
    """Times alone, of which all is known at once; in which order they are added says nothing."""
    with Simulation() as simulation:
        jobs = Jobs(simulation)
        first, second = jobs.time(500), jobs.time(300, start_ns=400)
        third = jobs.time(10, after=[second, first])
        fourth = jobs.time(10, after=[third, first])
        jobs.begin()
        jobs.begin()
        assert jobs.times(third) == TaskTimes(700, 710)
        assert jobs.times(fourth) == TaskTimes(710, 720)


def test_what_cannot_be_is_refused() -> None:
    with Simulation() as simulation:
        network = wan(simulation)
        left, right, there = connected(network)
        jobs = Jobs(simulation)
        for impossible in (
            lambda: jobs.time(1, after=[0]),
            lambda: jobs.time(1, after=[99]),
            lambda: jobs.message(0, 100),
            lambda: jobs.message(0, 0),
            lambda: jobs.channel(left, there + 1, right),
            lambda: jobs.channel(right, 0, left),
            lambda: jobs.times(99),
        ):
            with pytest.raises(LabError):
                impossible()
