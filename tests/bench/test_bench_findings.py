"""The findings: their grids are possible, and the page is that of the numbers that are kept."""

from pathlib import Path

import pandas as pd
import pytest

from fcn.bench.findings import cases, document, plots
from fcn.bench.findings.numbers import GRIDS, GRIDS_FOLDER, Number, Numbers, keep, read
from fcn.bench.harness import BenchError
from fcn.lab.sweep.grid import load_grid


def grid(*rows: tuple[str, str, str, int, float, float | None]) -> Numbers:
    columns = ["mode", "case", "measure", "runs", "mean", "half"]
    return Numbers("some", pd.DataFrame(list(rows), columns=columns))


SOME = grid(
    ("none", "1 km", "goodput_bps", 2, 50e9, 1e9),
    ("ecn", "1 km", "goodput_bps", 2, 60e9, 1e9),
    ("fcn", "1 km", "goodput_bps", 2, 40e9, 1e9),
    ("flow", "1 km", "goodput_bps", 2, 59e9, 1e9),
    ("fcn", "1 km", "frames_lost", 1, 1234.0, None),
)


@pytest.mark.parametrize("name", GRIDS)
def test_grids_are_possible_and_their_numbers_are_all_there(name: str) -> None:
    sweep = load_grid(GRIDS_FOLDER / f"{name}.yaml")
    numbers = read(name)
    assert set(numbers.cases) == set(sweep.grid.cases)
    assert set(numbers.modes) == set(sweep.grid.modes)


def test_grids_are_those_of_the_rule() -> None:
    assert cases.files() == {name: (GRIDS_FOLDER / name).read_text() for name in cases.files()}, (
        "python -m fcn.bench.findings.cases"
    )


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
        "| `none` | 50 Gb/s ± 1 Gb/s\\* | – |",  # noqa: RUF001
        "| `ecn` | 60 Gb/s ± 1 Gb/s | – |",  # noqa: RUF001
        "| `fcn` | 40 Gb/s ± 1 Gb/s\\*† | 1,234 |",
        "| `flow` | 59 Gb/s ± 1 Gb/s | – |",  # noqa: RUF001
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


def test_worse_is_beyond_the_intervals() -> None:
    assert Number("fct_p99_ns", 3, 120.0, 5.0).worse_than(Number("fct_p99_ns", 3, 100.0, 10.0))
    assert not Number("fct_p99_ns", 3, 120.0, 15.0).worse_than(Number("fct_p99_ns", 3, 100.0, 10.0))
    assert not Number("fct_p99_ns", 1, 104.0, None).worse_than(Number("fct_p99_ns", 1, 100.0, None))


def test_numbers_are_kept_of_a_sweep(tmp_path: Path) -> None:
    summary = SOME.data.assign(scenario="incast", low=0.0, high=0.0)
    summary.to_parquet(tmp_path / "summary.parquet")
    keep("some", tmp_path / "summary.parquet", tmp_path)
    assert read("some", tmp_path).need("ecn", "1 km", "goodput_bps").mean == 60e9
    with pytest.raises(BenchError):
        read("other", tmp_path)
