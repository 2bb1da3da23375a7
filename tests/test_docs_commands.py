"""Commands of `fcn` that the documentation shows are such that the command line takes them."""

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
import typer
import typer.core
from test_docs import FENCED, PAGES, ROOT

from fcn.controller.cli.main import app
from fcn.lab.cli.main import app as lab_app
from fcn.page.__main__ import main as page
from fcn.page.top.__main__ import main as top
from fcn.softswitch.tracer.__main__ import main as trace

USAGE_ERROR = cast(type[Exception], typer.BadParameter.__base__)
"""Of the click within Typer."""

UNREAD = {"topo"}
"""Its programs read their options themselves."""


def _alone(program: object) -> typer.Typer:
    made = typer.Typer()
    made.command()(program)  # type: ignore[type-var]
    return made


PROGRAMS = {"lab": lab_app, "page": _alone(page), "top": _alone(top), "trace": _alone(trace)}
"""Commands that are programs of their own."""


def commands(text: str) -> Iterator[list[str]]:
    """The words of each command in fenced blocks; those with something left out are not read."""
    for block in FENCED.findall(text):
        for line in re.sub(r"\\\n", " ", block).splitlines():
            for command in re.split(r"&&|\|", line.partition("  #")[0].partition(" # ")[0]):
                words = re.sub(r"^\S*bin/", "", command.strip().removeprefix("$ ")).split()
                if words[:1] == ["fcn"] and "…" not in command and "..." not in command:
                    yield shlex.split(command.partition("fcn ")[2], comments=True)


def parse(command: Any, words: list[str], programs: Mapping[str, typer.Typer]) -> None:  # noqa: ANN401
    """Raises UsageError for what the command line refuses."""
    context = command.make_context(command.name, list(words))
    if not isinstance(command, typer.core.TyperGroup):
        return
    rest = [*context._protected_args, *context.args]
    name, found, left = command.resolve_command(context, rest)
    assert name is not None
    assert found is not None
    if name in programs:
        if name == "trace" and left[:1] and not left[0].startswith("-"):
            left = ["--switch", *left]
        found = typer.main.get_command(programs[name])
    if name not in UNREAD:
        parse(found, left, {})


def refused(text: str) -> list[str]:
    """Commands of a page that cannot be, with the reasons."""
    wrong = []
    for words in commands(text):
        try:
            parse(typer.main.get_command(app), words, PROGRAMS)
        except USAGE_ERROR as error:
            wrong.append(f"fcn {' '.join(words)}: {error}")
    return wrong


@pytest.mark.parametrize("file", PAGES, ids=lambda file: str(file.relative_to(ROOT)))
def test_commands_of_a_page(file: Path) -> None:
    assert refused(file.read_text()) == []


def test_mistyped_commands_are_found() -> None:
    text = "```\nfcn status --apii x\nfcn statu\nfcn lab run a --moed b\nfcn status  # --x\n```\n"
    assert [line.partition(":")[0] for line in refused(text)] == [
        "fcn status --apii x", "fcn statu", "fcn lab run a --moed b",
    ]  # fmt: skip


def test_commands_are_read() -> None:
    assert sum(len(list(commands(file.read_text()))) for file in PAGES) > 40
