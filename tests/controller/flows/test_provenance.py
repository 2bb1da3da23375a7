"""What a switch keeps about a sender's origin is read as it was written, and nothing else is."""

import pytest

from fcn.controller.flows.provenance import CommIds, Origin, from_text, to_text


@pytest.mark.parametrize("origin", [Origin.AGENT, Origin.INFERRED, Origin.MANUAL])
def test_origins(origin: Origin) -> None:
    assert from_text(to_text(origin, None)) == (origin, None)


@pytest.mark.parametrize("initiated", [True, False])
@pytest.mark.parametrize("ids", [(0, 0xFFFFFFFF), (0xA1, 0)])
def test_connections(initiated: bool, ids: tuple[int, int]) -> None:
    comm_ids = CommIds(initiated, *ids)
    assert from_text(to_text(Origin.CM, comm_ids)) == (Origin.CM, comm_ids)


@pytest.mark.parametrize(
    "text",
    ["", "cm", "data", "restored", "MANUAL", "cm initiator 1", "cm initiator 1 123456789", "�"],
)
def test_anything_else_is_of_unknown_origin(text: str) -> None:
    assert from_text(text) == (Origin.RESTORED, None)
