"""Rows and tables of sweeps."""

import json
import math
from pathlib import Path

import pandas as pd
import pytest
from lab_results import about
from sweep_grids import row, sweep

from fcn.lab.errors import LabError
from fcn.lab.result.model import Result
from fcn.lab.result.tables import frame
from fcn.lab.sweep.measures import MEASURES, measures_of
from fcn.lab.sweep.rows import Row, RowStore, alone_in
from fcn.lab.sweep.tables import runs_table, save_table, summary_table


def test_rows_outlive_the_process_and_one_that_was_cut_off_does_not_count(tmp_path: Path) -> None:
    points = sweep(tmp_path).points
    store = RowStore(tmp_path / "out")
    for number, point in enumerate(points[:3]):
        store.add(row(point, number / 3))
    whole = store.file.read_bytes()
    for octets in range(len(whole.splitlines()[2])):
        store.file.write_bytes(whole[: len(whole) - 1 - octets])
        again = RowStore(tmp_path / "out")
        assert list(again.rows.values()) == [row(points[0], 0.0), row(points[1], 1 / 3)]
        assert again.missing(p.identity for p in points[:3]) == [points[2].identity]
        again.add(row(points[2], 2 / 3))
        assert store.file.read_bytes() == whole


@pytest.mark.parametrize(
    "text",
    [
        '{"identity": "a", "digest": "", "measures": {"jain": "x"}}\n',
        "{}\n",
        "nothing\n",
        '{"identity": "a"}\n',
        "[1]\n",
    ],
)
def test_what_are_no_rows_is_refused_and_stays(tmp_path: Path, text: str) -> None:
    (tmp_path / "rows.jsonl").write_text(text)
    with pytest.raises(LabError, match="not the rows of a sweep"):
        RowStore(tmp_path)
    assert (tmp_path / "rows.jsonl").read_text() == text


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("of somebody else")
    with pytest.raises(LabError, match="name another folder"), alone_in(tmp_path / "out"):
        pass


def test_the_table_has_a_row_of_each_run_in_the_order_of_the_grid(tmp_path: Path) -> None:
    found = sweep(tmp_path)
    done = {p.identity: row(p, 5.0) for p in reversed(found.points[:-2])}
    failures = {found.points[-1].identity: "its worker died"}
    table = runs_table(found, done, failures)
    assert list(table.columns) == [
        "scenario", "mode", "hosts.mtu", "seed", *MEASURES, "digest", "error",
    ]  # fmt: skip
    assert table["hosts.mtu"].tolist() == [1024] * 4 + [4096] * 4
    assert table["seed"].tolist() == [1, 2] * 4
    assert table["goodput_bps"].tolist()[:6] == [5.0] * 6
    assert table["goodput_bps"].isna().tolist() == [False] * 6 + [True] * 2
    assert table["error"].tolist() == [""] * 6 + ["not run", "its worker died"]


def test_means_and_intervals_are_students(tmp_path: Path) -> None:
    """Of 1, 2, 3, 4: mean 2.5, deviation sqrt(5/3), and t(0.975, 3) = 3.182446 of a table of t."""
    found = sweep(
        tmp_path, "scenarios: [tiny.yaml]\nmodes: [ecn, none]\nseeds: 4\nparameters: {}\n"
    )
    rows = {}
    for place, point in enumerate(found.points):
        value = float(place % 4 + 1) if point.plan.scenario.mode == "ecn" else None
        lost = 7.0 if place == 0 else None
        measures = {"goodput_bps": value, "frames_lost": lost}
        rows[point.identity] = Row(point.identity, "", measures)
    summary = summary_table(found, runs_table(found, rows, {}))
    assert summary[["mode", "measure", "runs"]].to_numpy().tolist() == [
        ["ecn", "goodput_bps", 4], ["ecn", "frames_lost", 1],
    ]  # fmt: skip
    goodput, lost_frames = summary.to_dict("records")
    half = 3.182446 * math.sqrt(5 / 3) / 2
    assert goodput["mean"] == 2.5
    assert goodput["half"] == pytest.approx(half, rel=1e-6)
    assert (goodput["low"], goodput["high"]) == pytest.approx((2.5 - half, 2.5 + half), rel=1e-6)
    assert lost_frames["mean"] == 7.0
    assert math.isnan(lost_frames["half"]), "one run has no interval"


def test_a_table_is_saved_whole_or_not_at_all(tmp_path: Path) -> None:
    table = pd.DataFrame({"a": [1.5, None], "b": ["x", ""]})
    save_table(table, tmp_path / "t.parquet")
    first = (tmp_path / "t.parquet").read_bytes()
    save_table(table, tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").read_bytes() == first
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "t.parquet"), table)
    assert [each.name for each in tmp_path.iterdir()] == ["t.parquet"]
    with pytest.raises(LabError, match="cannot be written"):
        save_table(table, tmp_path / "nowhere" / "t.parquet")


def test_a_table_is_not_written_through_a_link_that_somebody_put_there(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("of somebody else")
    for name in ("t.parquet", ".t.parquet.new"):
        (tmp_path / name).symlink_to(other)
    save_table(pd.DataFrame({"a": [1.5]}), tmp_path / "t.parquet")
    assert other.read_text() == "of somebody else"
    assert not (tmp_path / "t.parquet").is_symlink()


def test_a_line_of_a_row_is_json(tmp_path: Path) -> None:
    point = sweep(tmp_path).points[0]
    store = RowStore(tmp_path / "out")
    store.add(row(point, 0.1))
    (line,) = store.file.read_text().splitlines()
    assert json.loads(line)["measures"] == {"goodput_bps": 0.1}


def test_pauses_are_those_of_what_was_paused_longest() -> None:
    """Of p1 to p2 once for 50 us, not of p2 to p1 three times for 1 us."""
    rows = [(1_000_000, "p1", "p2", 3, 50_000)]
    rows += [(time, "p2", "p1", 3, 1_000) for time in (1_000, 100_000, 200_000)]
    found = measures_of(Result(about(), pauses=frame("pauses", rows)))
    assert (found["pauses"], found["paused_ns"]) == (1, 50_000)
    nothing = measures_of(Result(about()))
    assert (nothing["pauses"], nothing["paused_ns"]) == (0, 0)
