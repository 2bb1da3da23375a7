"""Ctrl-C and SIGTERM end what a command does, in order."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stopped() -> Iterator[Callable[[], bool]]:
    """Whether the user wants it to end. A second signal ends it at once."""
    wanted = False
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(each) for each in signals]

    def restore() -> None:
        for each, handler in zip(signals, before, strict=True):
            signal.signal(each, handler)

    def ask(*_signal: object) -> None:
        nonlocal wanted
        wanted = True
        restore()

    for each in signals:
        signal.signal(each, ask)
    try:
        yield lambda: wanted
    finally:
        restore()
