"""A controller that hears of one switch who leads."""

from math import inf

from fcn.controller.clock import SYSTEM_CLOCK
from fcn.controller.leadership.election import Seat
from fcn.controller.leadership.ids import ElectionId, run_of
from fcn.controller.leadership.leadership import Leadership


class Silent:
    """A connection that does nothing."""

    def take(self) -> None:
        pass

    def reconsider(self) -> None:
        pass

    def heard_until(self) -> float:
        return inf


def seat(turn: int, controller: int) -> Seat:
    """A controller is primary by its bid of this round."""
    bid = ElectionId(turn, controller).value
    return Seat(bid, bid)


def one_of_three() -> Leadership:
    """Of the controller with number 1; nobody is primary yet."""
    found = Leadership(["a"], SYSTEM_CLOCK, run_of(1), {1: "one", 2: "two", 3: "three"})
    found.enter("a", Silent())
    found.heard("a", Seat(None, 0), won=False)
    return found


def leads(leadership: Leadership, turn: int, number: int) -> None:
    """It hears that a controller with this number does, in this round."""
    leadership.heard("a", seat(turn, run_of(number)), won=False)
