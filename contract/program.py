"""Programs end in order: at Ctrl-C, also while they import what they need, and where their output
cannot be written.

`python -m fcn.contract.program MODULE ARGUMENTS` is `python -m MODULE ARGUMENTS` that does.
"""

import atexit
import errno
import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper

_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EIO}


def discard_output() -> None:
    """What is still buffered for standard output, and cannot be written, is lost."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def ended_in_order() -> Iterator[None]:
    """End a program whose output cannot be written. A closed pipe (`fcn flows list | head`) is not
    an error; a terminal that has not all characters shows others by their numbers."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    if os.environ.get("COLUMNS") == "0":
        # As of a serial console that knows no size; rich prints nothing there.
        del os.environ["COLUMNS"]
    # Otherwise Python looks through all objects once more, for tenths of a second.
    atexit.register(gc.freeze)
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:  # where it is closed
                sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    except (BrokenPipeError, SystemExit) as ended:
        # Typer makes an exit with 1 of a closed pipe.
        if BrokenPipeError not in (type(ended), type(ended.__context__)):
            raise
        discard_output()
        sys.exit(0)
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
        discard_output()
        sys.exit(f"error: cannot write the output: {error.strerror}")


@contextmanager
def kept_for_later(number: signal.Signals) -> Iterator[None]:
    """A signal that comes meanwhile comes at the end, or when who is called unblocks it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def main() -> None:
    """Run the module that is named first."""
    module = sys.argv.pop(1)
    with ended_in_order():
        import runpy

        runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
