"""A switch process under test: command line, start and termination."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Self

import grpc
from finsy.proto import p4r, p4r_grpc

from fcn.contract.targets import V1MODEL
from fcn.hosts.processes import Process, ProcessError

START_TIMEOUT = 180.0
"""Seconds; softswitch may have to compile its pipeline library on the first run."""


class TargetUnavailableError(Exception):
    """The target is not installed; the message says what is missing and how to install it."""


class Target(ABC):
    """One kind of switch; an instance is one process, used as a context manager.

    interfaces: port number to network interface. log: file for its output. coverage: file for which
    parts of the programs packets passed, where the switch can tell; it is there when it has ended.
    """

    name: str

    def __init__(
        self,
        interfaces: Mapping[int, str],
        grpc_address: str,
        device_id: int,
        log: Path,
        coverage: Path | None = None,
    ) -> None:
        self.interfaces = dict(interfaces)
        self.grpc_address = grpc_address
        self.device_id = device_id
        self.log = log
        self.coverage = coverage
        self._process: Process | None = None

    @abstractmethod
    def program(self) -> list[str]:
        """The command, without arguments; raises TargetUnavailableError."""

    @classmethod
    @abstractmethod
    def set_queue(
        cls, grpc_address: str, port: int, rate_pps: int, depth: int | None = None
    ) -> None:
        """Set the rate of a port, and the packets its queue holds, of the switch at this address.

        The program must be loaded. Raises TargetUnavailableError when the tool for it is missing.
        """

    def limit_port(self, port: int, rate_pps: int, depth: int) -> None:
        """Limit a port to rate_pps packets per second, and its queue to `depth` packets; as
        set_queue()."""
        self.set_queue(self.grpc_address, port, rate_pps, depth)

    def command(self) -> list[str]:
        """The whole command line; every target has the options of simple_switch_grpc."""
        ports = [
            word for port, name in self.interfaces.items() for word in ("-i", f"{port}@{name}")
        ]
        return [
            *self.program(),
            "--no-p4",
            "--device-id",
            str(self.device_id),
            *ports,
            "--",
            "--grpc-server-addr",
            self.grpc_address,
            "--cpu-port",
            str(V1MODEL.ports.cpu),
            "--drop-port",
            str(V1MODEL.ports.drop),
        ]

    @property
    def pid(self) -> int:
        """The number of the process, which runs."""
        assert self._process is not None
        return self._process.pid

    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.running

    def __enter__(self) -> Self:
        self._process = Process(self.name, self.command(), self.log)
        try:
            self._process.wait_ready(partial(is_serving, self.grpc_address), START_TIMEOUT)
        except ProcessError:
            self.stop()
            raise
        return self

    def __exit__(self, *_exc: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Terminate the process and wait for it; kill it when it does not end."""
        if self._process is not None:
            self._process.stop()
            self._process = None


def is_serving(address: str) -> bool:
    """Whether a P4Runtime server answers at `address`: what it can do, or that it cannot say."""
    with grpc.insecure_channel(address) as channel:
        stub = p4r_grpc.P4RuntimeStub(channel)
        try:
            stub.Capabilities(p4r.CapabilitiesRequest(), timeout=1.0, wait_for_ready=True)
        except grpc.RpcError as error:
            return bool(error.code() == grpc.StatusCode.UNIMPLEMENTED)
    return True
