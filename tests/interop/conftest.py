"""One testbed per target and module; each test starts with a new program and a reset Linux PE."""

from collections.abc import Iterator

import pytest
from interop_testbed import InteropTestbed, skip_unless_possible


@pytest.fixture(scope="module", params=["softswitch", "bmv2"])
def running_testbed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InteropTestbed]:
    """The testbed with a running switch."""
    skip_unless_possible(request.param)
    testbed = InteropTestbed(request.param, tmp_path_factory.mktemp(request.param))
    yield testbed
    testbed.close()


@pytest.fixture
def testbed(running_testbed: InteropTestbed) -> Iterator[InteropTestbed]:
    """The testbed, with the Linux PE's configuration of earlier tests removed."""
    yield running_testbed
    running_testbed.clear_linux()
