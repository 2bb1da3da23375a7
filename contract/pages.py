"""Files of pages: one takes the place of another page of fcn only, whatever a user names."""

import os
import stat
from pathlib import Path

GENERATOR = '<meta name="generator" content="fcn">'
"""What every page has in its first _HEAD octets."""
_HEAD = 1 << 10


class PageFileError(Exception):
    """No page can be written there; the message says why and what to do."""


def check_page_file(file: Path) -> None:
    """Raises PageFileError where something else than a page is there."""
    if not os.path.lexists(file):
        return
    try:
        if not stat.S_ISREG(file.lstat().st_mode):
            raise PageFileError(f"{file}: is not a file; remove it, or name another one")
        with file.open("rb") as stream:
            if GENERATOR.encode() not in stream.read(_HEAD):
                raise PageFileError(
                    f"{file}: is there, and no page of this fcn; remove it, or name another one"
                )
    except OSError as error:
        raise PageFileError(f"{file}: cannot be read: {error.strerror}") from None
