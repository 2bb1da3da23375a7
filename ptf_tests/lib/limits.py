"""What tests of rate limits send and allow (FCN-11, FCN-15)."""

import math
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence

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


SHARED = fy.P4MeterConfig(cir=20, cburst=1, pir=20, pburst=1)
"""A budget so small that whoever sends at all uses it up."""
NOTICES = 40


def shares(
    test: FcnTest,
    order: Sequence[bytes],
    counter: str,
    ports: tuple[int, int, int | None],
    name: Callable[[bytes], Hashable],
) -> Counter[Hashable]:
    """Send frames in this order, again and again, until an event counts NOTICES; how many of the
    frames that left were about whom.

    ports: where they arrive, where notices leave, where the traffic itself does.
    """
    arrive, leave, through = ports

    def sent() -> bool:
        for frame in order:
            test.send(arrive, frame)
            if through is not None:
                test.assertIsNotNone(test.receive(through))
        return test.counts()[f"event {counter}"] >= NOTICES

    test.wait_for(counter, sent)
    return Counter(map(name, test.exchange(arrive).frames[leave]))
