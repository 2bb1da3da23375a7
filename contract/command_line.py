"""Commands of Typer in which an option of one value is given once: of `-c A -c B` one would be
ignored."""

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import CommandFunctionType


class _Once:
    """A command that refuses an option that is there again."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401
        given = self.make_parser(ctx).parse_args(args=list(args))[2]  # type: ignore[attr-defined]
        for each in given:
            is_option = each.param_type_name == "option" and each.nargs == 1
            takes_one = is_option and not (each.is_flag or each.multiple or each.count)
            if takes_one and (times := given.count(each)) > 1:
                ctx.fail(f"{max(each.opts, key=len)} is given {times} times, and takes one value")
        return super().parse_args(ctx, args)  # type: ignore[misc]


class _OnceCommand(_Once, TyperCommand):
    pass


class _OnceGroup(_Once, TyperGroup):
    pass


class Commands(typer.Typer):
    """As typer.Typer; tracebacks are Python's."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401
        options.setdefault("cls", _OnceGroup)
        super().__init__(pretty_exceptions_enable=False, **options)

    def command(
        self,
        name: str | None = None,
        **options: Any,  # noqa: ANN401
    ) -> Callable[[CommandFunctionType], CommandFunctionType]:
        return super().command(name, cls=_OnceCommand, **options)
