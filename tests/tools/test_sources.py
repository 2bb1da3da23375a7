"""The P4 files of the programs for a target."""

from pathlib import Path

import pytest

from tools.p4 import programs


@pytest.mark.parametrize("above", ["tna", "v1model"])
def test_folders_above_the_project_have_no_say(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, above: str
) -> None:
    project = tmp_path / above / "p4src"
    for name in ("common.p4", "v1model/pe.p4", "fantel/tna/pe.p4"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).touch()
    monkeypatch.setattr(programs, "P4SRC", project)
    assert programs.sources("v1model") == [project / "common.p4", project / "v1model/pe.p4"]
    assert programs.sources("tna") == [project / "common.p4", project / "fantel/tna/pe.p4"]
