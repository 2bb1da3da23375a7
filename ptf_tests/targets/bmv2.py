"""The reference: BMv2's simple_switch_grpc."""

import shutil
import subprocess

from ptf_tests.targets.base import Target, TargetUnavailableError

THRIFT_PORT_OFFSET = 1000
"""Of the Thrift port, which a simple_switch built with Thrift opens, from the P4Runtime port."""


class Bmv2(Target):
    """simple_switch_grpc from PATH."""

    name = "bmv2"

    def program(self) -> list[str]:
        """The switch, logging off for speed; several may run side by side."""
        path = shutil.which("simple_switch_grpc")
        if path is None:
            raise TargetUnavailableError(
                "simple_switch_grpc is not on PATH; install the p4lang-bmv2 package"
            )
        # Builds differ in the services they have; each service has an address that is one per
        # machine by default.
        usage = subprocess.run([path, "--help"], capture_output=True, text=True, check=False).stdout
        command = [path, "--log-level", "off"]
        if "--thrift-port" in usage:
            grpc_port = int(self.grpc_address.rpartition(":")[2])
            command += ["--thrift-port", str(grpc_port + THRIFT_PORT_OFFSET)]
        if "--notifications-addr" in usage:
            command += ["--notifications-addr", f"ipc://{self.log.with_suffix('.ipc')}"]
        return command
