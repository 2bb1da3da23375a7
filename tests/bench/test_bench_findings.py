"""The findings: their grids are possible, and the page is that of the numbers that are kept."""

from pathlib import Path

import pandas as pd
import pytest

from fcn.bench.findings import cases, document, plots
from fcn.bench.findings.numbers import (
    COLUMNS,
    GRIDS,
    Number,
    Numbers,
    keep,
    read,
)
from fcn.bench.harness import BenchError
from fcn.lab.report.amounts import NOTHING
from fcn.lab.sweep.grid import load_grid


def grid(*rows: tuple[str, str, str, tuple[float, ...]]) -> Numbers:
    each = [
        (mode, case, measure, seed, value)
        for mode, case, measure, values in rows
        for seed, value in enumerate(values, 1)
    ]
    return Numbers("some", pd.DataFrame(each, columns=COLUMNS))


SOME = grid(
    ("none", "1 km", "goodput_bps", (49e9, 51e9)),
    ("ecn", "1 km", "goodput_bps", (50e9, 70e9)),
    ("fcn", "1 km", "goodput_bps", (40e9, 40e9)),
    ("flow", "1 km", "goodput_bps", (51e9, 60e9)),
    ("fcn", "1 km", "frames_lost", (1234.0,)),
)


@pytest.mark.parametrize("name", GRIDS)
def test_grids_are_possible_and_their_numbers_are_all_there(name: str, tmp_path: Path) -> None:
    sweep = load_grid(cases.grid_file(name, tmp_path))
    numbers = read(name)
    assert set(numbers.cases) == set(sweep.grid.cases)
    assert set(numbers.modes) == set(sweep.grid.modes)


def test_the_scenario_is_that_of_the_rule() -> None:
    assert cases.INCAST.read_text() == cases.incast(), "python -m fcn.bench.findings.cases"


def test_the_page_is_that_of_the_numbers() -> None:
    grids = {name: read(name) for name in GRIDS}
    found = document.render(document.TEMPLATE.read_text(), grids)
    assert document.DOCUMENT.read_text() == found, "make findings"
    readme = document.README.read_text()
    assert document.in_readme(readme, grids) == readme, "make findings"
    with pytest.raises(BenchError):
        document.in_readme(found, grids)


def test_plots_are_drawn_alike_each_time(tmp_path: Path) -> None:
    grids = {name: read(name) for name in GRIDS}
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        plots.draw(grids, folder)
    drawn = sorted(file.name for file in (tmp_path / "a").iterdir())
    assert len(drawn) == 3
    for name in drawn:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
        assert (document.DOCUMENT.parent / name).is_file()


def test_a_table_says_where_a_mode_is_worse() -> None:
    assert document.table(SOME, "1 km", ["goodput_bps", "frames_lost"]).splitlines() == [
        "| mode | goodput | lost |",
        "|---|---|---|",
        f"| `none` | 50 Gb/s (49 Gb/s to 51 Gb/s)\\* | {NOTHING} |",
        f"| `ecn` | 60 Gb/s (50 Gb/s to 70 Gb/s) | {NOTHING} |",
        "| `fcn` | 40 Gb/s\\*† | 1,234 |",
        f"| `flow` | 55.5 Gb/s (51 Gb/s to 60 Gb/s) | {NOTHING} |",
    ]


def test_numbers_in_the_text() -> None:
    text = (
        "{{some|fcn|1 km|frames_lost}}; {{some|ecn|1 km|goodput_bps - some|fcn|1 km|goodput_bps}}"
    )
    assert document.render(text, {"some": SOME}) == "1,234; 20 Gb/s"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{{other|fcn|1 km|frames_lost}}", "other: no grid"),
        ("{{some|fcn|1 km}}", "not GRID|MODE|CASE|MEASURE"),
        ("{{some|ecn|1 km|frames_lost}}", "some has no frames_lost of mode ecn, case 1 km"),
    ],
)
def test_a_number_that_is_not_there_is_refused(text: str, reason: str) -> None:
    with pytest.raises(BenchError) as found:
        document.render(text, {"some": SOME})
    assert reason in str(found.value)


def test_worse_is_with_each_seed_and_on_the_average() -> None:
    ecn = Number("fct_p99_ns", {1: 100.0, 2: 200.0})
    assert Number("fct_p99_ns", {1: 110.0, 2: 220.0}).worse_than(ecn)
    assert not Number("fct_p99_ns", {1: 99.0, 2: 300.0}).worse_than(ecn)
    assert not Number("fct_p99_ns", {1: 104.0, 2: 204.0}).worse_than(ecn)
    assert not Number("fct_p99_ns", {3: 900.0}).worse_than(ecn)
    assert not Number("cuts", {1: 9.0}).worse_than(Number("cuts", {1: 1.0}))


def test_numbers_are_kept_of_a_sweep(tmp_path: Path) -> None:
    runs = {"scenario": ["incast"] * 2, "mode": ["ecn"] * 2, "case": ["1 km"] * 2, "seed": [1, 2]}
    table = pd.DataFrame(runs | {"goodput_bps": [1e9, 3e9], "jain": [1.0, 1.0]})
    table.to_parquet(tmp_path / "runs.parquet")
    keep("some", tmp_path / "runs.parquet", tmp_path)
    found = read("some", tmp_path)
    assert found.need("ecn", "1 km", "goodput_bps").mean == 2e9
    assert found.get("ecn", "1 km", "jain") is None, "it is not kept"
    with pytest.raises(BenchError):
        read("other", tmp_path)
