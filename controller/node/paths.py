"""What a PE's switch knows of the paths of its policies, and what they carry (FAN-4).

The switch alone decides that a path has failed. It keeps that in registers, which BMv2 lets nobody
read, and counts every change: of a path, FAILED less WELL is 1 while it has failed. Nothing is
written while the file stays the same, so a controller that was away agrees with what the data plane
did.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import finsy as fy

from fcn.contract.names import LOAD_COUNTERS, PATH_COUNTERS
from fcn.contract.paths import (
    NOTHING_SAID,
    PATH_REPORTS,
    forget_order,
    path_cell,
    path_report,
    report_cell,
    reporter_cell,
)
from fcn.controller.clock import Clock
from fcn.controller.config.paths import Path, Plan
from fcn.controller.config.watching import WatchedPath, WatchedQueue
from fcn.controller.events import EventBus, Kind
from fcn.controller.node.connection import Connection
from fcn.controller.node.counters import Cell, Cells, CounterUser
from fcn.controller.node.outdated import outdated
from fcn.controller.node.readback import read_cells
from fcn.controller.node.session import SwitchAwayError, answering
from fcn.controller.node.shifts import Shifts
from fcn.controller.owners.punt import Punt
from fcn.controller.provision.provision import Provision
from fcn.controller.store import Store

FORGET = "FORGET"
"""In the place of a report: the switch forgets what was said of a path."""
OPERATOR = "operator"
"""Who said something of a path by way of the controller."""

CONGESTED_FOR = 30.0
"""Seconds after which a path is congested no longer, unless that has been said anew: a node
that is gone, or lies, keeps traffic away no longer. Who still has a queue says so at once."""

REPORTS, TRAFFIC, SPEAKERS = PATH_COUNTERS
LOADS, FLOWLETS = LOAD_COUNTERS

_KINDS = {
    "FAILED": Kind.PATH_FAILED,
    "WELL": Kind.PATH_WELL,
    "CONGESTED": Kind.PATH_CONGESTED,
    "RELIEVED": Kind.PATH_RELIEVED,
}
_WORDS = {
    "FAILED": "has failed",
    "WELL": "is well again",
    "CONGESTED": "is congested",
    "RELIEVED": "is relieved",
}

_PAIRS = (("FAILED", "WELL"), ("CONGESTED", "RELIEVED"))

_ENDS = {good: (bad,) for bad, good in _PAIRS} | {FORGET: tuple(bad for bad, _ in _PAIRS)}
"""What a report ends of that which an operator said before."""

Counts = Mapping[str, int]
"""Changes by member of PathReport."""


@dataclass(frozen=True, slots=True)
class PathState:
    """A path as last seen. since: when its state was seen first, in seconds since the epoch.
    source: who said so; empty where that is not known. rate: packets per second. loads: messages of
    its load; flowlets: how many were moved to it because of load."""

    path: Path
    since: float
    counts: Counts = field(default_factory=lambda: dict.fromkeys(PATH_REPORTS, 0))
    source: str = ""
    packets: int = 0
    octets: int = 0
    rate: float = 0.0
    seen: float = 0.0
    loads: int = 0
    flowlets: int = 0

    @property
    def failed(self) -> bool:
        return self.counts["FAILED"] > self.counts["WELL"]

    @property
    def congested(self) -> bool:
        return self.counts["CONGESTED"] > self.counts["RELIEVED"]


def _change(last: PathState, state: PathState) -> str:
    """Member of PathReport: what was said of the path, the failure before the congestion."""
    if last.failed != state.failed:
        return "FAILED" if state.failed else "WELL"
    return "CONGESTED" if state.congested else "RELIEVED"


class PathStates(CounterUser):
    """What was last seen of the paths of one PE; tells of changes."""

    def __init__(
        self,
        provision: Provision,
        connection: Connection,
        bus: EventBus,
        clock: Clock,
        store: Store,
    ) -> None:
        self._store = store
        self.plans: tuple[Plan, ...] = provision.plans
        self._cpu = provision.pipeline.target.ports.cpu
        self._connection = connection
        self._bus = bus
        self._clock = clock
        self._states: dict[tuple[str, int], PathState] = {}
        self._told: dict[tuple[str, int], tuple[str, ...]] = {}
        self._congested: dict[tuple[str, int], tuple[int, float]] = {}
        """How often congestion of a path had been news, and since when it has been so often."""
        self._reporters = provision.reporters
        self._heard: dict[Cell, int] = {}
        self._own = provision.watched.own(WatchedPath)
        self._queues = provision.watched.own(WatchedQueue)
        self._balances = provision.config.load_balancing is not None
        self._shifts = Shifts(connection.name, bus, clock)

    @property
    def numbers(self) -> frozenset[int]:
        """IDs of the paths of this PE."""
        return frozenset(path.number for plan in self.plans for path in plan.paths)

    def state(self, policy: str, slot: int) -> PathState | None:
        """A path as last seen; None before the first look."""
        return self._states.get((policy, slot))

    def balances(self, plan: Plan) -> bool:
        """Whether flows of the policy are moved because of load."""
        return self._balances and bool(plan.compared)

    def outdated(self, held: Sequence[fy.P4TableEntry]) -> list[int]:
        """IDs of paths of which the switch, which holds these entries, has to forget everything."""
        return outdated(held, self.plans, self._reporters, self._own, self._queues)

    async def report(self, number: int, report: str) -> bool:
        """Tell the data plane of the path with this ID, as a message of a node would, or let it
        forget the path (FORGET); False where no policy has it. What is bad about it holds until the
        contrary is said, also when the switch or the controller starts again.

        Raises ValueError for what is no member of PathReport, SwitchAwayError, StoreError.
        """
        if report not in (*PATH_REPORTS, FORGET):
            known = ", ".join(each.lower() for each in (*PATH_REPORTS, FORGET))
            raise ValueError(f"{report.lower()!r} cannot be said of a path; say one of: {known}")
        for plan in self.plans:
            for slot, path in enumerate(plan.paths):
                if path.number == number:
                    await self._say(number, report)
                    said = NOTHING_SAID if report == FORGET else (report,)
                    self._told[plan.policy, slot] = said
                    return True
        return False

    async def _say(self, number: int, report: str) -> None:
        """Where the controller is killed meanwhile, its next one says what is bad, and has not
        said that it is well: in both cases nobody was told that it was done."""
        held = self._store.reports(number)
        if report in _ENDS:
            await (self._forget(number) if report == FORGET else self._send_report(number, report))
            self._store.unsay(number, *_ENDS[report])
            return
        self._store.say(number, report)
        try:
            await self._send_report(number, report)
        except SwitchAwayError:
            if report not in held:
                self._store.unsay(number, report)
            raise

    async def repeat(self) -> None:
        """Say again what the operator said of paths, and holds: the switch may have started anew.
        What it knows already changes no path; of one that is congested senders may hear once more.
        Raises P4ClientError."""
        for place, (number, reports) in self._holding():
            self._told[place] = reports
            for report in reports:
                frame = path_report(number, report)
                await self._connection.send(Punt.send(self._cpu, frame))

    def _holding(self) -> Iterator[tuple[tuple[str, int], tuple[int, tuple[str, ...]]]]:
        """IDs of paths of which something that the operator said holds, and what; by policy and
        slot."""
        for plan in self.plans:
            for slot, path in enumerate(plan.paths):
                if reports := self._store.reports(path.number):
                    yield (plan.policy, slot), (path.number, tuple(reports))

    async def _forget(self, number: int) -> None:
        """Who may speak of a path begins anew, and nothing was said of it."""
        for each in self._reporters[number]:
            await self._send(forget_order(each.cell))
        for report in NOTHING_SAID:
            await self._send(path_report(number, report))

    async def _send_report(self, number: int, report: str) -> None:
        await self._send(path_report(number, report))

    async def _send(self, report: bytes) -> None:
        connection = self._connection
        if not await connection.send_packet(self._cpu, report):
            raise SwitchAwayError(f"{connection.name} is {connection.status.state}")

    def take_over(self, before: Self) -> None:
        """What was seen of policies that are as they were, under the configuration before."""
        same = {plan.policy for plan in self.plans if plan in before.plans}
        self._states = {at: state for at, state in before._states.items() if at[0] in same}
        self._told = {at: said for at, said in before._told.items() if at[0] in same}
        self._heard = dict(before._heard)

    def tell_exposed(self) -> None:
        """Tell of policies that one failure can end."""
        name = self._connection.name
        for plan in self.plans:
            if plan.exposed:
                text = f"{name}: one failure can end policy {plan.policy}: {plan.exposed}"
                self._bus.emit(Kind.PATH_EXPOSED, name, text, policy=plan.policy)

    def cells(self) -> Iterator[Cell]:
        for plan in self.plans:
            for slot in range(len(plan.paths)):
                for counter in (TRAFFIC, LOADS, FLOWLETS) if self.balances(plan) else (TRAFFIC,):
                    yield counter, path_cell(plan.cell, slot)
                for number in PATH_REPORTS.values():
                    yield REPORTS, report_cell(plan.cell, slot, number)

    async def see(self, cells: Cells) -> None:
        """Take in what was counted. Raises SwitchAwayError."""
        for plan in self.plans:
            moved: dict[str, int] = {}
            for slot, path in enumerate(plan.paths):
                last = self._states.get((plan.policy, slot)) or PathState(path, self._clock.wall())
                state = self._seen(plan, slot, last, cells)
                moved[path.name] = state.flowlets - last.flowlets if last.seen else 0
                if (last.failed, last.congested) != (state.failed, state.congested):
                    source = state.source or await self._speakers(path, _change(last, state), last)
                    state = replace(state, source=source)
                self._states[plan.policy, slot] = state
                for bad, good in _PAIRS:
                    self._tell(plan.policy, last, state, bad, good)
                await self._end_congestion((plan.policy, slot), state)
            if self.balances(plan):
                self._shifts.see(plan.policy, moved)

    async def _end_congestion(self, place: tuple[str, int], state: PathState) -> None:
        """Of a path that was congested for long. Raises SwitchAwayError."""
        said, now = state.counts["CONGESTED"], self._clock.monotonic()
        known, since = self._congested.get(place, (0, now))
        if not state.congested or said != known:
            self._congested[place] = said, now
        elif now - since >= CONGESTED_FOR:
            number = state.path.number
            if "CONGESTED" not in self._store.reports(number):
                await self._send_report(number, "RELIEVED")
            self._congested[place] = said, now

    def start_anew(self) -> None:
        """The switch has lost its registers with its counters."""
        self._heard.clear()
        self._told = {place: reports for place, (_, reports) in self._holding()}
        name = self._connection.name
        for (policy, slot), last in self._states.items():
            if last.failed or last.congested:
                bad, good = _PAIRS[0] if last.failed else _PAIRS[1]
                self._bus.emit(
                    _KINDS[good],
                    name,
                    f"{name}: the switch has started again, and no longer knows that path "
                    f"{last.path.name} of {policy} {_WORDS[bad]}",
                    policy=policy,
                    path=last.path.name,
                    id=last.path.number,
                    changes=1,
                    source="",
                )
            self._states[policy, slot] = PathState(last.path, self._clock.wall())

    async def _speakers(self, path: Path, report: str, last: PathState) -> str:
        """Who said this of a path since the last change of its state. Raises SwitchAwayError."""
        bad, good = _PAIRS[0] if report in _PAIRS[0] else _PAIRS[1]
        names = {
            (SPEAKERS, reporter_cell(each.cell, PATH_REPORTS[said])): (said, each.name)
            for said in (bad, good)
            for each in self._reporters[path.number]
        }
        spoke: dict[str, list[str]] = {bad: [], good: []}
        with answering(self._connection.name):
            counts = await read_cells(self._connection.switch, names)
        for cell, (count, _) in counts.items():
            if count != self._heard.get(cell, 0):
                said, reporter = names[cell]
                spoke[said].append(reporter)
            self._heard[cell] = count
        found, own = spoke[report], self._own_name(path, report)
        if report == good:
            # Nodes say again and again of what is well that it is.
            blamed = {*spoke[bad], *last.source.split(", ")}
            found = [name for name in (*found, own) if name and name in blamed] or found
        return ", ".join(found) or own

    def _own_name(self, path: Path, report: str) -> str:
        """The end of a path's first link of which this PE says so itself, which comes by no
        message; empty where it does not."""
        port = (self._own if report in _PAIRS[0] else self._queues).get(path.number)
        return "" if port is None else f"{self._connection.name}:{port}"

    def _seen(self, plan: Plan, slot: int, last: PathState, cells: Cells) -> PathState:
        """The path with what was read; of a change that the operator made, with its source."""
        now, cell = self._clock.monotonic(), path_cell(plan.cell, slot)
        packets, octets = cells[TRAFFIC, cell]
        elapsed = now - last.seen if last.seen else 0.0
        rate = (packets - last.packets) / elapsed if elapsed else 0.0
        state = replace(last, packets=packets, octets=octets, rate=rate, seen=now)
        if self.balances(plan):
            state = replace(state, loads=cells[LOADS, cell][0], flowlets=cells[FLOWLETS, cell][0])
        counts = {
            report: cells[REPORTS, report_cell(plan.cell, slot, number)][0]
            for report, number in PATH_REPORTS.items()
        }
        # Cells are read one after the other: what changed between is seen whole the next time.
        if any(counts[bad] - counts[good] not in (0, 1) for bad, good in _PAIRS):
            return state
        state = replace(state, counts=counts)
        if (last.failed, last.congested) != (state.failed, state.congested):
            said = self._told.pop((plan.policy, slot), ())
            by_hand = any(counts[each] > last.counts[each] for each in said)
            state = replace(state, since=self._clock.wall(), source=OPERATOR if by_hand else "")
        return state

    def _tell(self, policy: str, last: PathState, state: PathState, bad: str, good: str) -> None:
        before, counts = last.counts, state.counts
        if before[bad] == counts[bad] and before[good] == counts[good]:
            return
        name, path = self._connection.name, state.path
        report = bad if counts[bad] > counts[good] else good
        # What a path went through before the first look is no news where it is over.
        if report == good and not last.seen:
            return
        changes = counts[bad] - before[bad] + counts[good] - before[good]
        often = f", after {changes} changes" if changes > 1 else ""
        is_change = (last.failed, last.congested) != (state.failed, state.congested)
        source = state.source if is_change else ""
        by = f", says {source}" if source else ""
        self._bus.emit(
            _KINDS[report],
            name,
            f"{name}: path {path.name} of {policy} {_WORDS[report]}{often}{by}",
            policy=policy,
            path=path.name,
            id=path.number,
            changes=changes,
            source=source,
        )
