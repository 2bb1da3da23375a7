"""Results saved as folders and loaded again; folders that are none."""

import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import pandas as pd
import pytest
from lab_results import about
from pandas.testing import assert_frame_equal

from fcn.contract.pages import GENERATOR, PageFileError
from fcn.lab.result.exchange import exchange
from fcn.lab.result.folder import (
    REPORT_FILE,
    RESULT_FILE,
    check_place,
    load,
    load_about,
    save,
    write_csv,
    write_page,
)
from fcn.lab.result.model import FORMAT, Result
from fcn.lab.result.tables import TABLES, ResultError, conform, frame

MESSAGES = [("l1", 0, 1, 4096, 100, 10_001_000), ("l1", 0, 2, 4096, 200, None)]
NOTICES = [
    (5_000_123, "l1", 0, "cut", 2**62 + 1, "10.1.1.1", 1),
    (5_000_123, "l1", 0, "cnp", 0, "10.1.1.1", 1),
]


def example() -> Result:
    return Result(
        about(),
        messages=frame("messages", MESSAGES),
        notices=frame("notices", NOTICES),
        rates=frame("rates", [(7, "l1", 0, 1e11 / 3, 1, 2)]),
        captures={"pe1-to-pe2": b"\x4d\x3c\xb2\xa1"},
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "out" / "line-fcn-1"
    save(example(), place)
    return place


def test_what_is_loaded_is_what_was_saved(folder: Path) -> None:
    """Types, times to the nanosecond, fractions to the last bit, empty tables, captures."""
    original, loaded = example(), load(folder)
    assert loaded.about == load_about(folder) == original.about
    for name, data in original.tables().items():
        assert_frame_equal(loaded.tables()[name], data, check_exact=True)
    assert dict(loaded.captures) == dict(original.captures)
    assert loaded.messages["completed_ns"].isna().tolist() == [False, True]


@pytest.mark.parametrize("text", ["link up", "", "ü", 'a "b"', "a,b", "a\nb", "a\rb"])
def test_a_file_has_the_octets_that_pandas_writes(text: str) -> None:
    """Those of older versions: fractions in their shortest form, nothing for what is missing."""
    rates = [0.0, -0.0, 1e11 / 3, 1e16, 123456789.0, 1e-7, float("inf"), float("nan")]
    data = pd.DataFrame(
        {
            "what": pd.array([text] * len(rates), dtype="str"),
            "rate": rates,
            "value": pd.array([2**63 - 1, -1, None, *range(len(rates) - 3)], dtype="Int64"),
        }
    )
    for rows in (data, data.iloc[:0]):
        file = BytesIO()
        write_csv(rows, file)
        assert file.getvalue() == rows.to_csv(index=False, lineterminator="\n").encode()


def test_the_same_result_gives_the_same_octets(folder: Path, tmp_path: Path) -> None:
    save(load(folder), tmp_path / "again")
    names = sorted(file.name for file in folder.iterdir())
    assert len(names) == len(TABLES) + 2
    for name in names:
        assert (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_a_result_takes_the_place_of_an_older_one_and_leaves_nothing_else(folder: Path) -> None:
    save(Result(about(seed=2)), folder)
    assert load(folder).about.seed == 2
    assert load(folder).messages.empty
    assert [each.name for each in folder.parent.iterdir()] == [folder.name]


def test_other_folders_and_files_stay_as_they_are(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    with pytest.raises(ResultError, match="holds something else"):
        save(example(), mine)
    with pytest.raises(ResultError, match="is not a folder"):
        save(example(), mine / "thesis.txt")
    assert (mine / "thesis.txt").read_text() == "years of work"


def test_foreign_files_beside_or_as_a_result_stay(folder: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "result.json").write_text('{"mine": 1}')
    with pytest.raises(ResultError, match=r"foreign: holds something else \(result.json\)"):
        save(example(), foreign)
    (folder / "report.html").write_text("a report may go")
    (folder / "notes.txt").write_text("kept")
    with pytest.raises(ResultError, match=r"holds something else \(notes.txt\)"):
        save(example(), folder)
    (folder / "notes.txt").unlink()
    save(example(), folder)
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize("place", ["file/result", "x" * 300, "file"])
def test_a_place_where_nothing_can_be_saved_is_refused_before_the_run(
    place: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultError, match="name another place"):
        check_place(tmp_path / place)


def test_the_older_result_stays_when_the_new_one_cannot_be_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename = Path.rename

    def full(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise OSError(28, os.strerror(28))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", full)
    monkeypatch.setattr("fcn.lab.result.folder.exchange", lambda *_: False)
    with pytest.raises(ResultError, match="No space left"):
        save(Result(about(seed=2)), folder)
    assert load(folder).about.seed == 1
    assert [each.name for each in folder.parent.iterdir()] == [folder.name]


def test_folders_change_places_or_stay(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for place in (one, other):
        place.mkdir()
        (place / place.name).touch()
    assert exchange(one, other)
    assert [file.name for file in one.iterdir()] == ["other"]
    with pytest.raises(OSError, match="No such file"):
        exchange(one, tmp_path / "missing")
    assert (one / "other").exists()


SAVE_FOR_EVER = """
import sys
from itertools import count
from pathlib import Path
from fcn.lab.result.folder import load, save
folder = Path(sys.argv[1])
result = load(folder)
for number in count():
    save(result, folder)
    print(number, flush=True)
"""


def test_who_is_killed_while_saving_leaves_one_whole_result(folder: Path) -> None:
    """At three times of which nobody knows what they hit: the old result or the new one is there,
    and nothing else that could be read as one."""
    for saved in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", SAVE_FOR_EVER, str(folder)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if int(line) == saved:
                    process.kill()
        assert load(folder).about.seed == 1
    for left in folder.parent.rglob(RESULT_FILE):
        if left.parent != folder and left.stat().st_size:
            with suppress(ResultError):
                assert_frame_equal(load(left.parent).messages, load(folder).messages)
    for name in (folder.name, "another"):
        (folder.parent / f".{name}.fcn-lab-left" / "new").mkdir(parents=True)
    (folder.parent / f".{folder.name}-of-others").mkdir()
    save(load(folder), folder)
    there = {each.name for each in folder.parent.iterdir()}
    assert there == {folder.name, f".{folder.name}-of-others"}, "what killed processes left is gone"


def edit(folder: Path, **changes: object) -> None:
    file = folder / RESULT_FILE
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def test_another_format_is_refused_by_its_number(folder: Path) -> None:
    edit(folder, format=FORMAT + 1, invented_later=True)
    with pytest.raises(ResultError, match=f"format {FORMAT + 1}; this fcn reads format {FORMAT}"):
        load(folder)
    with pytest.raises(ResultError, match="format"):
        load_about(folder)


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"format": "1"}', "\0", "[" * 99_999])
def test_a_foreign_result_file_is_refused(folder: Path, content: str) -> None:
    (folder / RESULT_FILE).write_text(content)
    with pytest.raises(ResultError, match=re.escape(str(folder / RESULT_FILE))):
        load(folder)


def test_a_folder_without_result_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="there is no such folder"):
        load(tmp_path / "missing")
    with pytest.raises(ResultError, match="is no result"):
        load(tmp_path)


def test_a_wrong_value_is_named_by_its_place(folder: Path) -> None:
    content = json.loads((folder / RESULT_FILE).read_text())
    edit(folder, about={**content["about"], "seed": -1})
    with pytest.raises(ResultError, match=r"about\.seed"):
        load(folder)


def test_a_file_that_was_cut_off_or_is_missing_is_named(folder: Path) -> None:
    file = folder / "notices.csv"
    data = file.read_bytes()
    file.write_bytes(data[:-3])
    with pytest.raises(ResultError, match=r"notices\.csv: changed or cut off"):
        load(folder)
    file.unlink()
    with pytest.raises(ResultError, match=r"notices\.csv: cannot be read"):
        load(folder)


def test_only_files_of_the_folder_are_read(folder: Path) -> None:
    edit(folder, files={"../../etc/passwd": "0"})
    with pytest.raises(ResultError, match="is not a file of the folder"):
        load(folder)


def test_a_table_that_is_not_listed_is_named(folder: Path) -> None:
    content = json.loads((folder / RESULT_FILE).read_text())
    content["files"].pop("queues.csv")
    edit(folder, **content)
    with pytest.raises(ResultError, match=r"lists no queues\.csv"):
        load(folder)


def test_values_and_columns_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ResultError, match="column size: not all is integer"):
        frame("messages", [("l1", 0, 1, "big", 0, None)])
    with pytest.raises(ResultError, match="column host: a value is missing"):
        frame("messages", [(None, 0, 1, 4096, 0, None)])
    with pytest.raises(ResultError, match="table queues has the columns time_ns"):
        conform("queues", pd.DataFrame({"time_ns": [1]}))
    with pytest.raises(ResultError, match="table queues has the columns"):
        Result(about(), queues=frame("messages"))


def test_tables_without_rows_have_their_types() -> None:
    for name, columns in TABLES.items():
        dtypes = [str(dtype) for dtype in frame(name).dtypes]
        assert dtypes == [column.dtype for column in columns]


@pytest.mark.parametrize("planted", ["fifo", "link"])
@pytest.mark.parametrize("name", ["queues.csv", RESULT_FILE])
def test_what_is_no_file_is_not_read(folder: Path, name: str, planted: str) -> None:
    """Reading would wait for ever, or go on until there is no memory left."""
    (folder / name).unlink()
    if planted == "fifo":
        os.mkfifo(folder / name)
    else:
        (folder / name).symlink_to("/dev/zero")
    with pytest.raises(ResultError, match=rf"{name}: (is not a file|cannot be read)|holds no"):
        load(folder)
    if name == RESULT_FILE:
        with pytest.raises(ResultError, match="holds something else"):
            check_place(folder)


@pytest.mark.parametrize("planted", ["fifo", "link"])
def test_a_report_is_not_written_through_what_somebody_put_there(
    folder: Path, tmp_path: Path, planted: str
) -> None:
    other = tmp_path / "other"
    before = GENERATOR
    other.write_text(before)
    report = folder / REPORT_FILE
    if planted == "fifo":
        os.mkfifo(report)
    else:
        report.symlink_to(other)
    with pytest.raises(PageFileError, match=f"{report}: is not a file; remove it"):
        write_page("page", report)
    report.unlink()
    os.link(other, report)
    for text in (before + "one", before + "another"):
        write_page(text, report)
        assert report.read_text() == text
    assert other.read_text() == before
    assert not list(folder.glob(".*"))
