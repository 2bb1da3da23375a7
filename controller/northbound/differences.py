"""What another configuration changes in switches, in words and as messages of the API."""

from finsy import P4Schema, P4TableEntry
from finsy.p4entity import decode_entity
from finsy.proto import p4r

from fcn.controller.config import ConfigError
from fcn.controller.owners.intent import Change
from fcn.controller.proto import fcn_pb2 as pb


def problem_messages(error: ConfigError) -> list[pb.ConfigProblem]:
    return [
        pb.ConfigProblem(line=each.line, where=each.where, message=each.message)
        for each in error.problems
    ]


def change_message(node: str, schema: P4Schema, change: Change) -> pb.EntryChange:
    """One row: what becomes of an entry."""
    table, match, _ = _words(schema, change.after or change.before or change.key)
    before, after = (
        None if entity is None else _words(schema, entity)[2]
        for entity in (change.before, change.after)
    )
    kind = "added" if before is None else "removed" if after is None else "changed"
    return pb.EntryChange(
        node=node, change=kind, table=table, match=match, before=before, after=after
    )


def _words(schema: P4Schema, encoded: bytes) -> tuple[str, str, str]:
    """Table, match and action of an entity; of what is in no table its kind, nothing, and what it
    says."""
    entity = p4r.Entity.FromString(encoded)
    kind = entity.WhichOneof("entity") or ""
    if kind != "table_entry":
        said = str(getattr(entity, kind))
        return kind, "", " ".join(said.split())
    entry = decode_entity(entity, schema)
    assert isinstance(entry, P4TableEntry)
    match = "default action" if entry.is_default_action else entry.match_str(schema)
    priority = f" priority {entry.priority}" if entry.priority else ""
    return entry.table_id, f"{match}{priority}", entry.action_str(schema)
