"""What a switch had learned, on disk while it gets another program: a controller that is killed
between the two programs finds it there."""

import logging
import os
from collections.abc import Collection
from pathlib import Path

import finsy as fy
from finsy.proto import p4r
from google.protobuf.message import DecodeError

LOG = logging.getLogger("fcn")


class Kept:
    """The file of one switch in `folder`; without a folder nothing is kept.

    schema: of the program that the switch gets; those before have the tables of what is learned in
    common with it.
    """

    def __init__(self, folder: str | None, name: str, schema: fy.P4Schema) -> None:
        self._file = None if folder is None else Path(folder) / f"{name}.learned"
        self._schema = schema

    def keep(self, entries: Collection[fy.P4TableEntry]) -> None:
        """Write them, so that the file has all or none of them. Where that fails the log says so:
        the change of the program goes on."""
        if self._file is None or not entries:
            return
        message = p4r.ReadResponse(entities=[entry.encode(self._schema) for entry in entries])
        unfinished = self._file.with_suffix(".unfinished")
        try:
            with unfinished.open("wb") as stream:
                stream.write(message.SerializeToString())
                stream.flush()
                os.fsync(stream.fileno())
            unfinished.replace(self._file)
        except OSError as error:
            LOG.warning(
                "%s cannot be written (%s): a controller that is killed now loses what was learned",
                self._file,
                error.strerror,
            )

    def recall(self) -> list[fy.P4TableEntry]:
        """What is in the file; nothing where there is none."""
        if self._file is None:
            return []
        try:
            message = p4r.ReadResponse.FromString(self._file.read_bytes())
            return [fy.P4TableEntry.decode(entity, self._schema) for entity in message.entities]
        except FileNotFoundError:
            return []
        except (OSError, DecodeError, ValueError, KeyError) as error:
            LOG.warning("%s cannot be read (%s): what was learned is lost", self._file, error)
            return []

    def drop(self) -> None:
        """The switch has all of it."""
        if self._file is None:
            return
        try:
            self._file.unlink(missing_ok=True)
        except OSError as error:
            LOG.warning("%s cannot be removed (%s)", self._file, error.strerror)
