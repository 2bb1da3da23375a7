"""`fcn lab show` and `fcn lab compare`."""

from pathlib import Path

import pytest
from lab_results import about, congested
from typer.testing import CliRunner

from fcn.lab.cli.main import app
from fcn.lab.report.tables import MOST_BESIDE
from fcn.lab.result.folder import save
from fcn.lab.result.model import Result


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    places = tmp_path / "fast", tmp_path / "slow"
    save(Result(about()), places[0])
    save(Result(about(mode="ecn")), places[1])
    return places


def run(*arguments: object) -> tuple[int, str]:
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(each) for each in arguments])
    return done.exit_code, done.output


def test_show_prints_tables_and_writes_a_page(tmp_path: Path) -> None:
    save(congested("fcn"), tmp_path / "result")
    code, output = run("show", tmp_path / "result")
    assert code == 0
    assert "Congestions and reactions" in output
    assert (tmp_path / "result" / "report.html").read_text().endswith("</html>\n")


def test_a_folder_with_a_report_is_still_a_result(folders: tuple[Path, Path]) -> None:
    assert [run("show", folders[0])[0] for _ in range(2)] == [0, 0]


def test_compare_says_what_differs(folders: tuple[Path, Path], tmp_path: Path) -> None:
    code, output = run("compare", *folders, "--page", tmp_path / "both.html")
    assert code == 0
    assert "What differs" in output
    assert "What differs" in (tmp_path / "both.html").read_text()


@pytest.mark.parametrize(
    "command", [("show", "--page"), ("compare", "--page"), ("play", "--export")]
)
def test_no_other_file_becomes_a_page(
    folders: tuple[Path, Path], tmp_path: Path, command: tuple[str, str]
) -> None:
    """Such as a scenario, by a name that was completed too soon."""
    name, option = command
    file = tmp_path / "scenario.yaml"
    file.write_text("network: wan\n")
    code, output = run(name, *(folders if name == "compare" else folders[:1]), option, file)
    assert (code, f"{file}: is there, and no page of this fcn" in output) == (1, True)
    assert file.read_text() == "network: wan\n"


@pytest.mark.parametrize(
    "command",
    [
        ("show", "--page"),
        ("play", "--export"),
        pytest.param(("compare", "--page"), marks=pytest.mark.exhaustive),
    ],
)
def test_a_page_is_replaced(
    folders: tuple[Path, Path], tmp_path: Path, command: tuple[str, str]
) -> None:
    name, option = command
    file = tmp_path / "page.html"
    arguments = (name, *(folders if name == "compare" else folders[:1]), option, file)
    assert [run(*arguments)[0] for _ in range(2)] == [0, 0]


@pytest.mark.exhaustive
def test_many_runs_are_rows(tmp_path: Path) -> None:
    """A line for each run that a terminal of 200 characters has room for."""
    folders = [tmp_path / f"run-{seed}" for seed in range(MOST_BESIDE + 1)]
    for seed, folder in enumerate(folders):
        save(Result(about(seed=seed)), folder)
    code, output = run("compare", *folders, "--page", tmp_path / "all.html")
    assert code == 0
    last = folders[-1].name
    lines = [line for line in output.splitlines() if line.strip().startswith(f"{last} ")]
    assert [line.split()[:2] for line in lines] == [[last, str(MOST_BESIDE)], [last, "0"]]
    assert "goodput of all" in output
    assert "digest of frames" not in output
    assert "digest of frames" in (tmp_path / "all.html").read_text()


def test_names_are_shown_as_they_are(folders: tuple[Path, Path], tmp_path: Path) -> None:
    """Square brackets are markup to the library that prints, escape sequences to the terminal."""
    named = [
        folder.rename(tmp_path / name)
        for folder, name in zip(folders, ("[red]", "\x1b[2J"), strict=True)
    ]
    code, output = run("compare", *named)
    assert (code, "[red]" in output, "\\u001b[2J" in output, "\x1b" in output) == (
        0,
        True,
        True,
        False,
    )


def test_results_of_the_same_name_are_told_apart(folders: tuple[Path, Path]) -> None:
    again = folders[0].parent / "again" / "fast"
    save(Result(about(mode="ecn")), again)
    code, output = run("compare", folders[0], again)
    assert code == 0
    assert "again" in output


def test_what_is_wrong_is_said(folders: tuple[Path, Path], tmp_path: Path) -> None:
    code, output = run("compare", folders[0])
    assert (code, "two folders or more" in output) == (2, True)
    code, output = run("compare", folders[0], folders[0])
    assert (code, "given twice" in output) == (2, True)
    spelled = folders[0].parent / "slow" / ".." / "fast"
    code, output = run("compare", folders[0], spelled)
    assert (code, "given twice" in output) == (2, True)
    code, output = run("show", tmp_path / "missing")
    assert (code, "no such folder" in output) == (1, True)
    (folders[1] / "notices.csv").write_text("")
    code, output = run("compare", *folders)
    assert (code, "changed or cut off" in output) == (1, True)
    code, output = run("show", folders[0], "--page", tmp_path / "no" / "page.html")
    assert (code, "cannot be written" in output) == (1, True)
