"""Stopping a network whose parts do not stop as they should."""

from pathlib import Path

import pytest

from fcn.hosts.processes import Process, ProcessError
from fcn.topologies.catalog import network
from fcn.topologies.controller_config import FcnSettings
from fcn.topologies.network import Network


@pytest.mark.parametrize("error", [ProcessError, KeyboardInterrupt])
def test_what_fails_to_stop_keeps_nothing_else_from_stopping(
    error: type[BaseException], tmp_path: Path
) -> None:
    class Failing(Process):
        def stop(self, *_arguments: object) -> int:
            self._process.wait()
            raise error

    running = Network(network("wan"), "softswitch", FcnSettings(), tmp_path)
    released: list[str] = []
    running._resources.callback(released.append, "lock and socket")
    running.controller = Failing("true", ["true"], tmp_path / "log")
    with pytest.raises(error):
        running.stop()
    assert released == ["lock and socket"]
