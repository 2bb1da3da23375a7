"""The reference: BMv2's simple_switch_grpc."""

import shutil

from ptf_tests.targets.base import Target, TargetUnavailableError


class Bmv2(Target):
    """simple_switch_grpc from PATH."""

    name = "bmv2"

    def program(self) -> list[str]:
        """The switch, logging off for speed."""
        path = shutil.which("simple_switch_grpc")
        if path is None:
            raise TargetUnavailableError(
                "simple_switch_grpc is not on PATH; install the p4lang-bmv2 package"
            )
        return [path, "--log-level", "off"]
