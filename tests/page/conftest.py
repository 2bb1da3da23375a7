"""A real browser for the page: Debian's Chromium, by Playwright."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The browser."""
    place = shutil.which("chromium")
    if place is None:
        pytest.skip("Debian's chromium is not installed")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=place, args=["--no-sandbox"])
        yield started
        started.close()
