"""Where there is nothing to show, a table says why, and JSON is an empty list."""

from collections.abc import Callable
from functools import partial
from io import StringIO

import pytest
from rich.console import Console

from fcn.controller.cli.tables import show_counters, show_flows, show_links, show_paths


def why() -> str:
    """Of flows the command knows it."""
    return "[/] because"


@pytest.mark.parametrize(
    ("show", "says", "as_data"),
    [
        (show_links, "no link is watched: that takes `failure_detection` and `links`", "[]\n"),
        (show_paths, "no node has a policy: `policies` of a node in the file", "[]\n"),
        (partial(show_flows, why_none=why, counted=False), "[/] because\n", "[]\n"),
        (partial(show_counters, with_zeros=False), "nothing has been counted; --all", "{}\n"),
    ],
)
def test_why_a_table_is_empty(
    show: Callable[..., None], says: str, as_data: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = StringIO()
    show(Console(file=text), [], as_json=False)
    assert text.getvalue().startswith(says)
    assert text.getvalue().count("\n") == 1
    show(Console(file=text), [], as_json=True)
    assert capsys.readouterr().out == as_data
