"""When Python looks for unused objects in cycles, in programs that keep many objects.

Left to itself it looks through all of them whenever a quarter is new, and through any number of new
ones where as many others go: everybody waits for a tenth of a second then, and a third of the time
spent on learning goes into looking through flows that are all in use.
"""

import asyncio
import gc
from collections.abc import Iterator
from contextlib import contextmanager

PERIOD = 0.05
"""Seconds from one look through what is new to the next: of a few thousand objects, which takes a
millisecond. Few are in cycles, so what is in use then is not looked at again for long."""

COLLECTIONS = 10_000, 1, 50_000
"""Thresholds of Python's three generations. The last is looked through after so many looks, which
takes most of an hour, if a quarter of it is new; the others, should the program not pause."""

SELDOM = 1_000_000, 20, 100
"""The same of a program that ends soon."""


async def collect_often() -> None:
    """Look for unused objects in small parts, until cancelled. What the program has by now stays in
    use."""
    gc.freeze()
    gc.set_threshold(*COLLECTIONS)
    while True:
        await asyncio.sleep(PERIOD)
        gc.collect(1)


@contextmanager
def seldom_collected() -> Iterator[None]:
    """A program that makes many objects, keeps them and ends soon looks for unused ones seldom."""
    before = gc.get_threshold()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        # What there is by now counts as old: next would be a look through all of it.
        gc.freeze()
        gc.unfreeze()
