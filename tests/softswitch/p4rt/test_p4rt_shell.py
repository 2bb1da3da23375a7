"""p4runtime-shell against the server, where `fcn shell` has installed it."""

import asyncio
import os
from pathlib import Path

import pytest
from p4rt_testing import P4BLOB, P4INFO, Running

from fcn.controller.cli.shell import environment

SCRIPT = Path(__file__).with_name("shell_session.py")
EXPECTED = """\
> second insert: [6]
> host: 02
> host: 03
> hosts left: 0
> acl: 4
> route: 1
> counter: 5
> meter: 3
> multicast: [(1, 1), (2, 2)]
> version: 1.4.0
"""


@pytest.mark.skipif(
    not (environment() / "complete").exists(),
    reason="p4runtime-shell is not installed; `fcn shell NODE` installs it",
)
async def test_shell(running: Running) -> None:
    process = await asyncio.create_subprocess_exec(
        environment() / "bin" / "python",
        SCRIPT,
        running.address,
        P4INFO,
        P4BLOB,
        env={**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": "python"},
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0
    lines = output.decode().splitlines(keepends=True)
    assert "".join(line for line in lines if line.startswith("> ")) == EXPECTED
    assert running.backend.engine.sent == [b"\x00\x80from the shell"]
