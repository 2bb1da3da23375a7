"""Stories on the terminal, as JSON, or as a page."""

import sys
from collections.abc import Iterable
from pathlib import Path

from fcn.contract.pages import PageFileError, check_page_file
from fcn.softswitch.stories.page import as_page
from fcn.softswitch.stories.story import Story, to_json
from fcn.softswitch.stories.text import as_text


class ShowError(Exception):
    """No stories can be shown: a file, the program or the switch cannot be used; the message says
    why."""


def show(stories: Iterable[Story], *, full: bool, as_json: bool, html: Path | None) -> int:
    """Show stories as they come, in one form; returns how many there were. Raises ShowError."""
    if html is not None:
        check_html(html)
    told: list[Story] = []
    for story in stories:
        told.append(story)
        if as_json:
            print(to_json(story), flush=True)
        elif html is None:
            print(as_text(story, len(told), full=full), flush=True)
    if html is not None:
        try:
            html.write_text(as_page(told), encoding="utf-8")
        except OSError as error:
            raise ShowError(f"cannot write {html}: {error.strerror}") from error
        say(f"{len(told)} stories: {html}")
    return len(told)


def check_html(file: Path) -> None:
    """Raises ShowError where a page must not be written."""
    try:
        check_page_file(file)
    except PageFileError as error:
        raise ShowError(str(error)) from None


def say(text: str) -> None:
    """Say something beside the stories."""
    print(text, file=sys.stderr, flush=True)
