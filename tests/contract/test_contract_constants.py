"""Numbers read from constants.json."""

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
