"""Where there is nothing to show, a table says why, and JSON is an empty list."""

from collections.abc import Callable
from io import StringIO

import pytest
from rich.console import Console

from fcn.controller.cli.tables import show_links, show_paths


@pytest.mark.parametrize(
    ("show", "says"),
    [
        (show_links, "no link is watched: that takes failure_detection and links in the file\n"),
        (show_paths, "no node has a policy in the file\n"),
    ],
)
def test_why_a_table_is_empty(
    show: Callable[..., None], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = StringIO()
    show(Console(file=text), [], as_json=False)
    assert text.getvalue() == says
    show(Console(file=text), [], as_json=True)
    assert capsys.readouterr().out == "[]\n"
