"""What the measured numbers say, in words: of one mode beside end-to-end ECN alone."""

from dataclasses import dataclass
from statistics import mean

from fcn.topologies.demo.comparison import NOTHING, rate_text
from fcn.topologies.demo.measure import Measurement
from fcn.topologies.demo.plots import Results

# Differences below are chance, or nothing to speak of.
SAME_GOODPUT = 0.01
SAME_FAIRNESS = 0.005
SAME_ABOVE = 0.05
SAME_SLOWED = 0.1


@dataclass(frozen=True, slots=True)
class Number:
    """One of the numbers at the top: its value in each mode, by the title of the mode."""

    name: str
    values: tuple[tuple[str, str], ...]


def compared(results: Results) -> tuple[Measurement | None, Measurement]:
    """End-to-end ECN alone where it was run, and the mode beside it: the one that tells a sender
    soonest."""
    ecn = results.get("ecn")
    others = [each for each in results.values() if each is not ecn] or [*results.values()]
    never = float("inf")
    best = min(others, key=lambda m: never if m.reaction_ms is None else m.reaction_ms)
    return (None if best is ecn else ecn), best


def numbers(results: Results) -> tuple[Number, Number, Number]:
    """Three: how soon a sender slows down, what the way back costs, what arrives."""
    runs = list(results.values())

    def number(name: str, *values: str) -> Number:
        return Number(name, tuple(zip((m.mode.title for m in runs), values, strict=True)))

    return (
        number(
            "onset of congestion to first rate cut",
            *(NOTHING if m.reaction_ms is None else f"{m.reaction_ms:.1f} ms" for m in runs),
        ),
        number("time above level 1 per onset", *(f"{m.time_above_ms:.0f} ms" for m in runs)),
        number("goodput of all senders", *(rate_text(m.total_goodput_bps) for m in runs)),
    )


def conclusion(results: Results) -> str:
    """One sentence."""
    ecn, mode = compared(results)
    title = mode.mode.title
    if ecn is None:
        told = (
            "no sender slows down"
            if mode.reaction_ms is None
            else f"a sender slows down {mode.reaction_ms:.1f} ms after an onset of congestion"
        )
        return f"With {title} {told}, and the queue is {_above(mode)} then."
    good: list[str] = []
    bad: list[str] = []
    _reaction(ecn, mode, good, bad)
    of_above = f"the queue is {_above(mode)} per onset instead of {ecn.time_above_ms:.0f} ms"
    (good if mode.time_above_ms < ecn.time_above_ms else bad).append(of_above)
    if mode.round_time_above_ms > ecn.round_time_above_ms * (1 + SAME_ABOVE):
        bad.append(
            f"until the end of the round, in later congestions too, it is so for "
            f"{mode.round_time_above_ms:.0f} ms instead of {ecn.round_time_above_ms:.0f} ms"
        )
    change = mode.total_goodput_bps / ecn.total_goodput_bps - 1
    if abs(change) >= SAME_GOODPUT:
        word = "higher" if change > 0 else "lower"
        (good if change > 0 else bad).append(f"goodput is {100 * abs(change):.0f} % {word}")
    if fairness_is_worse(ecn, mode):
        bad.append(
            f"queue pairs share less fairly (Jain's index {mode.fairness:.3f} instead of "
            f"{ecn.fairness:.3f})"
        )
    beside = f"{title} beside {ecn.mode.title}"
    count = len(mode.onsets)
    of = f"medians of {count} onsets" if count > 1 else "one onset"
    if not good:
        return f"{beside}: not better here, for {_and(bad)} ({of})."
    but = f"; but {_and(bad)}" if bad else ""
    return f"{beside}: {_and(good)}{but} ({of})."


def _reaction(ecn: Measurement, mode: Measurement, good: list[str], bad: list[str]) -> None:
    if mode.reaction_ms is None:
        bad.append("no sender cuts its rate")
    elif ecn.reaction_ms is None:
        good.append(f"a sender slows down after {mode.reaction_ms:.1f} ms instead of never")
    else:
        sooner = mode.reaction_ms < ecn.reaction_ms
        (good if sooner else bad).append(
            f"a sender slows down after {mode.reaction_ms:.1f} ms instead of "
            f"{ecn.reaction_ms:.1f} ms"
        )


def _above(measured: Measurement) -> str:
    return f"above level 1 for {measured.time_above_ms:.0f} ms"


def _and(parts: list[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def fairness_is_worse(ecn: Measurement, mode: Measurement) -> bool:
    """By more than nothing to speak of."""
    if ecn.fairness is None or mode.fairness is None:
        return False
    return mode.fairness < ecn.fairness - SAME_FAIRNESS


def fairness_notes(results: Results) -> list[str]:
    """Why queue pairs share less fairly than with end-to-end ECN alone, for modes in which they
    do."""
    ecn = results.get("ecn")
    if ecn is None:
        return []
    return [
        _why(ecn, each) for each in results.values() if each is not ecn
        if fairness_is_worse(ecn, each)
    ]  # fmt: skip


def _why(ecn: Measurement, mode: Measurement) -> str:
    title, of_ecn = mode.mode.title, ecn.mode.title
    shares = [bps for of_qps in mode.goodputs_bps.values() for bps in of_qps]
    text = (
        f"Jain's index of queue pairs is {mode.fairness:.3f} with {title} and {ecn.fairness:.3f} "
        f"with {of_ecn}: a queue pair got {rate_text(min(shares))} to {rate_text(max(shares))}"
    )
    if not mode.congestions or not ecn.congestions:
        return f"{text}. Not all runs have a rate cut."
    slowed = [mean(each.slowed for each in m.congestions) for m in (mode, ecn)]
    count = f"In a congestion {slowed[0]:.1f} of {len(shares)} queue pairs cut their rates with "
    count += f"{title}, {slowed[1]:.1f} with {of_ecn}"
    if slowed[0] < slowed[1] - SAME_SLOWED:
        return (
            f"{text}. {count}: who is not told of one, because it is short, keeps more until the "
            "next."
        )
    return f"{text}. {count}, so that is not why; how deep the cuts are differs."
