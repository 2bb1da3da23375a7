"""Numbers read from constants.json."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fcn.contract.constants import PipelineError, architecture_numbers, compiled_file, enum_members


def test_enums_by_name() -> None:
    assert enum_members("Ecn") == {"NOT_ECT": 0, "ECT1": 1, "ECT0": 2, "CE": 3}


@pytest.mark.parametrize("name", ["NoSuchEnum", "FCN_LABEL_BIT", "architectures"])
def test_what_is_no_enum_is_refused(name: str) -> None:
    with pytest.raises(PipelineError, match=f"no enum {name}; run `make p4`"):
        enum_members(name)


def test_numbers_by_architecture() -> None:
    assert architecture_numbers("v1model")["CloneSession"]["RECIRC"] == 1
    with pytest.raises(PipelineError, match="has no psa"):
        architecture_numbers("psa")


def test_missing_file_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match=r"pe.json or pe.bin is missing; put it there"):
        compiled_file("pe.json", "pe.bin", folder=tmp_path)
    (tmp_path / "pe.bin").touch()
    assert compiled_file("pe.json", "pe.bin", folder=tmp_path) == tmp_path / "pe.bin"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "constants.json is missing; put it there"),
        ("{", "cannot be read: Expecting property name"),
        ("[1]", "cannot be read: "),
        ("{}", "has no FCN_LABEL_BIT: it is of another version of fcn"),
    ],
)
def test_wrong_constants_end_a_program_in_a_line(
    tmp_path: Path, text: str | None, reason: str
) -> None:
    """As where FCN_P4 names another folder."""
    if text is not None:
        (tmp_path / "constants.json").write_text(text)
    ended = subprocess.run(
        [sys.executable, "-c", "import fcn.contract.constants"],
        env=os.environ | {"FCN_P4": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert reason in ended.stderr
    assert ended.stderr.count("\n") == 1
