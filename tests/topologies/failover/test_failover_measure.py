"""What is measured of a run of the failover demo, on a record written by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from fcn.topologies.failover.measure import MeasureError, measure, problems
from fcn.topologies.failover.report import draw, result_table
from fcn.topologies.failover.run import Record

MS = 1_000_000
CUT, DETECTED, MOVED, MENDED, BACK, END = (each * MS for each in (100, 400, 402, 800, 950, 1_100))


def every(first: int, last: int) -> tuple[int, ...]:
    return tuple(range(first, last, MS))


RECORD = Record(
    start_ns=0,
    stopped_ns=50 * MS,
    cut_ns=CUT,
    continued_ns=600 * MS,
    mended_ns=MENDED,
    left={"r1": (*every(0, MOVED), *every(BACK, END)), "r2": every(MOVED, BACK)},
    over_link=(*every(1, CUT), *every(BACK + 1, END + 1)),
    round_it=every(DETECTED, MOVED),
    told=(DETECTED + 1_000,),
    arrived=(*every(2 * MS, CUT + 2 * MS), *every(DETECTED + MS, END + MS)),
    states=("failed", "up"),
    propagation_ns=MS,
)


def test_times_are_since_the_last_packet_over_the_link() -> None:
    found = measure(RECORD)
    failed = CUT - MS + 1
    assert found.failed_ns == failed
    assert (found.detected_ns, found.moved_ns) == (DETECTED - failed, MOVED - failed)
    assert found.told_ns == DETECTED + 1_000 - failed
    assert found.bound_ns == DETECTED - failed + MS
    assert found.silent_ns == DETECTED + MS - (CUT + MS)
    assert found.back_ns == BACK - MENDED
    assert found.lost == 300
    assert not list(problems(RECORD, found))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"told": (MOVED + MS,)}, "before it was told"),
        ({"left": {"r1": every(0, END), "r2": every(MOVED, BACK)}}, "before its link was mended"),
        ({"states": ("up", "up")}, "the first path is up, not failed"),
        ({"states": ("failed", "failed")}, "the first path is failed, not up"),
        ({"round_it": every(CUT + MS, MOVED), "told": (CUT + MS,)}, "times as late as"),
    ],
)
def test_what_is_wrong_is_said(change: dict[str, object], said: str) -> None:
    record = replace(RECORD, **change)  # type: ignore[arg-type]
    assert any(said in problem for problem in problems(record, measure(record)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"over_link": ()}, "no packet passed the link"),
        ({"round_it": ()}, "no packet round the link"),
        ({"told": ()}, "no packet to tell the PE"),
        ({"arrived": every(0, CUT)}, "no packet arrived"),
    ],
)
def test_what_cannot_be_measured_is_said(change: dict[str, object], said: str) -> None:
    with pytest.raises(MeasureError, match=said):
        measure(replace(RECORD, **change))  # type: ignore[arg-type]


def test_a_table_and_a_plot(tmp_path: Path) -> None:
    found = measure(RECORD)
    assert result_table(found).row_count == 8
    draw(RECORD, found, "A link dies", tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
