"""The packet tests in several sandboxes at once."""

import sys
from pathlib import Path

import pytest

from fcn.ptf_tests import shares
from fcn.ptf_tests.runner import Totals
from fcn.ptf_tests.selection import TEST_DIR

RUN = """
import pathlib, sys
folder, *share = sys.argv[2:]
pathlib.Path(folder).mkdir()
pathlib.Path(folder, "switch.coverage").write_text("{}")
for test in share:
    print(f"runTest ({test}) ... ok", flush=True)
if "dies" in share:
    sys.exit(1)
print(f"{len(share)} passed, 0 failed, 0 skipped")
"""


def test_every_file_is_in_one_share() -> None:
    parts = shares.shares_of([], 3)
    assert len(parts) == 3
    assert sorted(name for part in parts for name in part) == sorted(
        file.stem for file in TEST_DIR.glob("*.py")
    )


def test_there_are_no_more_shares_than_tests() -> None:
    assert shares.shares_of(["a", "b.C"], 3) == [["a"], ["b.C"]]


def test_totals_of_all_are_added(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-c", RUN]
    assert shares.run(command, ["a", "b", "c"], 2, tmp_path) == Totals(3, 0, 0)
    assert {f"runTest ({name}) ... ok" for name in "abc"} < set(capsys.readouterr().out.split("\n"))


def test_a_share_that_ends_early_has_failed(tmp_path: Path) -> None:
    totals = shares.run([sys.executable, "-c", RUN], ["a", "dies"], 2, tmp_path)
    assert totals == Totals(1, 1, 0)


def test_coverage_is_that_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[Path]] = []

    def measured(totals: Totals, files: list[Path]) -> Totals:
        seen.append(files)
        return totals

    monkeypatch.setattr(shares, "with_coverage", measured)
    shares.run([sys.executable, "-c", RUN], [], 2, tmp_path)
    assert seen == [[tmp_path / "0" / "switch.coverage", tmp_path / "1" / "switch.coverage"]]
