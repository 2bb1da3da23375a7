"""The network as one declarative YAML file: model, loader with line numbers, cross-checks.

Names are looked up when they are used: commands that need no configuration start without pydantic.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fcn.controller.config.load import (
        ConfigError,
        Problem,
        load_config,
        load_planned,
        parse_config,
    )
    from fcn.controller.config.model import Config

__all__ = ["Config", "ConfigError", "Problem", "load_config", "load_planned", "parse_config"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "model" if name == "Config" else "load"
    return getattr(import_module(f"{__name__}.{module}"), name)
