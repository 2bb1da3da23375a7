"""Reads the YAML file, keeps the line of every value, and reports all problems at once."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

import yaml
from pydantic import ValidationError

from fcn.controller.config.check import check
from fcn.controller.config.model import Config

Path = tuple[str | int, ...]
"""Keys and list indices from the top of the file to a value."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with the file. `line` counts from 1; `where` is the path as `a.b[2].c`."""

    line: int
    where: str
    message: str


class ConfigError(Exception):
    """The file is invalid; `problems` has every reason, `str()` one line for each."""

    def __init__(self, file: str, problems: list[Problem]) -> None:
        self.file = file
        self.problems = problems
        super().__init__(
            "\n".join(
                f"{file}:{problem.line}: {problem.where}{': ' if problem.where else ''}"
                f"{problem.message}"
                for problem in problems
            )
        )


class _Loader(yaml.SafeLoader):
    """Safe YAML with the scalars of YAML 1.2: `no` is text, 10:20:30:40:50:01 is a MAC."""


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"^(?:true|false)$", "tf"),
    ("int", r"^[-+]?[0-9]+$|^0x[0-9a-fA-F]+$", "-+0123456789"),
    ("float", r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?$", "-+.0123456789"),
    ("null", r"^(?:null|~|)$", ["n", "~", ""]),
    ("merge", r"^<<$", "<"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))


class _Document:
    """A composed document as plain data, with the line of every path."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {(): 1}
        self.problems: list[Problem] = []
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            self._loader = loader
            self.data = self._plain(node, ()) if node is not None else None
        finally:
            loader.dispose()

    def _plain(self, node: yaml.Node, path: Path) -> Any:  # noqa: ANN401 - any YAML value
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            self._loader.flatten_mapping(node)
            return {key: self._plain(value, (*path, key)) for key, value in self._keys(node, path)}
        if isinstance(node, yaml.SequenceNode):
            return [self._plain(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._loader.construct_object(node)

    def _keys(self, node: yaml.MappingNode, path: Path) -> Iterator[tuple[str | int, yaml.Node]]:
        seen: set[str | int] = set()
        for key_node, value in node.value:
            key = self._loader.construct_object(key_node)
            line = key_node.start_mark.line + 1
            if not isinstance(key, str | int):
                self.problems.append(Problem(line, _spell(path), f"{key!r} cannot be a key"))
            elif key in seen:
                self.problems.append(Problem(line, _spell(path), f"{key!r} is given twice"))
            else:
                seen.add(key)
                self.lines[(*path, key)] = line
                yield key, value

    def problem(self, path: Path, message: str) -> Problem:
        """A problem at the longest prefix of `path` that exists in the file."""
        known = [
            end for end in range(len(path), -1, -1) if _without_types(path[:end]) in self.lines
        ]
        return Problem(self.lines[_without_types(path[: known[0]])], _spell(path), message)


def _without_types(path: Path) -> Path:
    return tuple(part for part in path if part != "[key]")


def _spell(path: Path) -> str:
    text = ""
    for part in _without_types(path):
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _is_echo(error: Any, errors: list[Any]) -> bool:  # noqa: ANN401 - pydantic's ErrorDetails
    """Whether a list is "too short" only because items are invalid, which are reported too."""
    depth = len(error["loc"])
    return error["type"] == "too_short" and any(
        len(other["loc"]) > depth and other["loc"][:depth] == error["loc"] for other in errors
    )


def _message(error: Any) -> str:  # noqa: ANN401 - pydantic's ErrorDetails
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    if error["type"] == "extra_forbidden":
        return "unknown key; see controller/examples/network.yaml for all keys"
    if error["type"] == "missing":
        return "is missing"
    if error["type"] == "string_pattern_mismatch":
        return f"{error['input']!r} is not of the form {error['ctx']['pattern']}"
    text: str = error["msg"][0].lower() + error["msg"][1:]
    shown = isinstance(error["input"], str | int | float | None)
    return f"{text}, got {error['input']!r}" if shown else text


def parse_config(text: str, file: str = "network.yaml") -> Config:
    """The configuration in `text`. Raises ConfigError, naming `file`, with every problem found."""
    try:
        document = _Document(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise ConfigError(file, [Problem(line, "", f"not YAML: {error.problem}")]) from None
    problems = list(document.problems)
    config = None
    try:
        config = Config.model_validate(document.data if document.data is not None else {})
    except ValidationError as error:
        details = error.errors()
        problems += [
            document.problem(tuple(detail["loc"]), _message(detail))
            for detail in details
            if not _is_echo(detail, details)
        ]
    if config is not None:
        problems += [document.problem(path, message) for path, message in check(config)]
    if problems or config is None:
        raise ConfigError(file, sorted(problems, key=lambda problem: problem.line))
    return config


def load_config(file: FilePath) -> Config:
    """The configuration in `file`. Raises ConfigError, or OSError when it cannot be read."""
    return parse_config(file.read_text("utf-8"), str(file))
