"""Mininet switches that run a P4 program: fcn-softswitch and BMv2's simple_switch_grpc.

Both are started without a program; the controller pushes it. They differ in where a port's queue
and delay are set: softswitch has a gRPC service for both, BMv2 knows queues only, set over Thrift,
and gets its delays from `fcn.hosts.delayline`.
"""

import sys
from abc import abstractmethod
from pathlib import Path
from typing import Any

from mininet.node import Switch

from fcn.contract.parking import bmv2_commands
from fcn.contract.targets import V1MODEL
from fcn.hosts.processes import Process, ProcessError, is_listening, run
from fcn.topologies.controller_config import grpc_endpoint
from fcn.topologies.model import ROOMY_DEPTH, Port, Topology
from fcn.topologies.trafficmanager import TrafficManager

THRIFT_BASE = 21_000
START_TIMEOUT_S = 180.0


class P4Switch(Switch):  # type: ignore[misc]
    """A node of a topology as a process beside Mininet's hosts.

    Parameters besides Mininet's: `topology`; `logs`, the directory its output goes to; `held`, how
    many packets it may hold for its neighbours (SRF-7); `clock`, packets per second of its clock
    (FAN-4), 0 without one.
    """

    shapes_links = False
    """Whether its ports have a delay, and a limit in bits per second."""

    def __init__(
        self,
        name: str,
        topology: Topology,
        logs: Path,
        held: int = 0,
        clock: int = 0,
        **parameters: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(name, dpid=f"{topology.index(name):016x}", **parameters)
        self.topology = topology
        self.logs = logs
        self.held = held
        self.clock = clock
        self.process: Process | None = None

    @property
    def switch_ports(self) -> tuple[Port, ...]:
        return self.topology.ports_of(self.name)

    @abstractmethod
    def command(self) -> list[str]:
        """The program and its arguments up to `--`."""

    @abstractmethod
    def shape_ports(self) -> None:
        """Give ports their rates, depths and delays; needs the P4 program to be loaded."""

    def start(self, controllers: object = ()) -> None:
        """Start the program and wait until its P4Runtime server listens."""
        del controllers
        endpoint = grpc_endpoint(self.topology, self.name)
        target = ["--", "--grpc-server-addr", endpoint, "--cpu-port", str(V1MODEL.ports.cpu)]
        self.process = Process(
            self.name, [*self.command(), *target], self.logs / f"{self.name}.log"
        )
        host, port = endpoint.split(":")
        self.process.wait_ready(lambda: is_listening(host, int(port)), START_TIMEOUT_S)

    def stop(self, deleteIntfs: bool = True) -> None:  # noqa: N803 (Mininet's name)
        if self.process is not None:
            self.process.stop()
        super().stop(deleteIntfs)

    def _common_options(self) -> list[str]:
        options = ["--no-p4", "--device-id", str(self.topology.index(self.name))]
        for port in self.switch_ports:
            options += ["-i", f"{port.number}@{port.interface}"]
        return options


class Bmv2Switch(P4Switch):
    """BMv2. Its queues count packets; rate and depth are set over Thrift."""

    def command(self) -> list[str]:
        thrift = ["--thrift-port", str(self._thrift_port), "--log-level", "off"]
        return ["simple_switch_grpc", *self._common_options(), *thrift]

    @property
    def _thrift_port(self) -> int:
        return THRIFT_BASE + self.topology.index(self.name)

    def shape_ports(self) -> None:
        """Set the depth of all queues and the rate of the limited ones, held packets' and the
        clock's too."""
        commands = "".join(f"{line}\n" for line in bmv2_commands(self.held) if self.held)
        if self.clock:
            commands += f"set_queue_rate {self.clock} {V1MODEL.ports.clock}\n"
        for port in self.switch_ports:
            queue = self.topology.queue_of(port)
            depth = queue.depth if queue is not None else ROOMY_DEPTH
            commands += f"set_queue_depth {depth} {port.number}\n"
            if queue is not None:
                commands += f"set_queue_rate {queue.rate_pps} {port.number}\n"
        cli = ["simple_switch_CLI", "--thrift-port", str(self._thrift_port)]
        said = run(cli, stdin=commands)
        if "Error" in said:
            raise ProcessError(f"{self.name}: queues not set:\n{said}")


class SoftSwitch(P4Switch):
    """The embedded switch; queues and delays are set over its traffic manager's gRPC service."""

    shapes_links = True

    def command(self) -> list[str]:
        return [sys.executable, "-m", "fcn.softswitch", *self._common_options()]

    def start(self, controllers: object = ()) -> None:
        """The same, and set the clock's rate, before the controller sets it going."""
        super().start(controllers)
        if self.clock:
            with TrafficManager(grpc_endpoint(self.topology, self.name)) as manager:
                manager.pace(V1MODEL.ports.clock, self.clock)

    def shape_ports(self) -> None:
        """Set every port's propagation delay, the limited queues and the clock."""
        with TrafficManager(grpc_endpoint(self.topology, self.name)) as manager:
            if self.clock:
                manager.pace(V1MODEL.ports.clock, self.clock)
            for port in self.switch_ports:
                manager.shape(port, self.topology.queue_of(port))
