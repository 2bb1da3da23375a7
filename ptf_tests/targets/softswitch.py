"""The embedded target: this project's own softswitch."""

import sys

from ptf_tests.targets.base import Target


class Softswitch(Target):
    """fcn-softswitch, run by this interpreter."""

    name = "softswitch"

    def program(self) -> list[str]:
        """The switch as a module, so that no installed script is needed."""
        return [sys.executable, "-m", "softswitch"]
