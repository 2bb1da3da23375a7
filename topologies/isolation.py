"""Run a program in network, process and mount namespaces of its own.

Interfaces, ports and processes then neither collide with anything on the machine nor outlive the
program: when it ends, however it ends, the kernel removes them with the namespaces.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence

_MARK = "FCN_ISOLATED_PARENT"


class IsolationError(RuntimeError):
    """Namespaces cannot be made; the message says what is missing."""


def enter(module: str, arguments: Sequence[str]) -> None:
    """Return inside the namespaces, replacing this process by `python -m module` when outside.

    Standard streams, terminal and working directory stay those of the caller. Raises
    IsolationError without root.
    """
    if os.environ.get(_MARK) and os.getpid() == 1:
        # The first process of a namespace ignores signals it has no handler for.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        # /sys/class/net of the caller shows its interfaces; BMv2 looks there for link states.
        subprocess.run(["mount", "-t", "sysfs", "sysfs", "/sys"], check=True)
        return
    if os.geteuid() != 0:
        raise IsolationError("Mininet needs root: run it with sudo")
    command = ["unshare", "--net", "--pid", "--mount-proc", "--fork", "--kill-child"]
    command += [sys.executable, "-m", module, *arguments]
    try:
        os.execvpe(command[0], command, {**os.environ, _MARK: "1"})
    except FileNotFoundError as error:
        raise IsolationError("unshare (package util-linux) is not on PATH") from error
