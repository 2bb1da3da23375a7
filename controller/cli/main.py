"""Entry point of `fcn`."""

from fcn.contract.program import ended_in_order


def main() -> None:
    """Run the command line."""
    with ended_in_order():
        # Ctrl-C while this is imported ends it in order, too.
        from fcn.controller.cli.commands import app

        app()


if __name__ == "__main__":
    main()
