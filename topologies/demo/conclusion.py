"""What the measured numbers say, in words: of one mode beside end-to-end ECN alone."""

from dataclasses import dataclass
from statistics import mean

from fcn.topologies.demo.comparison import NOTHING, rate_text
from fcn.topologies.demo.measure import Measurement
from fcn.topologies.demo.plots import Results

# Differences below are chance, or nothing to speak of.
SAME_GOODPUT = 0.01
SAME_FAIRNESS = 0.005


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
    if mode.round_time_above_ms > ecn.round_time_above_ms:
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
    shares = {sender: mean(of_qps) for sender, of_qps in mode.goodputs_bps.items()}
    cuts = {sender: mean(of_qps) for sender, of_qps in mode.cuts.items()}
    least, most = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
    title = mode.mode.title
    text = (
        f"Jain's index of queue pairs is {mode.fairness:.3f} with {title} and {ecn.fairness:.3f} "
        f"with {ecn.mode.title}. A queue pair of {least} got {rate_text(shares[least])} and cut "
        f"its rate {cuts[least]:.1f} times, one of {most} got {rate_text(shares[most])} and cut "
        f"{cuts[most]:.1f} times (means)"
    )
    if cuts[least] > cuts[most]:
        return f"{text}: who cut more often got less.{_TOLD if mode.mode.notifies else ''}"
    return f"{text}: how often they cut does not explain it, how deep each cut was does."


_TOLD = (
    " A switch tells the flows whose packets find its queue congested, each at most once in the "
    "interval of its level, so in a short congestion it tells some and not others; a receiver "
    "sends a CNP for every marked packet but one in that interval."
)
