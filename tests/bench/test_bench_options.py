"""Wrong options of the benchmark are refused before anything is measured."""

import subprocess
from pathlib import Path

import pytest

from fcn.bench import baseline, forwarding
from fcn.bench.baseline import BaselineError, commit_named
from fcn.ptf_tests.targets import TargetUnavailableError


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--baseline", "NONSENSE"], "'NONSENSE' is not a commit of"),
        (["--baseline", ""], "'' is not a commit of"),
        (["--baseline=--all"], "'--all' is not a commit of"),
        (["--targets", "nonsense"], "invalid choice: 'nonsense'"),
        (["--targets"], "expected at least one argument"),
        (["--seconds", "0"], "0 is not a number above 0"),
        (["--seconds", "-1"], "-1 is not a number above 0"),
        (["--start", "nan"], "nan is not a number above 0"),
        (["--start", "inf"], "inf is not a number above 0"),
    ],
)
def test_wrong_options(
    options: list[str],
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def entered(*arguments: object) -> None:
        raise AssertionError(f"nothing is to be started: {arguments}")

    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    monkeypatch.setattr(baseline, "ROOT", tmp_path)
    monkeypatch.setattr(forwarding, "enter", entered)
    monkeypatch.setattr("sys.argv", ["forwarding", *options])
    with pytest.raises(SystemExit) as ended:
        forwarding.main()
    assert ended.value.code == 2
    assert reason in capsys.readouterr().err


def commit(folder: Path) -> None:
    author = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    for command in (("init", "-q"), ("add", "."), (*author, "commit", "-q", "-m", "x")):
        subprocess.run(["git", "-C", str(folder), *command], check=True)


def test_a_commit_has_a_benchmark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline, "ROOT", tmp_path)
    with pytest.raises(BaselineError, match="needs a checkout"):
        commit_named("HEAD")
    (tmp_path / "file").touch()
    commit(tmp_path)
    with pytest.raises(BaselineError, match=r"has no bench/forwarding\.py"):
        commit_named("HEAD")
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "forwarding.py").touch()
    commit(tmp_path)
    assert len(commit_named("HEAD")) == 40


def test_a_baseline_without_git(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.setattr(baseline, "ROOT", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BaselineError, match="a baseline needs git"):
        commit_named("HEAD")


@pytest.fixture
def one_sweep(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Measuring takes no time; returns the folder of the results."""
    monkeypatch.setattr(forwarding, "make_interfaces", lambda: None)
    monkeypatch.setattr(forwarding, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(
        forwarding, "sweep", lambda *arguments: iter([forwarding.Sample(1000.0, 900.0)])
    )
    return tmp_path / "results"


def test_a_baseline_that_fails_loses_no_measurement(
    one_sweep: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*arguments: object) -> list[forwarding.Sweep]:
        raise BaselineError("its compiler is gone")

    monkeypatch.setattr(forwarding, "baseline", failing)
    assert forwarding.run(["softswitch"], "abc", 1.0, 1000.0) == "its compiler is gone"
    assert '"delivered": 900.0' in (one_sweep / "forwarding.json").read_text()


def test_results_are_kept_when_nothing_was_measured(
    one_sweep: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(*arguments: object) -> None:
        raise TargetUnavailableError("not on PATH")

    monkeypatch.setattr(forwarding, "sweep", unavailable)
    assert "nothing was measured" in forwarding.run(["bmv2"], None, 1.0, 1000.0)
    assert not one_sweep.exists()
