"""The network as one declarative YAML file: model, loader with line numbers, cross-checks."""

from fcn.controller.config.load import (
    ConfigError,
    Problem,
    load_config,
    load_planned,
    parse_config,
)
from fcn.controller.config.model import Config

__all__ = ["Config", "ConfigError", "Problem", "load_config", "load_planned", "parse_config"]
