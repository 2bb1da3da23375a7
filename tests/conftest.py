"""What holds for all tests."""

import gc
import signal

from hypothesis import HealthCheck, settings


def pytest_configure() -> None:
    """Let the programs that tests start hear Ctrl-C: a background job of a shell (`make test &`)
    begins with SIGINT ignored, and so does everything it starts. Look seldom for objects in no use:
    a third of the time of collection went into looking through tests, which are all in use. An
    example of a property may take as long as a busy machine needs for it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.set_threshold(200_000, 20, 100)
    settings.register_profile(
        "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("any machine")


def pytest_collection_finish() -> None:
    """Nobody looks through them again."""
    gc.freeze()
