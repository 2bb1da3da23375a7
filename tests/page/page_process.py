"""`fcn page` as a process."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

WAIT = 180.0
"""Seconds for anything."""


@contextmanager
def page_running(api: str, *options: str) -> Iterator[str]:
    """The page of a controller; yields its address. It must end well."""
    command = [sys.executable, "-m", "fcn.page", "--api", api, "--listen", "127.0.0.1:0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith(f"live page of the controller at {api}: http://"), line
        yield line.split()[-1]
        process.terminate()
        assert process.wait(WAIT) == 0
    finally:
        process.kill()
        process.wait()
