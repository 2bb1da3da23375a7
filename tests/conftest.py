"""What holds for all tests."""

import gc
import signal


def pytest_configure() -> None:
    """Let the programs that tests start hear Ctrl-C: a background job of a shell (`make test &`)
    begins with SIGINT ignored, and so does everything it starts. Look seldom for objects in no use:
    a third of the time of collection went into looking through tests, which are all in use."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(200_000, 20, 100)


def pytest_collection_finish() -> None:
    """Nobody looks through them again."""
    gc.freeze()
