"""Reads the configuration of the controller."""

from pathlib import Path

from fcn.controller.config.check import check
from fcn.controller.config.document import DocumentError, Problem, read_document, read_text
from fcn.controller.config.model import Config

ConfigError = DocumentError
"""The configuration is invalid; `problems` has every reason."""

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "network.yaml"
"""Explains every key; it is installed with the controller."""

__all__ = ["EXAMPLE", "ConfigError", "Problem", "load_config", "parse_config"]


def parse_config(text: str, file: str = "network.yaml") -> Config:
    """The configuration in `text`. Raises ConfigError, naming `file`, with every problem found."""
    return read_document(text, file, Config, EXAMPLE, check)


def load_config(file: Path) -> Config:
    """The configuration in `file`. Raises ConfigError, or OSError when it cannot be read."""
    return parse_config(read_text(file), str(file))
