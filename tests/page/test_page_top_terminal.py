"""`fcn top` and the terminal it is in."""

import os
import pty
import subprocess
import sys

TOP = [sys.executable, "-m", "fcn.page.top", "--api", "unix:/none"]
WAIT_S = 60


def test_without_a_terminal_it_says_what_needs_none() -> None:
    done = subprocess.run(TOP, stdin=subprocess.DEVNULL, capture_output=True, timeout=WAIT_S)
    assert done.returncode == 1
    assert b"needs a terminal; `fcn status`" in done.stderr
    assert done.stdout == b""


def test_it_ends_with_its_terminal() -> None:
    """Also where the terminal tells nobody."""
    controlling, terminal = pty.openpty()
    with subprocess.Popen(TOP, stdin=terminal, stdout=terminal, stderr=terminal) as process:
        try:
            os.close(terminal)
            said = b""
            while b"Reverse" not in said:
                said += os.read(controlling, 1 << 16)
            os.close(controlling)
            assert process.wait(WAIT_S) == 1
        finally:
            process.kill()
