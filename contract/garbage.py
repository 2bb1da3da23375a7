"""When Python looks for unused objects in cycles, in programs that keep many objects."""

import gc

COLLECTIONS = 10_000, 1, 500
"""Thresholds of Python's three generations. With its own a third of the time spent on learning goes
into looking through flows that are all in use. As many objects as survive a look are looked at a
second time soon, because a look takes a millisecond for 20,000 of them, while everybody waits; then
hardly ever again: few objects are in cycles."""


def collect_seldom() -> None:
    """Pauses of a millisecond instead of some hundred. What the program has by now stays in use.

    To be called once it is set up."""
    gc.freeze()
    gc.set_threshold(*COLLECTIONS)
