"""The folder of a topology's socket is ours alone, and nobody else's is changed."""

import os
import stat
from pathlib import Path

import pytest

from fcn.hosts.processes import ProcessError
from fcn.topologies.api import api_endpoint


def test_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir(mode=0o755)
    (tmp_path / "api").symlink_to(other)
    with (
        pytest.raises(ProcessError, match="api is not a folder of this user"),
        api_endpoint(tmp_path),
    ):
        pass
    assert stat.S_IMODE(other.stat().st_mode) == 0o755


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a folder of another user")
def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "api"
    place.mkdir(mode=0o755)
    os.chown(place, 65534, 65534)
    with pytest.raises(ProcessError, match="api belongs to somebody else"), api_endpoint(tmp_path):
        pass
    assert stat.S_IMODE(place.stat().st_mode) == 0o755


def test_one_of_ours_that_was_left_is_taken(tmp_path: Path) -> None:
    place = tmp_path / "api"
    place.mkdir(mode=0o755)
    with api_endpoint(tmp_path) as endpoint:
        assert endpoint == f"unix:{place}/fcn.sock"
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert not place.exists()
