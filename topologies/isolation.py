"""Run a program in network, process and mount namespaces of its own.

Interfaces, ports and processes then neither collide with anything on the machine nor outlive the
program: when it ends, however it ends, the kernel removes them with the namespaces.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

from fcn.topologies.page import VARIABLE, page_socket

_MARK = "FCN_ISOLATED_PARENT"

ENDING = (signal.SIGTERM, signal.SIGHUP)
"""Signals that end the program and everything in its namespaces."""

STOP_TIMEOUT_S = 60.0
"""How long the program may take to stop its network in order."""

_REPEAT_S = 0.5


class IsolationError(RuntimeError):
    """Namespaces cannot be made; the message says what is missing."""


def enter(module: str, arguments: Sequence[str], *, page: bool = False) -> None:
    """Return inside the namespaces; outside, run `python -m module` there and exit as it does.

    Standard streams, terminal and working directory stay those of the caller. SIGTERM and SIGHUP
    to the process outside end what is inside: it leaves with SystemExit of 128 and the signal's
    number. One that the caller ignores, as after nohup, stays ignored. page: whether networks
    inside have a live page outside. Raises IsolationError without root.
    """
    heard = os.environ.get(_MARK)
    if heard is not None and os.getpid() == 1:
        # The first process of a namespace ignores signals it has no handler for.
        for number in map(int, heard.split()):
            signal.signal(number, _leave)
        # Ctrl-C was kept for now: a module that is being imported cannot handle it.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        _prepare("ip", "link", "set", "lo", "up")
        # /sys/class/net of the caller shows its interfaces; BMv2 looks there for link states.
        _prepare("mount", "-t", "sysfs", "sysfs", "/sys")
        return
    if os.geteuid() != 0:
        raise IsolationError("Mininet needs root: run it with sudo")
    command = ["unshare", "--net", "--pid", "--mount-proc", "--fork", "--kill-child"]
    command += [sys.executable, "-m", module, *arguments]
    heard = " ".join(str(int(number)) for number in _heard(ENDING))
    environment = {**os.environ, _MARK: heard}
    listening = page_socket() if page else None
    if listening is None:
        sys.exit(_supervise(command, environment))
    with listening:
        number = listening.fileno()
        sys.exit(_supervise(command, {**environment, VARIABLE: str(number)}, [number]))


def _prepare(*command: str) -> None:
    try:
        subprocess.run(command, check=True)
    except FileNotFoundError as error:
        raise IsolationError(f"{command[0]} is not on PATH; install iproute2 and mount") from error
    except subprocess.CalledProcessError as error:
        raise IsolationError(f"{' '.join(command)} failed; what it says is above") from error


def wait_for_signal(ready: Callable[[], None]) -> None:
    """Inside: return on SIGINT or a signal of ENDING; more of the latter do not interrupt.

    ready: called once these signals are waited for.
    """
    ending = _heard((signal.SIGINT, *ENDING))
    signal.pthread_sigmask(signal.SIG_BLOCK, ending)
    ready()
    signal.sigwait(ending)
    _ignore()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ending)


def _heard(numbers: Iterable[signal.Signals]) -> set[signal.Signals]:
    """Those that this process does not ignore; one that is blocked would be heard all the same."""
    return {number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN}


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    del frame
    _ignore()
    sys.exit(128 + number)


def _ignore() -> None:
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def _supervise(
    command: Sequence[str], environment: Mapping[str, str], pass_fds: Sequence[int] = ()
) -> int:
    """Run `unshare`, pass signals on to the process it forks, return the exit status.

    Ctrl-C reaches that process by the terminal; unshare and this one do not end by it. Should this
    process be killed, the kernel kills unshare, which takes the other with it.
    """
    awaited = _heard((signal.SIGINT, signal.SIGCHLD, *ENDING))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, awaited)
    try:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *command],
            env=environment,
            pass_fds=pass_fds,
            preexec_fn=lambda: _begin_child(before | {signal.SIGINT}),
        )
    except FileNotFoundError as error:
        raise IsolationError("setpriv and unshare (package util-linux) are not on PATH") from error
    asked, deadline = 0, float("inf")
    while process.poll() is None:
        if asked:
            # Before it has a handler, the first process of a namespace does not hear a signal.
            _send(process.pid, asked)
            got = signal.sigtimedwait(awaited, _REPEAT_S)
        else:
            got = signal.sigwaitinfo(awaited)
        if got is not None and got.si_signo in ENDING and not asked:
            asked, deadline = got.si_signo, time.monotonic() + STOP_TIMEOUT_S
        if time.monotonic() > deadline:
            process.kill()
    status = process.returncode
    if status < 0:
        return 128 + (asked or -status)
    return status


def _begin_child(mask: set[int | signal.Signals]) -> None:
    """A signal to all of a terminal or process group must not end unshare, for that kills the
    program: it shall end in order."""
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def _send(unshare: int, number: int) -> None:
    with suppress(FileNotFoundError, ProcessLookupError):
        for child in Path(f"/proc/{unshare}/task/{unshare}/children").read_text().split():
            os.kill(int(child), number)
