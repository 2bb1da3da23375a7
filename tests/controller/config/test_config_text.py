"""Texts that are no configuration are refused by line, whatever is in them."""

from pathlib import Path

import pytest

from fcn.controller.config import ConfigError, document, load_config
from fcn.controller.config.document import MAX_MESSAGE, plain_data
from fcn.controller.config.load import EXAMPLE


def refused(file: Path, content: bytes) -> tuple[int, str]:
    """Line and message of the first problem."""
    file.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load_config(file)
    first = caught.value.problems[0]
    assert all(len(problem.message) <= MAX_MESSAGE + 1 for problem in caught.value.problems)
    return first.line, first.message


def aliases_of_aliases(form: str) -> bytes:
    """Nine levels, each nine times the one before: 387 million values, written out."""
    lines = ["a0: &a0 {x: 1}"]
    for level in range(1, 10):
        aliases = ", ".join(9 * [f"*a{level - 1}"])
        lines.append(f"a{level}: &a{level} {form.format(aliases)}")
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (b"api: x\n\xff\xfe", 2, "not UTF-8: octet 0xff; save the file as UTF-8"),
        (EXAMPLE.read_text().encode("utf-16"), 1, "not UTF-8"),
        (b"api: 1\nmetrics: \x07\n", 2, "not YAML: the character '\\x07' is not allowed"),
        (b"api: 1\nmetrics: \x00\n", 2, "not YAML: the character '\\x00' is not allowed"),
        (b"api: " + b"[" * 5000 + b"]" * 5000, 1, "levels of nesting"),
        (b"a:\n- - " + b"- " * 60 + b"x\n", 2, "levels of nesting"),
        (b"links: &x\n- *x\n", 1, "levels of nesting"),
        (b"nodes: &x\n  pe1: *x\n", 1, "levels of nesting"),
        (aliases_of_aliases("[{}]"), 1, "more than 200000 values"),
        (aliases_of_aliases("{{<<: [{}]}}"), 7, "more than 200000 values"),
        (b"api: 1\nfast_cnp_port: " + b"9" * 5000, 2, "cannot be read as int"),
        (b"fast_cnp_port: !!int many", 1, "'many' cannot be read as int"),
        (b"api: !!bool maybe", 1, "'maybe' cannot be read as bool"),
        (b"api: !!timestamp tomorrow", 1, "'tomorrow' cannot be read as timestamp"),
        (b"nodes: " + b"a" * 5000, 1, "expected keys and their values, got 'aaa"),
        (b"nodes:\n", 1, "expected keys and their values, got nothing"),
        (b"links: 5\nnodes: {}", 1, "expected a list, got 5"),
    ],
)
def test_text(content: bytes, line: int, reason: str, tmp_path: Path) -> None:
    found, message = refused(tmp_path / "network.yaml", content)
    assert reason in message
    assert found == line


def test_a_long_list_is_refused_as_soon_as_it_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading ten megabytes of values took minutes before they were counted."""
    monkeypatch.setattr(document, "MAX_VALUES", 1000)
    with pytest.raises(ValueError, match=r"more than 1000 values(.|\n)*line 1001"):
        plain_data("- 1\n" * 2000 + "] is not read any more")


@pytest.mark.parametrize("file", ["/dev/zero", "/dev/urandom"])
def test_a_file_without_end_is_refused(file: str) -> None:
    with pytest.raises(ConfigError, match=f"{file}:1: longer than 16 MiB; is this the right file"):
        load_config(Path(file))


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "network.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + EXAMPLE.read_bytes())
    assert load_config(file) == load_config(EXAMPLE)


def test_unknown_keys_name_an_example_that_exists(tmp_path: Path) -> None:
    _, message = refused(tmp_path / "network.yaml", EXAMPLE.read_bytes() + b"colour: red\n")
    assert str(EXAMPLE) in message
    assert EXAMPLE.is_file()
