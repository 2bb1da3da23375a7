"""One test bed per target and module; each test starts with a new program and a reset Linux PE."""

from collections.abc import Iterator

import pytest
from interop_bed import Bed, skip_unless_possible


@pytest.fixture(scope="module", params=["softswitch", "bmv2"])
def running_bed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Bed]:
    """The test bed with a running switch."""
    skip_unless_possible(request.param)
    bed = Bed(request.param, tmp_path_factory.mktemp(request.param))
    yield bed
    bed.close()


@pytest.fixture
def bed(running_bed: Bed) -> Iterator[Bed]:
    """The test bed, with the Linux PE's configuration of earlier tests removed."""
    yield running_bed
    running_bed.clear_linux()
