"""Entry point of `fcn`."""

import signal
import sys
from contextlib import nullcontext

from fcn.contract.program import ended_in_order, kept_for_later


def main() -> None:
    """Run the command line."""
    # `systemctl reload` may come as soon as the controller is started.
    runs = sys.argv[1:2] == ["run"]
    with ended_in_order(), kept_for_later(signal.SIGHUP) if runs else nullcontext():
        # Ctrl-C while this is imported ends it in order, too.
        from fcn.controller.cli.commands import app

        app()


if __name__ == "__main__":
    main()
