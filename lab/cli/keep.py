"""Keeps a result that cannot be saved where the user wanted: a run may have taken hours."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from fcn.lab.result.folder import save
from fcn.lab.result.model import Result
from fcn.lab.result.tables import ResultError

MEMORY = Path("/dev/shm")
"""Files in memory, until the machine is started anew: where disks are full it has room."""


def keep(
    result: Result,
    folder: Path,
    say: Callable[[str], None],
    wait: Callable[[], bool],
    others: Sequence[Path] | None = None,
) -> Path:
    """Save a result and return where: in `folder`, or in a new folder of `others` (default: that
    of temporary files, then memory) when nothing can be written there.

    say: told why it is not in `folder`. wait: asked when there is room nowhere; True: the user has
    made some. Raises ResultError when it is False.
    """
    while True:
        reasons = []
        try:
            save(result, folder)
            return folder
        except ResultError as error:
            reasons.append(str(error))
        for other in _others() if others is None else others:
            try:
                place = Path(tempfile.mkdtemp(prefix="fcn-lab-", dir=other)) / folder.name
            except OSError as error:
                reasons.append(f"{other}: {error.strerror}")
                continue
            try:
                save(result, place)
            except ResultError as error:
                place.parent.rmdir()
                reasons.append(str(error))
                continue
            say(f"{reasons[0]}\nThe result is in {place} instead: move it from there.")
            return place
        say("\n".join(reasons))
        if not wait():
            raise ResultError("the result is lost: make room, then run the scenario again")


def _others() -> list[Path]:
    try:
        return [Path(tempfile.gettempdir()), MEMORY]
    except FileNotFoundError:
        return [MEMORY]
