"""Of a switch, in the store: what it had learned, while it gets another program, so that a
controller that is killed between the two programs finds it; and when this one last ruled it."""

import logging
from collections.abc import Collection

import finsy as fy
from finsy.proto import p4r
from google.protobuf.message import DecodeError

from fcn.controller.store import Store, StoreError

LOG = logging.getLogger("fcn")


class Kept:
    """Of one switch. schema: of the program that the switch gets; those before have the tables of
    what is learned in common with it."""

    def __init__(self, store: Store, name: str, schema: fy.P4Schema) -> None:
        self._store = store
        self._name = name
        self._schema = schema

    def keep(self, entries: Collection[fy.P4TableEntry]) -> None:
        """Keep all of them. Where that fails the log says so: the change of the program goes on."""
        if not entries:
            return
        message = p4r.ReadResponse(entities=[entry.encode(self._schema) for entry in entries])
        try:
            self._store.keep_learned(self._name, message.SerializeToString())
        except StoreError as error:
            LOG.warning("%s; a controller that is killed now loses what was learned", error)

    def recall(self) -> list[fy.P4TableEntry]:
        message = p4r.ReadResponse()
        try:
            message.ParseFromString(self._store.learned(self._name) or b"")
            return [fy.P4TableEntry.decode(entity, self._schema) for entity in message.entities]
        except (DecodeError, ValueError, KeyError) as error:
            LOG.warning("what %s had learned cannot be read (%s), and is lost", self._name, error)
            return []

    def lead(self, turn: int) -> None:
        """The controller has become primary in this round of the election."""
        try:
            self._store.lead(self._name, turn)
        except StoreError as error:
            LOG.warning("%s; a controller that takes over may believe what is old", error)

    def drop(self) -> None:
        """The switch has all of it."""
        try:
            self._store.drop_learned(self._name)
        except StoreError as error:
            LOG.warning("%s; what %s had learned stays there", error, self._name)
