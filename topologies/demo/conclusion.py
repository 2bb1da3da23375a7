"""What the measured numbers say, in words: of one mode beside end-to-end ECN alone."""

from statistics import median

from fcn.topologies.demo.measure import Cuts, Measurement
from fcn.topologies.demo.plots import Results
from fcn.topologies.demo.report import NOTHING, Row, cuts_text, rate_text

# Differences below are chance, or nothing to speak of.
SAME_GOODPUT = 0.01
SAME_FAIRNESS = 0.005
SAME_ABOVE = 0.05


def compared(results: Results) -> tuple[Measurement | None, Measurement]:
    """End-to-end ECN alone where it was run, and the mode beside it: the one that tells a sender
    soonest."""
    ecn = results.get("ecn")
    others = [each for each in results.values() if each is not ecn] or [*results.values()]
    never = float("inf")
    best = min(others, key=lambda m: never if m.reaction_ms is None else m.reaction_ms)
    return (None if best is ecn else ecn), best


def numbers(results: Results) -> list[Row]:
    """Three: how soon a sender slows down, what the way back costs, what arrives."""
    runs = list(results.values())
    times = (NOTHING if m.reaction_ms is None else f"{m.reaction_ms:.1f} ms" for m in runs)
    above = (f"{m.time_above_ms:.0f} ms" for m in runs)
    goodput = (rate_text(m.total_goodput_bps) for m in runs)
    return [
        Row("onset of congestion to first rate cut", tuple(times)),
        Row("time above level 1 per onset", tuple(above)),
        Row("goodput of all senders", tuple(goodput)),
    ]


def conclusion(results: Results) -> str:
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
    if _above(mode) != _above(ecn):
        of_above = f"the queue is {_above(mode)} per onset instead of {ecn.time_above_ms:.0f} ms"
        (good if mode.time_above_ms < ecn.time_above_ms else bad).append(of_above)
    if mode.round_time_above_ms > max(1, ecn.round_time_above_ms) * (1 + SAME_ABOVE):
        bad.append(
            f"until the end of the round, in later congestions too, it is so for "
            f"{mode.round_time_above_ms:.0f} ms instead of {ecn.round_time_above_ms:.0f} ms"
        )
    of_ecn = ecn.total_goodput_bps
    change = mode.total_goodput_bps / of_ecn - 1 if of_ecn else 0.0
    if abs(change) >= SAME_GOODPUT:
        word = "higher" if change > 0 else "lower"
        (good if change > 0 else bad).append(f"goodput is {100 * abs(change):.0f} % {word}")
    if fairness_is_worse(ecn, mode):
        bad.append(
            f"queue pairs share less fairly (Jain's index {mode.fairness:.3f} instead of "
            f"{ecn.fairness:.3f})"
        )
    beside = f"{title} beside {ecn.mode.title}"
    of = _onsets(ecn, mode)
    if not good and not bad:
        return f"{beside}: no difference here ({of})."
    if not good:
        return f"{beside}: not better here, for {_and(bad)} ({of})."
    but = f"; but {_and(bad)}" if bad else ""
    return f"{beside}: {_and(good)}{but} ({of})."


def _reaction(ecn: Measurement, mode: Measurement, good: list[str], bad: list[str]) -> None:
    if mode.reaction_ms is None and mode.pauses_ms:
        paused = median(mode.pauses_ms)
        later = ecn.reaction_ms is not None and paused > ecn.reaction_ms
        beside = "" if ecn.reaction_ms is None else (
            f" instead of slowing down after {ecn.reaction_ms:.1f} ms"
        )  # fmt: skip
        (bad if later else good).append(f"a sender is paused after {paused:.1f} ms{beside}")
    elif mode.reaction_ms is None:
        if ecn.reaction_ms is not None:
            bad.append("no sender cuts its rate for an onset")
    elif ecn.reaction_ms is None:
        good.append(f"a sender slows down after {mode.reaction_ms:.1f} ms instead of never")
    elif f"{mode.reaction_ms:.1f}" != f"{ecn.reaction_ms:.1f}":
        sooner = mode.reaction_ms < ecn.reaction_ms
        (good if sooner else bad).append(
            f"a sender slows down after {mode.reaction_ms:.1f} ms instead of "
            f"{ecn.reaction_ms:.1f} ms"
        )


def _onsets(ecn: Measurement, mode: Measurement) -> str:
    """What the numbers are of: onsets, and those of them for which a sender cut its rate."""
    count, of_ecn = len(mode.onsets), len(ecn.onsets)
    text = f"medians of {count} onsets" if count > 1 else "one onset"
    if of_ecn != count:
        text += f", {of_ecn} with {ecn.mode.title}"
    for each in (mode, ecn):
        if 0 < len(each.answers) < len(each.onsets):
            text += f"; {each.mode.title}: a rate cut for {len(each.answers)} of {len(each.onsets)}"
    return text


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
    pairs = _queue_pairs(mode)
    (least, least_cuts), (most, most_cuts) = pairs[0], pairs[-1]
    text = (
        f"Jain's index of queue pairs is {mode.fairness:.3f} with {title} and {ecn.fairness:.3f} "
        f"with {of_ecn}. The queue pair with least got {rate_text(least)} after "
        f"{cuts_text(least_cuts)}, the one with most {rate_text(most)} after {cuts_text(most_cuts)}"
    )
    if least_cuts.slowing <= most_cuts.slowing:
        return f"{text}: cuts are not what makes the difference."
    uneven, beside = _unevenness(mode), _unevenness(ecn)
    if mode.mode.notifies and beside < uneven < float("inf"):
        return (
            f"{text}. The most slowed one is slowed by {100 * uneven:.0f} % more than the least, "
            f"with {of_ecn} by {100 * beside:.0f} %: a switch tells each flow by the level that "
            "its packets find, a receiver tells all alike."
        )
    return f"{text}: who was slowed more got less."


def _queue_pairs(measured: Measurement) -> list[tuple[float, Cuts]]:
    """Goodput and cuts of each, in the order of goodput."""
    pairs = [
        each
        for sender, of_qps in measured.goodputs_bps.items()
        for each in zip(of_qps, measured.cuts[sender], strict=True)
    ]
    return sorted(pairs, key=lambda each: each[0])


def _unevenness(measured: Measurement) -> float:
    """By which part the most slowed queue pair is slowed more than the least."""
    slowing = [cuts.slowing for of_qps in measured.cuts.values() for cuts in of_qps]
    return max(slowing) / min(slowing) - 1 if min(slowing) else float("inf")
