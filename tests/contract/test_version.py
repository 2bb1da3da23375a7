"""The distribution has one name, and its version is told where that is known."""

import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from fcn.contract import version

ROOT = Path(__file__).resolve().parents[2]


def test_the_name_is_that_of_the_distribution() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == version.DISTRIBUTION


def test_a_checkout_that_is_not_installed_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one that was installed when the distribution had another name."""

    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    assert version.fcn_version.__wrapped__() == "unknown"


@pytest.mark.parametrize("folder", sorted((ROOT / "fcn").iterdir()), ids=lambda path: path.name)
def test_nobody_is_told_to_install_another_project(folder: Path) -> None:
    for file in folder.resolve().rglob("*.py") if folder.is_dir() else [folder]:
        assert "install 'fcn[" not in file.read_text(), file
