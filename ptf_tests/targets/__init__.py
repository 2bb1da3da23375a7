"""The switches on which the suite runs."""

from fcn.ptf_tests.targets.base import Target, TargetUnavailableError
from fcn.ptf_tests.targets.bmv2 import Bmv2
from fcn.ptf_tests.targets.softswitch import Softswitch
from fcn.ptf_tests.targets.tofino import Tofino

TARGETS: dict[str, type[Target]] = {target.name: target for target in (Bmv2, Softswitch, Tofino)}

__all__ = ["TARGETS", "Target", "TargetUnavailableError"]
