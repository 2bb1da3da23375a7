"""What the commands that run topologies have in common."""

import shutil
import signal

import typer

from fcn.topologies.network import SWITCHES, Target


def choose_target(name: str) -> Target:
    """The target of that name; without one BMv2 where it is installed, else the softswitch."""
    if not name:
        return "bmv2" if shutil.which("simple_switch_grpc") else "softswitch"
    for target in SWITCHES:
        if target == name:
            return target
    raise typer.BadParameter(f"no target {name}; there are {', '.join(SWITCHES)}")


def wait_for_signal() -> None:
    """Return on SIGINT or SIGTERM."""
    ending = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, ending)
    signal.sigwait(ending)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ending)
