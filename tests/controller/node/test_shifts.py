"""When it is told that a policy moves flows because of load (FAN-7)."""

from collections.abc import Callable

from fcn.controller.clock import Clock
from fcn.controller.events import EventBus, Kind
from fcn.controller.node.shifts import CALM, Shifts


class Bus(EventBus):
    """Keeps what is told: kind, message and details."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.told: list[tuple[Kind, str, dict[str, object]]] = []

    def emit(
        self, kind: Kind, node: str, message: str | Callable[[], str], **fields: object
    ) -> None:
        """Keep it."""
        self.told.append((kind, str(message), fields))


class Watch:
    """Shifts of pe1, and a clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0
        clock = Clock(lambda: self.now, lambda: self.now)
        self.bus = Bus(clock)
        self._shifts = Shifts("pe1", self.bus, clock)

    @property
    def kinds(self) -> list[Kind]:
        """Of the events so far."""
        return [kind for kind, _, _ in self.bus.told]

    def see(self, at: float, policy: str = "both", **moved: int) -> None:
        """So many flowlets were moved to each path since the last look; at: seconds after the
        start."""
        self.now = 1000.0 + at
        self._shifts.see(policy, {"north": 0, "south": 0} | moved)


def test_a_policy_that_moves_nothing_tells_nothing() -> None:
    watch = Watch()
    for second in range(3 * CALM):
        watch.see(second)
    assert watch.kinds == []


def test_the_begin_is_told_at_once_and_the_end_after_a_calm() -> None:
    watch = Watch()
    watch.see(1, south=3)
    assert watch.kinds == [Kind.FLOWS_MOVED]
    watch.see(2, south=40, north=1)
    for second in range(3, CALM + 2):
        watch.see(second)
    assert watch.kinds == [Kind.FLOWS_MOVED]
    watch.see(CALM + 2)
    assert watch.kinds == [Kind.FLOWS_MOVED, Kind.FLOWS_AT_REST]
    (_, began, _), (_, ended, fields) = watch.bus.told
    assert began == "pe1: flows of policy both are moved because of load; flowlets: 3 to south"
    assert ended == (
        "pe1: for 1m no flow of policy both was moved because of load; flowlets before: 43 to "
        "south, 1 to north"
    )
    assert fields == {"policy": "both", "path": "south", "flowlets": 44}


def test_what_goes_on_is_not_told_again() -> None:
    watch = Watch()
    for second in range(10 * CALM):
        watch.see(second, south=1)
    assert watch.kinds == [Kind.FLOWS_MOVED]


def test_events_of_a_policy_are_apart() -> None:
    """Moves that come and go: one event in a minute at most."""
    watch = Watch()
    watch.see(0, south=1)
    watch.see(CALM)
    watch.see(CALM + 1, north=1)
    assert watch.kinds == [Kind.FLOWS_MOVED, Kind.FLOWS_AT_REST]
    watch.see(2 * CALM, north=1)
    assert watch.kinds == [Kind.FLOWS_MOVED, Kind.FLOWS_AT_REST, Kind.FLOWS_MOVED]
    assert watch.bus.told[-1][1].endswith("flowlets: 2 to north"), "since it was at rest"


def test_policies_are_told_of_one_by_one() -> None:
    watch = Watch()
    watch.see(0, south=1)
    watch.see(0, "other", north=1)
    assert [fields["policy"] for _, _, fields in watch.bus.told] == ["both", "other"]
