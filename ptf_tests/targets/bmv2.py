"""The reference: BMv2's simple_switch_grpc."""

import shutil
import subprocess

from fcn.hosts.processes import ProcessError, run
from fcn.ptf_tests.targets.base import Target, TargetUnavailableError

THRIFT_PORT_OFFSET = 1000
"""Offset from the P4Runtime port to the Thrift port, which a simple_switch with Thrift opens."""


class Bmv2(Target):
    """simple_switch_grpc from PATH."""

    name = "bmv2"

    def program(self) -> list[str]:
        """The switch, without logging for speed; several can run on one machine."""
        path = shutil.which("simple_switch_grpc")
        if path is None:
            raise TargetUnavailableError(
                "simple_switch_grpc is not on PATH; install the p4lang-bmv2 package"
            )
        # Builds have different services; the default address of each can be used only once per
        # machine.
        usage = subprocess.run([path, "--help"], capture_output=True, text=True, check=False).stdout
        command = [path, "--log-level", "off"]
        if "--thrift-port" in usage:
            command += ["--thrift-port", str(_thrift_port(self.grpc_address))]
        if "--notifications-addr" in usage:
            command += ["--notifications-addr", f"ipc://{self.log.with_suffix('.ipc')}"]
        return command

    @classmethod
    def set_queue(
        cls, grpc_address: str, port: int, rate_pps: int, depth: int | None = None
    ) -> None:
        """Over Thrift, the only interface to BMv2's queues."""
        cli = shutil.which("simple_switch_CLI")
        if cli is None:
            raise TargetUnavailableError(
                "simple_switch_CLI is not on PATH; install the p4lang-bmv2 package"
            )
        commands = f"set_queue_rate {rate_pps} {port}\n"
        if depth is not None:
            commands = f"set_queue_depth {depth} {port}\n{commands}"
        said = run([cli, "--thrift-port", str(_thrift_port(grpc_address))], stdin=commands)
        if "Error" in said:
            raise ProcessError(f"queue of port {port} not set:\n{said}")


def _thrift_port(grpc_address: str) -> int:
    return int(grpc_address.rpartition(":")[2]) + THRIFT_PORT_OFFSET
