"""A controller's part in the election: what it hears of every switch, where it bids, and whether
it leads (election.py)."""

import asyncio
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Protocol

from fcn.controller.clock import Clock
from fcn.controller.leadership.election import Seat, Standing, standing
from fcn.controller.leadership.ids import CONTROLLERS, ElectionId, above, name_of

LOOK_AROUND = 0.5
"""Seconds in which a controller that starts hears every switch before it bids, so that it takes
none from a leader it has not seen; less, once all have answered or refused."""

PATIENCE = 1.0
"""Seconds in which a leader takes switches where nobody is primary. One that does not is cut off
from them, or gone, and a switch that hangs has not said so."""

DOUBT = 5.0
"""Seconds in which the other switches have to say that this controller is primary there, once one
has said that another is."""

LATE_LOOK = 0.25
"""Seconds between two looks whether what a switch said before the end of a doubt has come."""

LEAST_WAIT = 0.001
"""Seconds."""

FIRST_CALM, LAST_CALM = 1.0, 32.0
"""Seconds between two bids for a switch that another controller holds, twice as long each time:
two that do not see the same switches must not take one from each other all the time."""


class Ballot(Protocol):
    """The connection to a switch, in the election."""

    def take(self) -> None:
        """Ask for `Leadership.bid_for`, and send that."""

    def reconsider(self) -> None:
        """Another leads now, or this one."""

    def heard_until(self) -> float:
        """Until when, by the clock, what the switch says has come: under load it waits."""


class Leadership:
    """Of one controller, over the switches in `order`.

    controllers: names by number (ids.number_of), of all that may lead; where they are several, only
    more than half of the switches make a leader. Else whoever is first of those that are seen
    leads. elsewhere: of other regions, which are not disturbed.
    """

    def __init__(
        self,
        order: Sequence[str],
        clock: Clock,
        me: int | None = None,
        controllers: Mapping[int, str] | None = None,
        elsewhere: Mapping[int, str] | None = None,
    ) -> None:
        self.me = secrets.randbelow(CONTROLLERS) if me is None else me
        self.leads = False
        self.deposed = asyncio.Event()
        """Set once another controller has taken switches from this one, and this one leads no more:
        what it knows is old. One that does not lead changes nothing at the switches it takes."""
        # By name: in the files of two controllers the order may differ.
        self._order = sorted(order)
        self._clock = clock
        self._controllers = controllers or {}
        self._elsewhere = elsewhere or {}
        self._seats: dict[str, Seat] = {}
        self._ballots: dict[str, Ballot] = {}
        self._unheard = set(order)
        self._decided = asyncio.Event()
        self._led = asyncio.Event()
        self._first: int | None = None
        self._changed = asyncio.Event()
        """Whenever another one is first."""
        self._asked: dict[str, int] = {}
        """Bids that were not answered yet."""
        self._won: dict[str, int] = {}
        """The election ID with which this controller last became primary on a switch."""
        self._lost = set[str]()
        """Switches that another controller has taken since."""
        self._doubted = set[str]()
        """Switches that are asked whether this controller is still primary there."""
        self._doubted_until = inf
        self._calm: dict[str, tuple[float, float]] = {}
        """Until when not to bid for a switch that another holds, or held last, and how long that
        was."""
        self._silent: int | None = None
        """The leader that was followed, and says nothing any more."""
        self._vacant_since: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        """Until the controller has looked around, and then until something else is to be done."""

    def move_to(self, order: Sequence[str]) -> None:
        """These are the switches from now on."""
        gone, self._order = set(self._order) - set(order), sorted(order)
        for name in gone:
            self._seats.pop(name, None)
            self._ballots.pop(name, None)
            self._calm.pop(name, None)
            self._won.pop(name, None)
            for names in (self._unheard, self._lost, self._doubted):
                names.discard(name)
        self._decide()

    def enter(self, name: str, ballot: Ballot) -> None:
        self._ballots[name] = ballot

    def heard(self, name: str, seat: Seat, *, won: bool) -> None:
        """A switch has said who is primary; won: it is who asked on this stream."""
        if name not in self._ballots:
            return
        if seat.holder == self.me and not won:
            # The switch has not noticed that a stream of this controller has ended.
            seat = Seat(None, seat.highest)
        elif seat.holder is not None and name_of(seat.holder) in self._elsewhere:
            seat = replace(seat, is_elsewhere=True)
        self._seats[name] = seat
        self._asked.pop(name, None)
        if seat.holder == self.me:
            self._won[name] = seat.highest
            self._lost.discard(name)
        elif name in self._won and self._won[name] < seat.highest and _is_others(seat, self.me):
            self._lose(name)
        self._has_answered(name)

    def left(self, name: str) -> None:
        """There is no session with a switch."""
        self._seats.pop(name, None)
        self._asked.pop(name, None)
        self._has_answered(name)

    async def decided(self) -> None:
        """Wait until the controller has looked around."""
        if self._timer is None and not self._decided.is_set():
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(LOOK_AROUND, self._looked)
        await self._decided.wait()

    async def leading(self) -> None:
        """Wait until this controller leads."""
        await self._led.wait()

    async def other_leads(self) -> int:
        """Wait until another controller leads, and return its number."""
        while (found := self.leader_number()) is None:
            await self._first_changes()
        return found

    async def leads_no_more(self, leader: int) -> None:
        """Wait until another controller, or none, leads in the place of this one."""
        while self.leader_number() == leader:
            await self._first_changes()

    def fell_silent(self, leader: int) -> None:
        """A leader that was followed says nothing any more: it hangs, or is cut off from here."""
        self._silent = leader
        self._decide()

    def speaks(self, leader: int) -> None:
        """A leader is followed."""
        if self._silent == leader:
            self._silent = None

    async def _first_changes(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    def bid_for(self, name: str) -> int | None:
        """The election ID to take a switch with, None where it is not to be taken."""
        seat = self._seats.get(name)
        if seat is None or not self._decided.is_set() or seat.is_foreign:
            return None
        if name in self._doubted:
            return seat.primary
        if self.deposed.is_set() or self._doubted:
            # It is about to begin anew, or may be, and would only depose the one that rules now.
            return None
        if seat.holder == self.me or not self._is_to_bid(self._standing()):
            return None
        found = above(seat.highest, self.me)
        if found is None or self._asked.get(name) == found:
            return None
        if (seat.holder is not None or name in self._lost) and not self._is_calm(name):
            return None
        self._asked[name] = found
        return found

    def rules(self, name: str) -> bool:
        """Whether this controller leads, and is primary on a switch."""
        seat = self._seats.get(name)
        return self.leads and seat is not None and seat.holder == self.me

    def leader_number(self) -> int | None:
        """Which other controller leads; None where none is seen that does."""
        first = self._standing().first
        return None if first == self.me else first

    def leader(self) -> str:
        """Which other controller leads, as far as it is known; empty where none does."""
        first = self.leader_number()
        return "" if first is None else self._name(first)

    def why_not(self, name: str) -> str:
        """Why this controller changes nothing at a switch that it does not rule."""
        seat = self._seats.get(name)
        if seat is not None and seat.is_elsewhere:
            return "a controller of another region rules this switch; compare `region` in its file"
        if seat is not None and seat.is_foreign:
            return (
                "another controller is primary on this switch (election ID "
                f"{seat.primary}); stop it, and this one becomes primary"
            )
        if leader := self.leader():
            return f"{leader} leads; this one takes over when that ends"
        if seat is not None and seat.holder is not None and self.leads:
            return (
                f"this switch says that {self._name(seat.holder)} is primary, which does not lead; "
                "this one does, and takes the switch back"
            )
        now = self._standing()
        if seat is not None and above(seat.highest, self.me) is None:
            return (
                "this switch has seen the highest election ID that there is, of other software: it "
                "takes no controller before it restarts"
            )
        return (
            f"nobody leads: this controller is primary on {now.held} of {now.switches} switches, "
            "and changes nothing before it is on more than half of them"
        )

    def _name(self, controller: int) -> str:
        number = name_of(controller)
        if name := self._controllers.get(number):
            too = " (another that runs under this name, too)" if number == name_of(self.me) else ""
            return f"controller {name}{too}"
        seats = self._seats.values()
        ids = [seat.primary for seat in seats if seat.primary and seat.holder == controller]
        return f"another controller (election ID {max(ids)})"

    def _standing(self) -> Standing:
        return standing(self._seats, self._order, self.me, self._silent)

    def _lose(self, name: str) -> None:
        """Another controller has taken a switch. Whether it has more is for the others to say: of
        one that this controller is cut off from it would not know yet."""
        if name in self._lost:
            return
        self._lost.add(name)
        self._is_calm(name)
        self._doubted = {each for each, seat in self._seats.items() if seat.holder == self.me}
        self._doubted_until = self._clock.monotonic() + DOUBT
        for each in self._doubted:
            self._ballots[each].take()

    def _doubt(self) -> None:
        """Do without the switches that have not said in time that this controller is primary."""
        left = self._doubted_until - self._clock.monotonic()
        if left > 0:
            self._wake_in(left)
            return
        until = self._doubted_until
        for name in [each for each in self._doubted if self._ballots[each].heard_until() >= until]:
            self._doubted.discard(name)
            del self._seats[name]
        if self._doubted:
            self._wake_in(LATE_LOOK)

    def _is_to_bid(self, now: Standing) -> bool:
        """Whether this one is first, or whoever is first lets the others be."""
        if now.first in (None, self.me) or not now.vacant:
            self._vacant_since = None
            return now.first in (None, self.me)
        time = self._clock.monotonic()
        if self._vacant_since is None:
            self._vacant_since = time
        left = self._vacant_since + PATIENCE - time
        if left > 0:
            self._wake_in(left)
        return left <= 0

    def _is_calm(self, name: str) -> bool:
        """Whether to take a switch from another controller now."""
        until, wait = self._calm.get(name, (-inf, 0.0))
        now = self._clock.monotonic()
        if now < until:
            self._wake_in(until - now)
            return False
        # Quiet for as long as the longest wait, it begins anew.
        wait = FIRST_CALM if now > until + LAST_CALM else min(2 * wait, LAST_CALM)
        self._calm[name] = (now + wait, wait)
        return True

    def _wake_in(self, seconds: float) -> None:
        """Decide again. One timer is enough, for what is due first: the rest asks for it again."""
        loop = asyncio.get_running_loop()
        # A wait that rounding leaves may be too short for the loop's time to go on.
        due = loop.time() + max(seconds, LEAST_WAIT)
        if self._timer is not None:
            if self._timer.when() <= due:
                return
            self._timer.cancel()
        self._timer = loop.call_at(due, self._wake)

    def _wake(self) -> None:
        self._timer = None
        self._decide()

    def _has_answered(self, name: str) -> None:
        self._unheard.discard(name)
        self._doubted.discard(name)
        if not self._unheard:
            self._looked()
        self._decide()

    def _looked(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._decided.is_set():
            self._decided.set()
            self._decide()

    def _decide(self) -> None:
        if not self._decided.is_set():
            return
        if self._doubted:
            self._doubt()
        now = self._standing()
        if now.first != self._first:
            self._first = now.first
            self._changed.set()
            if now.first not in (None, self._silent):
                self._silent = None
        leads = now.most if len(self._controllers) > 1 else now.first == self.me
        if leads != self.leads:
            self.leads = leads
            (self._led.set if leads else self._led.clear)()
            for name, seat in list(self._seats.items()):
                if seat.holder == self.me:
                    self._ballots[name].reconsider()
        if self._lost and not leads:
            self.deposed.set()
        if self._is_to_bid(now):
            for name, seat in list(self._seats.items()):
                if seat.holder != self.me:
                    self._ballots[name].take()


def _is_others(seat: Seat, me: int) -> bool:
    """Whether another controller was the last to take a switch."""
    last = ElectionId.parse(seat.highest)
    return last is not None and last.controller != me
