"""What the controller tells."""

from collections.abc import Callable

import pytest

from fcn.controller.events import Event, EventBus, Kind


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """Every event that is emitted."""
    found: list[Event] = []

    def emit(
        _bus: EventBus, kind: Kind, node: str, message: str | Callable[[], str], **_fields: object
    ) -> None:
        text = message if isinstance(message, str) else message()
        found.append(Event(kind, node, text, 0.0, {}))

    monkeypatch.setattr(EventBus, "emit", emit)
    return found
