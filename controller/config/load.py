"""Reads the configuration of the controller."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fcn.controller.config.document import Check, DocumentError, Problem, read_document, read_text
from fcn.controller.config.model import Config
from fcn.controller.config.transport import Finding

if TYPE_CHECKING:
    from fcn.controller.config.paths import Planner

ConfigError = DocumentError
"""The configuration is invalid; `problems` has every reason."""

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "network.yaml"
"""Explains every key; it is installed with the controller."""

__all__ = ["EXAMPLE", "ConfigError", "Problem", "load_config", "load_planned", "parse_config"]


def parse_config(
    text: str, file: str = "network.yaml", further: Check[Config] | None = None
) -> Config:
    """The configuration in `text`. Raises ConfigError, naming `file`, with every problem found, and
    what is wrong `further`."""
    return _planned(text, file, further)[0]


def load_config(file: Path) -> Config:
    """The configuration in `file`. Raises ConfigError, or OSError when it cannot be read."""
    return load_planned(file)[0]


def load_planned(file: Path) -> "tuple[Config, Planner]":
    """The configuration in `file`, and what planned its paths to check them. Raises as
    load_config()."""
    return _planned(read_text(file), str(file))


def _planned(
    text: str, file: str, further: Check[Config] | None = None
) -> "tuple[Config, Planner]":
    planners: list[Planner] = []

    def check_planned(config: Config) -> Iterator[Finding]:
        # Reads programs, whose library takes longer to start than a file that is refused by then.
        from fcn.controller.config.check import check
        from fcn.controller.config.paths import Planner

        planners.append(Planner(config))
        yield from check(config, planners[0])
        if further is not None:
            yield from further(config)

    return read_document(text, file, Config, EXAMPLE, check_planned), planners[0]
