"""What a switch knows of its links, and the clock by which it looks at them (FAN-4).

The switch alone decides that a link is down and what to do. It counts the changes, which are all
that a controller can read of its registers; the controller sets its clock going, looks, and tells.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Self

import finsy as fy

from fcn.contract.link_clock import bmv2_commands, clock_packet, round_time
from fcn.contract.names import LINK_COUNTERS, PORT_COUNTERS
from fcn.contract.profiles import Mode
from fcn.controller.clock import Clock
from fcn.controller.config.watching import WatchedLink
from fcn.controller.events import EventBus, Kind
from fcn.controller.node.connection import Connection
from fcn.controller.node.counters import Cell, Cells, CounterUser
from fcn.controller.node.readback import read_cells
from fcn.controller.node.session import answering
from fcn.controller.owners.punt import Punt
from fcn.controller.provision.provision import Provision

MISSED_ROUNDS = 3
"""Rounds of the clock in which none ends, until it is taken for lost."""

TOLERANCE = 2.0
"""How many times as fast or as slow as it should be a clock is before somebody is told."""

MOST_STEP = 1 << 24
"""From a token to the next, in a circle of 32 bits, half of which is older."""

SLOTS = "clock_slot"

UPS, DOWNS, ROUNDS = LINK_COUNTERS
_, SENT = PORT_COUNTERS


@dataclass(frozen=True, slots=True)
class LinkState:
    """A link as last seen. since: when its state was seen first, in seconds since the epoch. ups,
    downs: how often it came up and went down since the switch was started. octets: sent, seen at
    this time of a clock that never goes back. utilization: part of the port's rate that was sent
    between two looks; None where the file has no rate."""

    link: WatchedLink
    since: float
    ups: int = 0
    downs: int = 0
    octets: int = 0
    seen: float = 0.0
    utilization: float | None = None

    @property
    def state(self) -> str:
        """`up`, `down`, or `unknown` for a link that never was up."""
        if self.ups == self.downs == 0:
            return "unknown"
        return "up" if self.ups > self.downs else "down"


class LinkStates(CounterUser):
    """What was last seen of the links of one switch; tells of changes, keeps its clock going."""

    def __init__(
        self, provision: Provision, connection: Connection, bus: EventBus, clock: Clock
    ) -> None:
        self.links = provision.watched.links
        self.slots = len(provision.watched.slots)
        self._rates = {port.number: port.rate for port in provision.node.core_ports if port.rate}
        times = provision.config.failure_detection
        self._interval = times.interval if times is not None else 0
        self._ports = provision.pipeline.target.ports
        known = Mode.FANTEL in provision.pipeline.modes
        self._core_ports = [port.number for port in provision.node.core_ports if known]
        self._connection = connection
        self._bus = bus
        self._clock = clock
        self._states: dict[int, LinkState] = {}
        self._token = 0
        self._step = 1
        self._rounds = 0
        self._counted = 0.0
        self._off_rate = 0

    def state(self, port: int) -> LinkState | None:
        """A link as last seen; None before the first look of a session."""
        return self._states.get(port)

    def take_over(self, before: Self) -> None:
        """What was seen of the links under the configuration before, and of the clock."""
        states = {link.port: before.state(link.port) for link in self.links if link in before.links}
        self._states |= {port: state for port, state in states.items() if state is not None}
        self._token, self._step = before._token, before._step

    async def stop_clock(self, held: Iterable[fy.P4TableEntry]) -> None:
        """Stop the clock where nothing is watched any more. held: what the switch has; its slots
        are taken away later, so that a controller that ended in between stops it again. Raises
        P4ClientError."""
        if not self.slots and any(entry.table_id == SLOTS for entry in held):
            packet = clock_packet(int(self._clock.wall()) + 1, is_last=True)
            await self._connection.send(Punt.send(self._ports.clock, packet))

    async def tell_left(self) -> None:
        """Tell of links that were down when they were taken out of the file: the switch takes them
        for dead while it watches others. Raises P4ClientError."""
        watched = {link.port for link in self.links}
        ports = [port for port in self._core_ports if watched and port not in watched]
        if not ports:
            return
        wanted = ((kind, port) for port in ports for kind in (UPS, DOWNS))
        cells = await read_cells(self._connection.switch, wanted)
        name = self._connection.name
        for port in ports:
            if 0 < cells[DOWNS, port][0] >= cells[UPS, port][0]:
                text = (
                    f"{name}: the link of port {port} was down when it was taken out of `links`, "
                    "so the switch goes on dropping what leaves by it; put it back until it is up, "
                    "or start the switch again"
                )
                self._bus.emit(Kind.LINK_DOWN, name, text, port=port)

    async def start_clock(self) -> None:
        """Set the clock going; one that goes ends. Raises P4ClientError."""
        self._token = max(int(self._clock.wall()), self._token + self._step)
        self._counted = self._clock.monotonic()
        self._rounds = -1
        await self._connection.send(Punt.send(self._ports.clock, clock_packet(self._token)))

    def cells(self) -> Iterator[Cell]:
        """Of the clock and of links."""
        yield ROUNDS, 0
        for link in self.links:
            yield UPS, link.port
            yield DOWNS, link.port
            if link.port in self._rates:
                yield SENT, link.port

    def start_anew(self) -> None:
        """The switch has lost its registers with its counters."""
        self._states.clear()
        self._rounds = -1

    async def see(self, cells: Cells) -> None:
        """Take in what was counted. Raises SwitchAwayError."""
        for link in self.links:
            is_first = link.port not in self._states
            last = self._states.get(link.port) or LinkState(link, self._clock.wall())
            (ups, _), (downs, _) = cells[UPS, link.port], cells[DOWNS, link.port]
            state = self._measured(replace(last, ups=ups, downs=downs), cells)
            if state.state != last.state:
                state = replace(state, since=self._clock.wall())
            self._states[link.port] = state
            # That links are well when the controller starts is no news.
            if (ups, downs) != (last.ups, last.downs) and not (is_first and state.state == "up"):
                self._tell(last, state)
        await self._mind_clock(cells[ROUNDS, 0][0])

    def _measured(self, last: LinkState, cells: Cells) -> LinkState:
        """The state with what was sent since the last look."""
        rate = self._rates.get(last.link.port)
        if rate is None:
            return last
        octets, now = cells[SENT, last.link.port][1], self._clock.monotonic()
        elapsed = now - last.seen if last.seen else 0.0
        used = (octets - last.octets) * 8 / elapsed / rate if elapsed else None
        return replace(last, octets=octets, seen=now, utilization=used)

    def rate(self, port: int) -> int | None:
        """Of the link of a port, in bits per second; None where the file does not say it."""
        return self._rates.get(port)

    def _tell(self, last: LinkState, state: LinkState) -> None:
        name, link = self._connection.name, state.link
        changes = state.ups - last.ups + state.downs - last.downs
        often = f", after {changes} changes" if changes > 1 else ""
        self._bus.emit(
            Kind.LINK_UP if state.state == "up" else Kind.LINK_DOWN,
            name,
            f"{name}: the link {name}:{link.port} - {link.peer}:{link.peer_port} is "
            f"{state.state}{often}",
            port=link.port,
            peer=link.peer,
            peer_port=link.peer_port,
            changes=changes,
        )

    async def _mind_clock(self, rounds: int) -> None:
        """Set the clock going again when it stands still, and tell when its rate is wrong."""
        now = self._clock.monotonic()
        waited, expected = now - self._counted, round_time(self.slots, self._interval)
        if self._rounds < 0:
            # It has just been set going, or was lost with everything else.
            self._rounds, self._counted = rounds, now
            return
        if waited < MISSED_ROUNDS * expected:
            return
        done, self._rounds, self._counted = rounds - self._rounds, rounds, now
        name = self._connection.name
        if done == 0:
            text = f"{name}: the clock stood still; it is set going again"
            self._bus.emit(Kind.CLOCK, name, text)
            # Where the switch has had a clock that is ahead of this one, the packet ended at once.
            self._step = min(2 * self._step, MOST_STEP)
            with answering(name):
                await self.start_clock()
            return
        self._step = 1
        if not self._ports.paces_clock:
            return
        share = done * expected / waited
        # Once may be a pause of the machine, or the clock was lost meanwhile.
        self._off_rate = 0 if 1 / TOLERANCE <= share <= TOLERANCE else self._off_rate + 1
        if self._off_rate == 2:
            commands = "', '".join(bmv2_commands(self.slots, self._interval))
            shown = f"{share:.2g}" if share < 10 else f"{share:.0f}"
            text = (
                f"{name}: the clock goes {shown} times as fast as it should, so that links are "
                f"watched at another rate; on BMv2 enter '{commands}' in simple_switch_CLI"
            )
            self._bus.emit(Kind.CLOCK, name, text, share=f"{share:.3g}")
