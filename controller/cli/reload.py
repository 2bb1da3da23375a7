"""`fcn diff` and `fcn apply`: another configuration while the controller runs."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fcn.controller.cli import tables
from fcn.controller.cli.common import EXIT_CONFIG, Api, Json, controller, err, fail, out, say
from fcn.controller.config.notation import DEFAULT_ENDPOINT

if TYPE_CHECKING:
    from fcn.controller.config import Problem
    from fcn.controller.proto import fcn_pb2 as pb

ConfigFile = Annotated[
    Path, typer.Option("--config", "-c", help="Configuration file (YAML).", dir_okay=False)
]


def diff(config: ConfigFile, api: Api = DEFAULT_ENDPOINT, as_json: Json = False) -> None:
    """Show what a configuration would change in the switches of the running controller."""
    text = _read(config)
    changes: list[pb.EntryChange] = []
    with controller(api) as client:
        for page in client.diff_config(text, str(config)):
            _check(config, page.problems)
            changes += page.changes
    tables.show_changes(out, changes, as_json=as_json)


def apply(config: ConfigFile, api: Api = DEFAULT_ENDPOINT, as_json: Json = False) -> None:
    """Put a configuration in force in the running controller, as a whole or not at all."""
    text = _read(config)
    with controller(api) as client:
        done = client.apply_config(text, str(config))
    _check(config, done.problems)
    tables.show_applied(out, done.nodes, as_json=as_json)
    if not done.lasting:
        say(
            "in effect until the controller is restarted: the file that it is started with is "
            "another",
            err,
        )


def refused(file: Path, problems: "Iterable[Problem | pb.ConfigProblem]") -> typer.Exit:
    """Print what is wrong with a file, and return the exception to raise."""
    problems = list(problems)
    for problem in problems:
        where = f" {problem.where}:" if problem.where else ""
        say(f"{file}:{problem.line}:{where} {problem.message}", err)
    return fail(f"{len(problems)} problem(s) in {file}", EXIT_CONFIG)


def unreadable(file: Path, error: OSError) -> typer.Exit:
    """Say so, and return the exception to raise."""
    return fail(f"cannot read {file}: {error.strerror}", EXIT_CONFIG)


def _check(file: Path, problems: "Iterable[pb.ConfigProblem]") -> None:
    if found := list(problems):
        raise refused(file, found)


def _read(file: Path) -> str:
    from fcn.controller.config.document import DocumentError, read_text

    try:
        return read_text(file)
    except DocumentError as error:
        raise refused(file, error.problems) from None
    except OSError as error:
        raise unreadable(file, error) from None
