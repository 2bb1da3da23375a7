"""YAML documents: read with the line of every value, validated by a model, all problems at once."""

import errno
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from yaml.composer import Composer

KeyPath = tuple[str | int, ...]
"""Keys and list indices from the top of the file to a value."""

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with the file. `line` counts from 1; `where` is the path as `a.b[2].c`."""

    line: int
    where: str
    message: str


class DocumentError(Exception):
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


MAX_NESTING = 32
"""Levels of mappings and lists; the controller's configuration has eight."""

MAX_OCTETS = 16 << 20
"""Of a file. Some thousand nodes are a hundredth of it; a device such as /dev/zero has no end."""

MAX_VALUES = 200_000
"""Values of a document whose aliases are written out; some hundred for each node."""

MAX_MESSAGE = 400
"""Characters of a message, which may quote a value of any length."""

MAX_QUOTED = 40
"""Characters of a value that is quoted because it cannot be read."""

_TAG = "tag:yaml.org,2002:"


class _RefusedError(yaml.MarkedYAMLError):
    """YAML, but not of the kind these files are written in."""

    def __init__(self, reason: str, node: yaml.Node) -> None:
        super().__init__(None, None, reason, node.start_mark)


class _Loader(Composer, yaml.CSafeLoader):
    """Safe YAML, parsed by libyaml, with the scalars of YAML 1.2: `no` is text, 10:20:30:40:50:01
    is a MAC. So is 010, which is eight in YAML 1.1."""

    def __init__(self, text: str) -> None:
        yaml.CSafeLoader.__init__(self, text)
        Composer.__init__(self)
        self.composed = 0
        """Values read."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Merges of merges are counted, too, before they are copied."""
        if len(node.value) > MAX_VALUES:
            raise _RefusedError(f"more than {MAX_VALUES} values", node)
        super().flatten_mapping(node)

    def compose_node(
        self,
        parent: yaml.Node | None,
        index: Any,  # noqa: ANN401 - the key or the number of a value, None for a key
    ) -> yaml.Node | None:
        """Values are counted as they are read: of millions, reading takes minutes."""
        self.composed += index is not None
        node = super().compose_node(parent, index)
        if node is not None and self.composed > MAX_VALUES:
            raise _RefusedError(f"more than {MAX_VALUES} values", node)
        return node


_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"^(?:true|false)$", "tf"),
    ("int", r"^[-+]?(?:0|[1-9][0-9]*)$|^0x[0-9a-fA-F]+$", "-+0123456789"),
    ("float", r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?$", "-+.0123456789"),
    ("null", r"^(?:null|~|)$", ["n", "~", ""]),
    ("merge", r"^<<$", "<"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(_pattern), list(_first))


class _Document:
    """A composed document as plain data, with the line of every path."""

    def __init__(self, text: str) -> None:
        self.lines: dict[KeyPath, int] = {(): 1}
        self.problems: list[Problem] = []
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            self._loader = loader
            self._values = 0
            self.data = self._plain(node, ()) if node is not None else None
        finally:
            loader.dispose()

    def _plain(self, node: yaml.Node, path: KeyPath) -> Any:  # noqa: ANN401 - any YAML value
        self.lines.setdefault(path, node.start_mark.line + 1)
        self._values += 1
        if self._values > MAX_VALUES:
            raise _RefusedError(f"more than {MAX_VALUES} values", node)
        if len(path) > MAX_NESTING:
            raise _RefusedError(f"more than {MAX_NESTING} levels of nesting", node)
        if isinstance(node, yaml.MappingNode):
            self._loader.flatten_mapping(node)
            return {key: self._plain(value, (*path, key)) for key, value in self._keys(node, path)}
        if isinstance(node, yaml.SequenceNode):
            return [self._plain(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node)

    def _scalar(self, node: yaml.Node) -> Any:  # noqa: ANN401 - any YAML scalar
        try:
            return self._loader.construct_object(node)
        except (ValueError, KeyError, AttributeError):
            # PyYAML converts what has an explicit tag, such as !!int, without a look at it, and a
            # number of thousands of digits is more than int() takes.
            value, kind = str(node.value)[:MAX_QUOTED], node.tag.removeprefix(_TAG)
            raise _RefusedError(f"{value!r} cannot be read as {kind}", node) from None

    def _keys(self, node: yaml.MappingNode, path: KeyPath) -> Iterator[tuple[str | int, yaml.Node]]:
        seen: set[str | int] = set()
        for key_node, value in node.value:
            key = self._scalar(key_node)
            line = key_node.start_mark.line + 1
            if not isinstance(key, str | int):
                self.problems.append(Problem(line, spell(path), f"{key!r} cannot be a key"))
            elif key in seen:
                self.problems.append(Problem(line, spell(path), f"{key!r} is given twice"))
            else:
                seen.add(key)
                self.lines[(*path, key)] = line
                yield key, value

    def problem(self, path: KeyPath, message: str) -> Problem:
        """A problem at the longest prefix of `path` that exists in the file."""
        known = [
            end for end in range(len(path), -1, -1) if _without_types(path[:end]) in self.lines
        ]
        if len(message) > MAX_MESSAGE:
            message = f"{message[: MAX_MESSAGE // 2]}…{message[-MAX_MESSAGE // 2 :]}"
        return Problem(self.lines[_without_types(path[: known[0]])], spell(path), message)


def _without_types(path: KeyPath) -> KeyPath:
    return tuple(part for part in path if part != "[key]")


def spell(path: KeyPath) -> str:
    """A path as messages write it: `a.b[2].c`."""
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


_CONTAINERS = {
    "tuple_type": "a list",
    "dict_type": "keys and their values",
    "model_type": "keys and their values",
}
"""What YAML calls it, by the type of pydantic's error."""


def _message(error: Any, example: Path) -> str:  # noqa: ANN401 - pydantic's ErrorDetails
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    if error["type"] == "extra_forbidden":
        return f"unknown key; see {example} for all keys"
    if error["type"] == "missing":
        return "is missing"
    if error["type"] in _CONTAINERS:
        given = "nothing" if error["input"] is None else repr(error["input"])
        return f"expected {_CONTAINERS[error['type']]}, got {given}"
    if error["type"] == "string_pattern_mismatch":
        return f"{error['input']!r} is not of the form {error['ctx']['pattern']}"
    text: str = error["msg"][0].lower() + error["msg"][1:]
    shown = isinstance(error["input"], str | int | float | None)
    return f"{text}, got {error['input']!r}" if shown else text


def listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def model_problems(error: ValidationError, example: Path) -> list[tuple[KeyPath, str]]:
    """What a model says is wrong, as the path to a value and a message each; `example` as in
    `read_document`."""
    details = error.errors()
    return [
        (tuple(detail["loc"]), _message(detail, example))
        for detail in details
        if not _is_echo(detail, details)
    ]


Check = Callable[[M], Iterable[tuple[KeyPath, str]]]
"""What is wrong, as the path to a value and a message each."""


def plain_data(text: str) -> Any:  # noqa: ANN401 - any YAML value
    """What a document says as plain data, with the scalars and limits of read_document(). Raises
    ValueError when it cannot be read."""
    try:
        return _Document(text).data
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"not YAML that can be read: {error}") from None


def read_document(text: str, file: str, model: type[M], example: Path, check: Check[M]) -> M:
    """What `text` says, as a `model`. Raises DocumentError with every problem found in `file`.

    example: a file that explains all keys. check: finds what a model cannot see.
    """
    try:
        document = _Document(text)
    except RecursionError:
        reason = f"more than {MAX_NESTING} levels of nesting"
        raise DocumentError(file, [Problem(1, "", reason)]) from None
    except yaml.reader.ReaderError as error:
        line = text.encode().count(b"\n", 0, error.position) + 1
        reason = f"not YAML: the character {chr(error.character)!r} is not allowed"
        raise DocumentError(file, [Problem(line, "", reason)]) from None
    except _RefusedError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise DocumentError(file, [Problem(line, "", str(error.problem))]) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise DocumentError(file, [Problem(line, "", f"not YAML: {error.problem}")]) from None
    problems = list(document.problems)
    found = None
    try:
        found = model.model_validate(document.data if document.data is not None else {})
    except ValidationError as error:
        found_wrong = model_problems(error, example)
        problems += [document.problem(path, message) for path, message in found_wrong]
    if found is not None:
        problems += [document.problem(path, message) for path, message in check(found)]
    if problems or found is None:
        raise DocumentError(file, sorted(problems, key=lambda problem: problem.line))
    return found


def read_text(file: Path) -> str:
    """A file's text. Raises DocumentError when it is not UTF-8 or cannot be a file's name, OSError
    when it cannot be read."""
    if "\0" in str(file):
        shown = str(file).replace("\0", "\\0")
        reason = "no file has a name with the character NUL"
        raise DocumentError(shown, [Problem(1, "", reason)])
    with file.open("rb") as stream:
        content = stream.read(MAX_OCTETS + 1)
    if len(content) > MAX_OCTETS:
        reason = f"longer than {MAX_OCTETS >> 20} MiB; is this the right file?"
        raise DocumentError(str(file), [Problem(1, "", reason)])
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        reason = f"not UTF-8: octet {content[error.start]:#04x}; save the file as UTF-8"
        raise DocumentError(str(file), [Problem(line, "", reason)]) from None


def read_again(file: Path) -> str:
    """The text of a file that was read before, without a wait: a pipe gave its own once, and its
    next writer may never come. Raises as read_text()."""
    if not stat.S_ISREG(file.stat().st_mode):
        raise OSError(errno.EINVAL, "no regular file, which could be read again", str(file))
    return read_text(file)
