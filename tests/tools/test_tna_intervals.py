"""What the gates for chips let pass, over the wrap of a chip's clock (FCN-11, FCN-15).

A chip is not here: the conditions of the RegisterActions are read from the source, and evaluated
as a register's ALU does, with unsigned numbers of 32 bits, on what the actions before compute.
"""

import re
from itertools import pairwise
from pathlib import Path
from types import CodeType

import pytest

P4SRC = Path(__file__).resolve().parents[2] / "p4src"
MODULUS = 1 << 32
EXTERNS = (P4SRC / "base" / "tna" / "externs.p4").read_text()
NEVER = int(re.search(r"NEVER = (\w+);", EXTERNS)[1], 16)  # type: ignore[index]
INTERVAL = """#define SET_INTERVAL(to, now, interval) \\
    to.start = (now) + (interval);      \\
    to.start_or_wrap = (now) |+| (interval);
#define BEFORE_WRAP(interval) interval.start != interval.start_or_wrap
"""
"""What `passes` does likewise."""


class Gate:
    """One cell of a register of times, with the conditions that the program applies to it."""

    def __init__(self, file: str, usual: str, after_wrap: str) -> None:
        text = (P4SRC / file).read_text()
        self._conditions = [self._condition(text, name) for name in (usual, after_wrap)]
        self.last = ~NEVER % MODULUS

    @staticmethod
    def _condition(text: str, action: str) -> CodeType:
        found = re.search(rf"\) {action} = {{.*?if \((.*?)\) {{\n", text, re.DOTALL)
        assert found is not None, action
        python = found[1].replace("interval.", "").replace("md.meta.base.", "")
        python = python.replace("||", "or").replace("&&", "and")
        return compile(python, action, "eval")

    def passes(self, now: int, interval: int) -> bool:
        """Whether a packet at `now` passes, in ticks; then that is the cell's time."""
        now %= MODULUS
        down = ~now % MODULUS
        start, start_or_wrap = (down + interval) % MODULUS, min(down + interval, MODULUS - 1)
        names = {"last": ~self.last % MODULUS, "now": down, "start": start}
        passed = bool(eval(self._conditions[start != start_or_wrap], {}, names))
        if passed:
            self.last = now
        return passed


@pytest.fixture(
    params=[
        ("fast_cnp/tna/flow_gate.p4", "send", "send_after_wrap"),
        ("learning/tna/report.p4", "report_again", "report_after_wrap"),
        ("fantel/tna/calm.p4", "look", "look_after_wrap"),
    ],
    ids=["FlowGate", "Report", "Calm"],
)
def gate(request: pytest.FixtureRequest) -> Gate:
    """Each gate, its cell as when the chip starts."""
    return Gate(*request.param)


def test_time_is_counted_down_as_here() -> None:
    assert INTERVAL in EXTERNS
    assert "#define TICKS(tstamp) ~(tstamp)[39:8]\n" in EXTERNS


@pytest.mark.parametrize(
    "start", [0, 1, 999, 1000, 1001, MODULUS - 2000, MODULUS - 1000, MODULUS - 1, MODULUS]
)
def test_one_of_an_interval_passes_after_start_and_over_the_wrap(gate: Gate, start: int) -> None:
    """The first packet passes, then one in 1,000 ticks, wherever the clock stands."""
    passed = [now for now in range(start, start + 5000) if gate.passes(now, 1000)]
    assert passed == list(range(start, start + 5000, 1000))


@pytest.mark.parametrize("start", [MODULUS // 2 - 500, MODULUS // 2, MODULUS // 2 + 999])
def test_a_cell_that_never_sent_waits_one_interval_at_most(gate: Gate, start: int) -> None:
    """The time that stands for never is taken for a time when the clock is there."""
    passed = [now for now in range(start, start + 5000) if gate.passes(now, 1000)]
    assert passed[0] - start <= 1000
    assert {after - before for before, after in pairwise(passed)} == {1000}


def test_cells_of_any_age_pass_where_the_interval_is_over(gate: Gate) -> None:
    """Against (now - last) mod 2^32 >= interval, at the limits of every comparison."""
    limits = [0, 1, 2, 500, 501, MODULUS // 2, MODULUS - 501, MODULUS - 500, MODULUS - 1]
    for now in limits:
        for last in {
            (limit + step) % MODULUS for limit in limits for step in (-500, -1, 0, 1, 500)
        }:
            for interval in (1, 2, 499, 500, 501, 1 << 20):
                gate.last = last
                assert gate.passes(now, interval) == ((now - last) % MODULUS >= interval), (
                    now,
                    last,
                    interval,
                )


def test_without_an_interval_every_packet_passes(gate: Gate) -> None:
    """The interval 0 switches a gate off."""
    assert all(gate.passes(now, 0) for now in [0, 0, 1, MODULUS - 1, 0, 0])
