"""What holds for all tests."""

import signal


def pytest_configure() -> None:
    """Let the programs that tests start hear Ctrl-C: a background job of a shell (`make test &`)
    begins with SIGINT ignored, and so does everything it starts."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
