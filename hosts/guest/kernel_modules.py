"""Kernel modules in the order in which insmod accepts them."""

import re
from collections.abc import Iterable
from pathlib import Path


class ModuleError(RuntimeError):
    """A kernel module is missing; the message names it."""


def load_order(modules: Path, wanted: Iterable[str]) -> tuple[Path, ...]:
    """Files of `wanted` and of everything they depend on, dependencies first.

    `modules` is a /lib/modules/<release> directory; packages bring no modules.dep, so dependencies
    are read from each module's .modinfo (`depends=`). Raises ModuleError for an unknown module.
    """
    files = {path.stem.replace("-", "_"): path for path in modules.rglob("*.ko")}
    order: dict[str, Path] = {}

    def add(name: str) -> None:
        if name in order:
            return
        if name not in files:
            raise ModuleError(f"kernel module {name} is not below {modules}")
        for dependency in _dependencies(files[name]):
            add(dependency)
        order[name] = files[name]

    for name in wanted:
        add(name)
    return tuple(order.values())


def _dependencies(module: Path) -> list[str]:
    found = re.search(rb"\0depends=([^\0]*)\0", module.read_bytes())
    names = found.group(1).decode() if found else ""
    return [name.replace("-", "_") for name in names.split(",") if name]
