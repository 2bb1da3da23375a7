"""The clock of a switch under test (FAN-4): how fast it goes."""

from ptf import testutils

from fcn.contract.targets import V1MODEL
from fcn.ptf_tests.lib.base import FcnTest
from fcn.ptf_tests.targets import TARGETS
from fcn.ptf_tests.targets.tofino import Tofino


def pace_clock(test: FcnTest, rate_pps: int) -> None:
    """Let the clock packet come round so many times per second; the program is loaded."""
    if test.target == Tofino.name:
        # Its driver does.
        return
    port = V1MODEL.ports.clock
    TARGETS[test.target].set_queue(testutils.test_param_get("grpc_address"), port, rate_pps)
