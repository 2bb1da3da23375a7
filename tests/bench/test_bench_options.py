"""Wrong options of the benchmark are refused before anything is measured."""

import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from fcn.bench import baseline, failover, forwarding, load, measuring
from fcn.bench.baseline import BaselineError, checked_out, commit_named
from fcn.ptf_tests.targets import TargetUnavailableError


@pytest.mark.parametrize(
    ("options", "reason"),
    [
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
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def entered(*arguments: object) -> None:
        raise AssertionError(f"nothing is to be started: {arguments}")

    monkeypatch.setattr(forwarding, "enter", entered)
    monkeypatch.setattr("sys.argv", ["forwarding", *options])
    with pytest.raises(SystemExit) as ended:
        forwarding.main()
    assert ended.value.code == 2
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize(
    ("module", "options", "reason"),
    [
        (failover, ["--seeds", "0"], "0 is not a whole number above 0"),
        (failover, ["--scales", "1", "-1"], "-1"),
        (load, ["--seeds", "0"], "0 is not a whole number above 0"),
        (measuring, ["--pairs", "0"], "0 is not a whole number above 0"),
        (measuring, ["dumbel"], "no scenario dumbel; there are dumbbell, "),
    ],
)
def test_nothing_to_measure(
    module: ModuleType,
    options: list[str],
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("measure", "compare"):
        monkeypatch.setattr(
            module,
            name,
            lambda *_arguments: pytest.fail("nothing is to be measured"),
            raising=False,
        )
    monkeypatch.setattr("sys.argv", ["bench", *options])
    with pytest.raises(SystemExit) as ended:
        module.main()
    assert ended.value.code == 2
    assert reason in capsys.readouterr().err


def test_a_baseline_is_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline, "ROOT", tmp_path)
    with pytest.raises(BaselineError, match="needs a checkout"):
        commit_named("HEAD")
    author = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    for command in (("init", "-q"), (*author, "commit", "-q", "--allow-empty", "-m", "x")):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    for name in ("NONSENSE", "", "--all"):
        with pytest.raises(BaselineError, match=f"'{name}' is not a commit of"):
            commit_named(name)
    with checked_out(commit_named("HEAD")) as tree:
        assert [each.name for each in tree.iterdir()] == [".git"]
    assert not tree.exists()


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


def test_what_was_measured_is_kept(one_sweep: Path) -> None:
    assert forwarding.run(["softswitch"], 1.0, 1000.0)
    assert '"delivered": 900.0' in (one_sweep / "forwarding.json").read_text()


def test_results_are_kept_when_nothing_was_measured(
    one_sweep: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(*arguments: object) -> None:
        raise TargetUnavailableError("not on PATH")

    monkeypatch.setattr(forwarding, "sweep", unavailable)
    assert not forwarding.run(["bmv2"], 1.0, 1000.0)
    assert not one_sweep.exists()
