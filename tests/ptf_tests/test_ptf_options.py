"""Wrong options of the packet tests are refused before anything is started."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fcn.contract.constants import compiled_programs
from fcn.hosts.processes import ProcessError
from fcn.ptf_tests import __main__ as ptf_main
from fcn.ptf_tests import runner


def refusal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *options: str
) -> str:
    def entered(*arguments: object) -> None:
        raise AssertionError(f"nothing is to be started: {arguments}")

    monkeypatch.setattr(ptf_main, "enter", entered)
    monkeypatch.setattr("sys.argv", ["ptf_tests", *options])
    with pytest.raises(SystemExit) as ended:
        ptf_main.main()
    assert ended.value.code == 2
    return capsys.readouterr().err


def test_a_log_directory_that_cannot_be_made(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    said = refusal(monkeypatch, capsys, "--log-dir", str(tmp_path / "file"))
    assert f"--log-dir {tmp_path / 'file'}: File exists" in said


def test_a_missing_framework_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "pip install 'fcn-rocev2[test]'" in refusal(monkeypatch, capsys)


@pytest.mark.parametrize("jobs", ["0", "-2"])
def test_no_jobs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], jobs: str
) -> None:
    assert f"--jobs {jobs}: at least 1" in refusal(monkeypatch, capsys, "--jobs", jobs)


@pytest.mark.parametrize("profile", ["full", "fcn"])
def test_names_that_are_of_no_test(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], profile: str
) -> None:
    named = ("arn_holds", "arn_holds.TimeIsClamped", "arn_holds.Nothing", "nothing")
    said = refusal(monkeypatch, capsys, "--profile", profile, *named)
    assert "no tests arn_holds.Nothing, nothing;" in said


def test_a_switch_that_does_not_start_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As where FCN_TOFINO_MODEL names another library."""

    def run(*_arguments: object) -> None:
        raise ProcessError("tofino ended with status 1:\nit is not the model of the chip")

    monkeypatch.setattr(ptf_main, "enter", lambda *_arguments: None)
    monkeypatch.setattr(runner, "run", run)
    monkeypatch.setattr("sys.argv", ["ptf_tests", "--target", "tofino"])
    with pytest.raises(SystemExit) as ended:
        ptf_main.main()
    assert ended.value.code == 2
    assert "it is not the model of the chip" in capsys.readouterr().err


@pytest.mark.parametrize(("profile", "missing"), [("full", "pe"), ("fcn", "fcn/p")])
def test_programs_that_are_not_there_are_told_in_a_line(
    tmp_path: Path, profile: str, missing: str
) -> None:
    """As where FCN_P4 names a folder that was not copied as a whole."""
    shutil.copytree(compiled_programs(), tmp_path, dirs_exist_ok=True)
    (tmp_path / f"{missing}.p4info.txtpb").unlink()
    ended = subprocess.run(
        [sys.executable, "-m", "fcn.ptf_tests", "--profile", profile],
        env=os.environ | {"FCN_P4": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode in (1, 2)
    assert f"{tmp_path / missing}.p4info.txtpb is missing" in ended.stderr
    assert ended.stderr.count("\n") == 1
