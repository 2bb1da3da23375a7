"""What a PE's switch knows of the paths of its policies, and what they carry (FAN-4).

The switch alone decides that a path has failed. It keeps that in registers, which BMv2 lets nobody
read, and counts every change: of a path, FAILED less WELL is 1 while it has failed. Nothing is ever
written, so a controller that was away agrees with what the data plane did.
"""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import finsy as fy

from fcn.contract.names import PATH_COUNTERS
from fcn.contract.paths import PATH_REPORTS, path_cell, path_report, report_cell
from fcn.controller.clock import Clock
from fcn.controller.config.paths import Path, Plan
from fcn.controller.events import EventBus, Kind
from fcn.controller.node.connection import Connection
from fcn.controller.node.provision import Provision
from fcn.controller.node.readback import read_entries
from fcn.controller.node.session import SwitchAwayError, answering

INTERVAL = 1.0
"""Seconds between two looks."""

OPERATOR = "operator"
"""Who said something of a path by way of the controller."""

REPORTS, TRAFFIC = PATH_COUNTERS

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

Counts = Mapping[str, int]
"""Changes by member of PathReport."""


@dataclass(frozen=True, slots=True)
class PathState:
    """A path as last seen. since: when its state was seen first, in seconds since the epoch.
    source: who said so; empty where that is not known. rate: packets per second."""

    path: Path
    since: float
    counts: Counts = field(default_factory=lambda: dict.fromkeys(PATH_REPORTS, 0))
    source: str = ""
    packets: int = 0
    octets: int = 0
    rate: float = 0.0
    seen: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether it is said to have failed."""
        return self.counts["FAILED"] > self.counts["WELL"]

    @property
    def congested(self) -> bool:
        """Whether it is said to be congested."""
        return self.counts["CONGESTED"] > self.counts["RELIEVED"]


class PathWatch:
    """Looks at the paths of one PE every now and then, and tells of changes."""

    def __init__(
        self, provision: Provision, connection: Connection, bus: EventBus, clock: Clock
    ) -> None:
        self.plans: tuple[Plan, ...] = provision.plans
        self._cpu = provision.pipeline.target.ports.cpu
        self._connection = connection
        self._bus = bus
        self._clock = clock
        self._states: dict[tuple[str, int], PathState] = {}
        self._told: dict[tuple[str, int], str] = {}

    def state(self, policy: str, slot: int) -> PathState | None:
        """A path as last seen; None before the first look."""
        return self._states.get((policy, slot))

    async def report(self, number: int, report: str) -> bool:
        """Tell the data plane of the path with this ID, as a message of a node would; False where
        no policy has it.

        Raises ValueError for what is no member of PathReport, SwitchAwayError.
        """
        if report not in PATH_REPORTS:
            known = ", ".join(each.lower() for each in PATH_REPORTS)
            raise ValueError(f"{report.lower()!r} cannot be said of a path; say one of: {known}")
        for plan in self.plans:
            for slot, path in enumerate(plan.paths):
                if path.number == number:
                    connection = self._connection
                    sent = await connection.send_packet(self._cpu, path_report(number, report))
                    if not sent:
                        raise SwitchAwayError(f"{connection.name} is {connection.status.state}")
                    self._told[plan.policy, slot] = report
                    return True
        return False

    async def run(self) -> None:
        """Look again and again until cancelled."""
        name = self._connection.name
        for plan in self.plans:
            if plan.exposed:
                text = f"{name}: one failure can end policy {plan.policy}: {plan.exposed}"
                self._bus.emit(Kind.PATH_EXPOSED, name, text, policy=plan.policy)
        while True:
            await asyncio.sleep(INTERVAL)
            if self._connection.is_up:
                try:
                    await self.look()
                except SwitchAwayError:
                    continue

    async def look(self) -> None:
        """Read the paths' counters. Raises SwitchAwayError."""
        cells: dict[tuple[str, int], tuple[int, int]] = {}
        with answering(self._connection.name):
            async for cell in read_entries(self._connection.switch, list(self._patterns())):
                if isinstance(cell, fy.P4CounterEntry) and cell.index is not None:
                    counted = cell.packet_count, cell.byte_count
                    cells[cell.counter_id, cell.index] = counted
        for plan in self.plans:
            for slot, path in enumerate(plan.paths):
                counts = {
                    report: cells[REPORTS, report_cell(plan.cell, slot, number)][0]
                    for report, number in PATH_REPORTS.items()
                }
                traffic = cells[TRAFFIC, path_cell(plan.cell, slot)]
                self._see(plan.policy, slot, path, counts, traffic)

    def _patterns(self) -> Iterator[fy.P4CounterEntry]:
        for plan in self.plans:
            for slot in range(len(plan.paths)):
                yield fy.P4CounterEntry(TRAFFIC, index=path_cell(plan.cell, slot))
                for number in PATH_REPORTS.values():
                    yield fy.P4CounterEntry(REPORTS, index=report_cell(plan.cell, slot, number))

    def _see(
        self, policy: str, slot: int, path: Path, counts: Counts, traffic: tuple[int, int]
    ) -> None:
        now, moment = self._clock.monotonic(), self._clock.wall()
        before = self._states.get((policy, slot))
        packets, octets = traffic
        state = before or PathState(path, moment)
        rate = 0.0
        if before is not None and packets >= before.packets and now > before.seen:
            rate = (packets - before.packets) / (now - before.seen)
        state = replace(state, packets=packets, octets=octets, rate=rate, seen=now)
        # Cells are read one after the other: what changed between is seen whole the next time.
        pairs = (("FAILED", "WELL"), ("CONGESTED", "RELIEVED"))
        if all(counts[bad] - counts[good] in (0, 1) for bad, good in pairs):
            last, state = state, replace(state, counts=counts)
            if (last.failed, last.congested) != (state.failed, state.congested):
                said = self._told.pop((policy, slot), "")
                grown = said and counts[said] > last.counts[said]
                state = replace(state, since=moment, source=OPERATOR if grown else "")
            for bad, good in pairs:
                self._tell(policy, path, last.counts, counts, bad, good)
        self._states[policy, slot] = state

    def _tell(
        self, policy: str, path: Path, last: Counts, counts: Counts, bad: str, good: str
    ) -> None:
        if last[bad] == counts[bad] and last[good] == counts[good]:
            return
        name = self._connection.name
        is_bad = counts[bad] > counts[good]
        report = bad if is_bad else good
        changes = max(0, counts[bad] - last[bad]) + max(0, counts[good] - last[good])
        often = f", after {changes} changes" if changes > 1 else ""
        self._bus.emit(
            _KINDS[report],
            name,
            f"{name}: path {path.name} of {policy} {_WORDS[report]}{often}",
            policy=policy,
            path=path.name,
            id=path.number,
            changes=changes,
        )
