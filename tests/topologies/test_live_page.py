"""Where the live page of a network in namespaces is served."""

from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from fcn.page.address import DEFAULT_LISTEN, PageError, listen, url
from fcn.topologies import page
from fcn.topologies.page import VARIABLE, live_page, page_socket


def test_another_port_where_the_usual_one_is_taken() -> None:
    with ExitStack() as stack:
        # Where somebody else has it already, that is as good.
        with suppress(PageError):
            stack.enter_context(listen(DEFAULT_LISTEN))
        found = page_socket()
        assert found is not None
        with found:
            assert found.getsockname()[1] != int(DEFAULT_LISTEN.rpartition(":")[2])
            assert url(found).startswith("http://127.0.0.1:")


def test_no_page_without_its_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "page_missing", lambda: "starlette is not installed")
    assert page_socket() is None


def test_no_page_where_none_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in benchmarks, which it would disturb."""
    monkeypatch.delenv(VARIABLE, raising=False)
    with live_page(f"unix:{tmp_path}/api", tmp_path) as address:
        assert address == ""
    assert list(tmp_path.iterdir()) == []
