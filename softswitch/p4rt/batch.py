"""Write batches: CONTINUE_ON_ERROR and ROLLBACK_ON_ERROR (P4Runtime 1.4, Batch Atomicity)."""

import asyncio
from collections.abc import Sequence

from finsy.proto import p4r

from fcn.softswitch.p4rt.errors import BatchError, P4RuntimeError, aborted, internal
from fcn.softswitch.p4rt.pipeline import Pipeline, RoleUpdate

# Updates applied before yielding to the event loop.
_SLICE = 64


async def write_batch(
    pipeline: Pipeline, updates: Sequence[p4r.Update], role: str, *, rollback: bool
) -> None:
    """Apply all updates in order; BatchError has the result of each that failed.

    With `rollback` the first failure undoes everything before it and ends the batch.
    """
    results: list[P4RuntimeError | None] = [None] * len(updates)
    undo: list[list[RoleUpdate]] = []
    for index, update in enumerate(updates):
        if index % _SLICE == _SLICE - 1:
            await asyncio.sleep(0)
        try:
            inverse = _inverse(pipeline, update) if rollback else []
            pipeline.write(update, role)
        except P4RuntimeError as error:
            results[index] = error
            if rollback:
                _roll_back(pipeline, undo)
                others = aborted(f"rolled back: update {index} failed")
                raise BatchError([r or others for r in results]) from error
        else:
            undo.append(inverse)
    if any(results):
        raise BatchError(results)


def _roll_back(pipeline: Pipeline, undo: list[list[RoleUpdate]]) -> None:
    for updates in reversed(undo):
        for update, role in updates:
            try:
                pipeline.write(update, role)
            except P4RuntimeError as error:
                raise internal(
                    f"rolling back failed, the batch is half applied: {error.message}"
                ) from error


def _inverse(pipeline: Pipeline, update: p4r.Update) -> list[RoleUpdate]:
    """Updates that undo an update, from the state before it; none if the update cannot succeed."""
    if update.type == p4r.Update.INSERT:
        return [RoleUpdate(p4r.Update(type=p4r.Update.DELETE, entity=update.entity), "")]
    kind = p4r.Update.INSERT if update.type == p4r.Update.DELETE else p4r.Update.MODIFY
    try:
        before = pipeline.snapshot(update.entity)
    except P4RuntimeError:
        return []
    return [RoleUpdate(p4r.Update(type=kind, entity=entity), role) for entity, role in before]
