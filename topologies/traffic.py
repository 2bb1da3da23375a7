"""RoCEv2 traffic in a network that runs: `python -m fcn.topologies.traffic h1 h3`."""

import os
import shlex
import signal
import time
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from fcn.contract.command_line import Commands
from fcn.contract.units import parse_rate
from fcn.controller.cli.capture import CaptureError
from fcn.controller.cli.common import fail, mistyped
from fcn.hosts.build import BuildError
from fcn.hosts.processes import ProcessError
from fcn.hosts.roce.log import LogError, RoceLog
from fcn.hosts.roce.options import Receiver, Sender
from fcn.hosts.roce.running import READY_TIMEOUT_S, RoceProcess
from fcn.hosts.scratch import locked
from fcn.topologies.api import commands_to_try
from fcn.topologies.demo.scenario import CNP_INTERVAL_US, HEADERS, MTU, reaction_point
from fcn.topologies.isolation import ENDING
from fcn.topologies.network import make_directory
from fcn.topologies.running import OUT, Out, RunningError, RunningHost, configuration, hosts

POLL_S = 0.5
LOG_INTERVAL_MS = 500
LONGEST_S = 86_400

console = Console(highlight=False)


@dataclass(frozen=True, slots=True)
class Traffic:
    """RDMA WRITEs of `qps` queue pairs of at most `rate_bps` each, for some seconds."""

    sender: RunningHost
    receiver: RunningHost
    version: Literal[4, 6]
    qps: int
    rate_bps: int
    seconds: int
    logs: Path

    def log(self, host: RunningHost) -> Path:
        """What the program in a host tells."""
        return self.logs / f"{host.name}.jsonl"

    def receive(self) -> RoceProcess:
        options = Receiver(
            self.receiver.address(self.version),
            self.log(self.receiver),
            log_interval_ms=LOG_INTERVAL_MS,
            cnp_interval_us=CNP_INTERVAL_US,
        )
        return self._start(self.receiver, options)

    def send(self) -> RoceProcess:
        options = Sender(
            self.sender.address(self.version),
            self.receiver.address(self.version),
            self.log(self.sender),
            log_interval_ms=LOG_INTERVAL_MS,
            qps=self.qps,
            mtu=MTU,
            duration_ms=1000 * self.seconds,
            dcqcn=reaction_point(self.rate_bps, 8 * (MTU + HEADERS[self.version])),
        )
        return self._start(self.sender, options)

    def _start(self, host: RunningHost, options: Sender | Receiver) -> RoceProcess:
        # However this process ends, that one does.
        return RoceProcess(host.name, options, ["setpriv", "--pdeathsig", "INT", *host.enter])


def traffic(
    sender: Annotated[str, typer.Argument(help="host that sends, such as h1")],
    receiver: Annotated[str, typer.Argument(help="host that receives, such as h3")],
    qps: Annotated[int, typer.Option(help="queue pairs", min=1, max=64)] = 2,
    rate: Annotated[str, typer.Option(help="of each queue pair, at most")] = "10 Mb/s",
    ipv6: Annotated[bool, typer.Option("--ipv6", help="over IPv6")] = False,
    seconds: Annotated[int, typer.Option(help="how long", min=1, max=LONGEST_S)] = 600,
    out: Out = OUT,
) -> None:
    """Send RoCEv2 traffic with DCQCN from a host to another, until Ctrl-C."""
    with mistyped("--rate"):
        rate_bps = parse_rate(rate)
    if sender == receiver:
        raise typer.BadParameter(f"{sender} cannot send to itself")
    if os.geteuid() != 0:
        raise fail("hosts are entered by root only: run it with sudo")
    # Like Ctrl-C, which the processes of hosts do not hear.
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
    logs = out / "traffic"
    try:
        config = configuration(out)
        near, far = hosts(config, (sender, receiver))
        make_directory(logs)
        with _alone(logs, sender), _alone(logs, receiver):
            found = Traffic(near, far, 6 if ipv6 else 4, qps, rate_bps, seconds, logs)
            _carry_out(found, config["api"])
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    except (BuildError, CaptureError, LogError, ProcessError, RunningError) as error:
        raise fail(str(error)) from None


def _alone(logs: Path, host: str) -> AbstractContextManager[None]:
    """Two programs in a host would take each other's packets. Entering raises RunningError."""
    return locked(
        logs / f"{host}.lock",
        RunningError(f"{host} sends or receives already; end that first, or take other hosts"),
    )


def _carry_out(found: Traffic, api: str) -> None:
    near, far = found.sender, found.receiver
    with ExitStack() as stack:
        receiver = stack.enter_context(found.receive())
        receiver.wait_for("start")
        sender = stack.enter_context(found.send())
        sender.wait_ready(lambda: _connected(sender, found), READY_TIMEOUT_S)
        address = near.address(found.version)
        look = commands_to_try(api, ("flows list", f"flows show {address}", "events"))
        console.print(
            f"{near.name} ({address}) sends to {far.name} ({far.address(found.version)}) with "
            f"{found.qps} queue pairs of at most {found.rate_bps / 1e6:g} Mb/s, for "
            f"{found.seconds} s; logs in {shlex.quote(str(found.logs))}\n"
            f"look at it from another terminal:\n{look}\n"
            "Ctrl-C, or SIGTERM to this process, ends it",
            soft_wrap=True, markup=False,
        )  # fmt: skip
        with suppress(KeyboardInterrupt):
            _follow(found, sender)
        for process in (sender, receiver):
            process.send(signal.SIGINT)
            process.wait(READY_TIMEOUT_S)
    _say_result(found, sender.log_read, receiver.log_read)


def _connected(sender: RoceProcess, found: Traffic) -> bool:
    if sender.told("connected", found.qps):
        return True
    if sender.counts["summary"] or not sender.running:
        raise ProcessError(
            f"{found.sender.name} got no connection to {found.receiver.name}: are both in one VRF, "
            f"and all nodes up (fcn status)? {sender.last_words()}"
        )
    return False


def _follow(found: Traffic, sender: RoceProcess) -> None:
    """Show on a terminal how it goes, until the sender ends. Raises RunningError when the network
    does."""
    with console.status("") as status:
        while sender.running:
            sender.read()
            if not found.sender.running:
                raise RunningError("the network has ended")
            status.update(f"{sender.rate_bps / 1e6:.1f} Mb/s, {sender.counts['cnp']} CNPs")
            time.sleep(POLL_S)


def _say_result(found: Traffic, sent: RoceLog, came: RoceLog) -> None:
    console.print(
        f"{found.sender.name} sent {sent.total('qp_summary', 'packets')} packets, got "
        f"{sent.total('qp_summary', 'cnps')} CNPs and cut its rate "
        f"{sent.total('qp_summary', 'cuts')} times; {found.receiver.name} saw "
        f"{came.total('qp_summary', 'ce')} CE marks",
        soft_wrap=True,
    )


if __name__ == "__main__":
    app = Commands(add_completion=False)
    app.command()(traffic)
    app(prog_name="fcn topo traffic")
