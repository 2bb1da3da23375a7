"""A topology brought to life: Mininet, its switches and hosts, and the controller."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Literal

from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.node import Node

from fcn.controller.config import Config, ConfigError, parse_config
from fcn.controller.northbound.client import FcnClient
from fcn.hosts.delayline import fcn_delayline
from fcn.hosts.processes import Process, ProcessError, run, wait_until
from fcn.hosts.roce.options import Receiver, Sender
from fcn.hosts.roce.running import RoceProcess
from fcn.hosts.scratch import locked
from fcn.topologies.api import all_nodes_up, api_endpoint, fcn_command
from fcn.topologies.cables import set_link
from fcn.topologies.catalog import NetworkError
from fcn.topologies.controller_config import (
    CONFIGURATION,
    FcnSettings,
    controller_yaml,
    packets_held,
)
from fcn.topologies.hosts import RoceHost
from fcn.topologies.link_clock import clock_rates
from fcn.topologies.model import Link, Topology
from fcn.topologies.page import live_page
from fcn.topologies.switches import Bmv2Switch, P4Switch, SoftSwitch

Target = Literal["softswitch", "bmv2"]
SWITCHES: dict[Target, type[P4Switch]] = {"softswitch": SoftSwitch, "bmv2": Bmv2Switch}

CORE_MTU = 9000
CONTROLLER_TIMEOUT_S = 180.0


class DelayLine(Node):  # type: ignore[misc]
    """A cable of some length between two switches, as a node of its own."""

    def __init__(self, name: str, delay_ns: int, logs: Path) -> None:
        super().__init__(name, inNamespace=False)
        self.delay_us = round(delay_ns / 1000)
        self.logs = logs
        self.process: Process | None = None

    def start(self) -> None:
        """Start the program; both links must exist."""
        near, far = (f"{self.name}-eth{number}" for number in (0, 1))
        command = [str(fcn_delayline()), near, far, str(self.delay_us)]
        self.process = Process(self.name, command, self.logs / f"{self.name}.log")

    def stop_process(self) -> None:
        """Stop the program; Mininet removes the links."""
        if self.process is not None:
            self.process.stop()


class Network:
    """Context manager: everything runs inside, nothing is left after.

    The caller has entered namespaces of its own (`fcn.topologies.isolation`). `directory` receives
    the configuration and the output of every process. `make_host` makes a Mininet host of its
    name, `addresses` and Mininet's parameters. `api` is where the controller's API listens;
    hosts and other programs started meanwhile have it in FCN_API. `page`: the address of the live
    page, where there is one.
    """

    def __init__(
        self,
        topology: Topology,
        target: Target,
        settings: FcnSettings,
        directory: Path,
        make_host: Callable[..., RoceHost] = RoceHost,
    ) -> None:
        self.topology = topology
        self.target = target
        self.settings = settings
        self.directory = directory
        self.make_host = make_host
        self.api = ""
        self.page = ""
        self.controller: Process | None = None
        self._resources = ExitStack()
        self._delay_lines: list[DelayLine] = []
        self._mininet: Any = None

    def __enter__(self) -> "Network":
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_exc: object) -> None:
        self.stop()

    def _start(self) -> None:
        self._check_rates()
        setLogLevel("warning")
        self._resources.enter_context(_exclusive(self.directory))
        self.api = self._resources.enter_context(api_endpoint(self.directory))
        # No address, no duplicate address detection, no router solicitation on switch ports.
        run(["sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1"])
        # Mininet would raise limits of the whole machine, which four switches do not need.
        Mininet.inited = True
        clocks = clock_rates(self._checked_configuration())
        self._mininet = Mininet(controller=None, host=self.make_host, build=False)
        for node in self.topology.nodes:
            self._mininet.addSwitch(
                node.name,
                cls=SWITCHES[self.target],
                topology=self.topology,
                logs=self.directory,
                held=packets_held(self.settings),
                clock=clocks.get(node.name, 0),
            )
        for host, port in self.topology.host_ports():
            self._mininet.addHost(host.name, addresses=self.topology.addresses(host.name))
            self._mininet.addLink(host.name, port.node, port1=0, port2=port.number)
        for index, link in enumerate(self.topology.links, 1):
            self._add_core_link(link, index)
        self._mininet.build()
        self._prepare_interfaces()
        self._mininet.start()
        for line in self._delay_lines:
            line.start()
        for host in self._mininet.hosts:
            host.configure()
        self._start_controller()
        self.page = self._resources.enter_context(live_page(self.api, self.directory))
        for switch in self._mininet.switches:
            switch.shape_ports()
        for process in self._forwarding():
            process.prioritise()

    def _checked_configuration(self) -> Config:
        """What the controller will be given. Raises NetworkError where it would refuse that, which
        a description may lead to that has no mistake by itself."""
        try:
            return parse_config(self._configuration)
        except ConfigError as error:
            reasons = "\n".join(f"{each.where}: {each.message}" for each in error.problems)
            raise NetworkError(
                f"the controller refuses the configuration of {self.topology.name}; change its "
                f"description:\n{reasons}"
            ) from None

    def _check_rates(self) -> None:
        for port in self.topology.ports:
            if port.rate_bps and not SWITCHES[self.target].shapes_links:
                raise ProcessError(
                    f"{port.node} cannot limit the bits per second towards {port.peer}: BMv2 "
                    "limits packets per second (`queues`); leave `rate` out, or use --target "
                    "softswitch"
                )

    def _add_core_link(self, link: Link, index: int) -> None:
        near = self.topology.port(link.a, link.b)
        far = self.topology.port(link.b, link.a)
        if not link.delay_ns or SWITCHES[self.target].shapes_links:
            self._mininet.addLink(link.a, link.b, port1=near.number, port2=far.number)
            return
        line = DelayLine(f"line{index}", link.delay_ns, self.directory)
        self._delay_lines.append(line)
        switches = self._mininet.nameToNode
        self._mininet.addLink(switches[link.a], line, port1=near.number, port2=0)
        self._mininet.addLink(line, switches[link.b], port1=1, port2=far.number)

    def _prepare_interfaces(self) -> None:
        core = {port.interface for port in self.topology.ports if port.role == "core"}
        lines = {f"{line.name}-eth{end}" for line in self._delay_lines for end in (0, 1)}
        dc = {port.interface for port in self.topology.ports if port.role == "dc"}
        for interface in core | lines:
            run(["ip", "link", "set", interface, "mtu", str(CORE_MTU)])
        for interface in core | lines | dc:
            run(["ethtool", "-K", interface, "tx", "off", "rx", "off", "gso", "off", "gro", "off"])

    @property
    def _configuration(self) -> str:
        return controller_yaml(self.topology, self.settings, self.api)

    def _start_controller(self) -> None:
        config = self.directory / CONFIGURATION
        config.write_text(self._configuration)
        self.controller = Process(
            "fcn run", [fcn_command(), "run", "-c", config], self.directory / "controller.log"
        )
        self.controller.wait_ready(partial(all_nodes_up, self.api), CONTROLLER_TIMEOUT_S)

    def set_features(self, enabled: bool) -> None:
        """Switch every feature of every node on or off (FCN-16); raises ControllerError."""
        with FcnClient(self.api) as client:
            for node in self.topology.nodes:
                client.set_features(node.name, enabled)

    def set_link(self, a: str, b: str, *, up: bool) -> None:
        """Mend or cut a link between two nodes; raises CableError."""
        set_link(self.topology, a, b, up=up)

    def host(self, name: str) -> RoceHost:
        host: RoceHost = self._mininet.nameToNode[name]
        return host

    def run_in_host(self, name: str, command: Sequence[str | Path], log: Path) -> Process:
        """Start a program in a host's namespace, with priority."""
        process = Process(f"{Path(command[0]).name} in {name}", command, log, self._enter(name))
        process.prioritise()
        return process

    def run_roce(self, name: str, options: Sender | Receiver) -> RoceProcess:
        """Send or receive RDMA traffic in a host, with priority."""
        process = RoceProcess(name, options, self._enter(name))
        process.prioritise()
        return process

    def _enter(self, name: str) -> list[str]:
        return ["mnexec", "-a", str(self.host(name).pid)]

    def wait_for_ping(self, start: str, end: str) -> None:
        """Wait until `end` answers `start` over IPv4 and IPv6: neighbours and routes are there."""
        addresses = self.topology.addresses(end)
        for address in (addresses.ipv4.ip, addresses.ipv6.ip):
            ping = partial(self.host(start).answers, str(address))
            wait_until(ping, 30.0, f"{start} does not reach {end} ({address})")

    def check(self) -> None:
        """Raise ProcessError when a switch, a delay line or the controller has ended."""
        for process in self._forwarding():
            process.check()
        if self.controller is not None:
            self.controller.check()

    def _forwarding(self) -> list[Process]:
        nodes = [*self._mininet.switches, *self._delay_lines]
        return [node.process for node in nodes if node.process is not None]

    def interact(self) -> None:
        """Mininet's command line until the user leaves it."""
        from mininet.cli import CLI

        setLogLevel("output")
        CLI(self._mininet)

    def stop(self) -> None:
        """Stop controller, hosts and switches; also after a failed start."""
        with ExitStack() as steps:
            # Last in, first out; where one fails or is interrupted, the others follow all the same.
            steps.callback(self._resources.close)
            for line in self._delay_lines:
                steps.callback(line.terminate)
            if self._mininet is not None:
                steps.callback(self._mininet.stop)
            for line in self._delay_lines:
                steps.callback(line.stop_process)
            if self.controller is not None:
                steps.callback(self.controller.stop)


def make_directory(directory: Path) -> None:
    """Make the directory for logs and results. Raises ProcessError."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ProcessError(
            f"cannot write to {directory}: {error.strerror}; choose another directory with --out"
        ) from None


def _exclusive(directory: Path) -> AbstractContextManager[None]:
    """Keep others from writing to the directory; entering raises ProcessError when another does."""
    make_directory(directory)
    return locked(
        directory / "lock",
        ProcessError(
            f"another topology writes to {directory}: choose another directory with --out"
        ),
    )
