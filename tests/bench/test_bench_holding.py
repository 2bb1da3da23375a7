"""What other traffic sees while a flow is held through the same port (SRF-7)."""

import json
import sys
from pathlib import Path

import pytest

from fcn.bench import holding
from fcn.bench.holding import CASES, measure

PACKETS = 4_000
GIGABIT = 10**9


@pytest.mark.exhaustive
@pytest.mark.parametrize("line_bps", [10 * GIGABIT, 100 * GIGABIT])
def test_other_traffic_is_not_held_up_and_nothing_is_lost(line_bps: int) -> None:
    alone, free, held = (
        measure(line_bps, case, PACKETS) for case in ("alone", "never held", "held")
    )
    assert (alone.left, alone.drained_ns) == (0, None)
    assert free.left_in_window > 0
    assert held.left_while_held == 0
    # The same arrivals: what a held flow leaves of the port is the whole of it.
    assert held.packets_per_second == pytest.approx(alone.packets_per_second, rel=0.001)
    assert held.p99_ns <= 1.1 * alone.p99_ns
    assert alone.p99_ns < free.p99_ns
    for seen in (alone, free, held):
        assert seen.lost == 0
        assert seen.all_in_order


def test_a_hold_that_ends_is_drained_in_order_while_traffic_goes_on() -> None:
    seen = measure(100 * GIGABIT, "released", PACKETS)
    assert seen.left_while_held == 0
    assert seen.left_in_window > 0
    assert seen.drained_ns is not None
    assert seen.lost == 0
    assert seen.all_in_order


def test_a_case_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="case 'paused': there are alone"):
        measure(10 * GIGABIT, "paused")


@pytest.mark.exhaustive
def test_every_run_is_written(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = holding.measure
    monkeypatch.setattr(
        holding, "measure", lambda line, case, seed: whole(line, case, packets=300, seed=seed)
    )
    path = tmp_path / "holding.json"
    monkeypatch.setattr(sys, "argv", ["holding", "--seeds", "2", "--results", str(path)])
    holding.main()
    runs = json.loads(path.read_text())
    assert len(runs) == 2 * len(CASES) * 2
    assert {run["seed"] for run in runs} == {1, 2}
    assert "released" in capsys.readouterr().out
