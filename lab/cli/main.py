"""Commands of `fcn lab`. What a command needs is imported when it runs: help is there soon.

Exit codes: 0 success, 1 failed or stopped, 2 usage error, 3 invalid scenario.
"""

from fcn.contract.command_line import Commands
from fcn.contract.program import ended_in_order
from fcn.lab.cli import imports
from fcn.lab.cli.play import play
from fcn.lab.cli.reports import compare, show
from fcn.lab.cli.run import list_scenarios, run
from fcn.lab.cli.sweep import sweep
from fcn.lab.cli.trace import trace

app = Commands(
    name="fcn lab",
    help="Networks in virtual time: every switch runs its real P4 program.",
    no_args_is_help=True,
    add_completion=False,
)
app.command()(run)
app.command()(show)
app.command()(compare)
app.command()(sweep)
app.command()(play)
app.command()(trace)
app.command("list")(list_scenarios)
app.add_typer(imports.app, name="import")


def main() -> None:
    """Run the command line."""
    with ended_in_order():
        app(prog_name="fcn lab")
