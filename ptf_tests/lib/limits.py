"""What tests of rate limits send and allow (FCN-11, FCN-15)."""

import math
import time
from collections.abc import Iterable

import finsy as fy

from fcn.ptf_tests.lib.base import FcnTest, Outcome
from fcn.ptf_tests.lib.ports import DC_PORT

LONG_US = 60_000_000
"""An interval in microseconds that does not end within a test."""
FLOOD = 320
BUDGET = fy.P4MeterConfig(cir=1, cburst=5, pir=1, pburst=5)
"""Rate of one notification per second, burst of five."""


def flood(test: FcnTest, port: int, frames: Iterable[bytes]) -> tuple[int, Outcome]:
    """Send frames that cause notifications out of DC_PORT; how many left, and all that left.

    Fails when they are fewer than the burst of BUDGET, or more than it allows in the time taken.
    """
    started = time.monotonic()
    outcome = test.exchange(port, *frames)
    most = BUDGET.cburst + math.ceil(BUDGET.cir * (time.monotonic() - started))
    sent = len(outcome.frames.get(DC_PORT, []))
    test.assertGreaterEqual(sent, BUDGET.cburst)
    test.assertLessEqual(sent, most)
    return sent, outcome
