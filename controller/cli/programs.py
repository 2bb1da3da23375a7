"""Commands that are programs of their own, in packages that a controller does not need."""

import importlib.util
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from fcn.contract.version import DISTRIBUTION
from fcn.controller.cli.common import fail

OPTIONS = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "help_option_names": [],
}
"""Commands and options are parsed by the program."""


def missing_packages(extra: str, *packages: str) -> str:
    """What to do where the packages of an extra are not installed; empty where they are."""
    if all(map(importlib.util.find_spec, packages)):
        return ""
    lacking = f"{' and '.join(packages)} {'are' if len(packages) > 1 else 'is'} not installed"
    return f"{lacking} for {sys.executable}: pip install '{DISTRIBUTION}[{extra}]'"


def become(
    module: str, arguments: Sequence[str], missing: str = "", inside: Sequence[str] = ()
) -> NoReturn:
    """Run the program in place of this one; missing: as of `missing_packages`; inside: a command
    that runs it elsewhere."""
    if missing:
        raise fail(missing)
    command = [*inside, sys.executable, "-m", module, *arguments]
    os.execvp(command[0], command)
