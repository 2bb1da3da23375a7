"""What a reader of runs must not overlook, a line each."""

from collections.abc import Iterator, Mapping

from fcn.lab.report.amounts import show
from fcn.lab.result.analysis import NS_PER_S, final_counters
from fcn.lab.result.convergence import TOLERANCE, Settling, long_connections
from fcn.lab.result.model import Result

LEAST_LOSS = 0.001
"""Below this, goodput is the same."""

NOT_KEPT = {
    "FRAMES_LOST": "frames in captures or crossings",
    "NOTICES_LOST": "notices of hosts",
    "PAUSES_LOST": "PAUSE frames",
}
"""Events of the laboratory itself: what its memory had no room for."""


def remarks(results: Mapping[str, Result]) -> list[str]:
    """Runs that were not measured whole, whose connections failed or sent again what was not lost,
    that did not converge, and those with less goodput than end-to-end ECN beside them."""
    parts = _not_kept, _failed, _too_early, _unsettled, _below_ecn
    return [remark for part in parts for remark in part(results)]


def _not_kept(results: Mapping[str, Result]) -> Iterator[str]:
    for name, result in results.items():
        events = final_counters(result, "event")
        counts = dict(zip(events["name"], events["value"], strict=True))
        for event, what in NOT_KEPT.items():
            if event in counts:
                yield (
                    f"{name} lacks {counts[event]:,} {what}, for which there was no room: measure "
                    "fewer links, or with a smaller snap"
                )


def _failed(results: Mapping[str, Result]) -> Iterator[str]:
    for name, result in results.items():
        states = result.connections["state"]
        if failed := int((states == "failed").sum()):
            yield (
                f"{failed} of {len(states)} connections of {name} failed, and sent nothing more: "
                "they had more time-outs in a row than hosts.retries; hosts.timeout must be longer "
                "than a round trip with its queues"
            )


def _too_early(results: Mapping[str, Result]) -> Iterator[str]:
    """Time-outs where no receiver missed anything, and had all of it twice."""
    for name, result in results.items():
        found = result.connections
        early = found[
            (found["timeouts"] > 0)
            & (found["repeated"] > 0)
            & (found["naks"] + found["beyond_gap"] == 0)
        ]
        if len(early):
            again = int(early["repeated"].sum())
            yield (
                f"{len(early)} of {len(found)} connections of {name} sent {again:,} packets again "
                "that had arrived: hosts.timeout is shorter than their round trip"
            )


def _unsettled(results: Mapping[str, Result]) -> Iterator[str]:
    for name, result in results.items():
        found = long_connections(result)
        moved = [each for each in found if not each.settled]
        if not moved:
            continue
        most = max(moved, key=lambda each: abs(each.change))
        yield (
            f"{name} did not converge: from the third quarter of the time to the last, goodput of "
            f"{most.host} (connection {most.connection}) {_how(most)}; {len(moved)} of "
            f"{len(found)} long connections changed by more than {TOLERANCE:.0%} or got nothing"
        )


def _how(moved: Settling) -> str:
    if moved.third == moved.last == 0:
        return "remained nothing"
    if moved.third == 0:
        return "began"
    change = moved.last / moved.third - 1
    return f"{'rose' if change > 0 else 'fell'} by {abs(change):.0%}"


def _below_ecn(results: Mapping[str, Result]) -> Iterator[str]:
    """Beside the run of mode ecn of the same scenario and seed that lasted as long."""
    ecn = {
        _alike(each): (name, goodput_bps(each))
        for name, each in results.items()
        if each.about.mode == "ecn"
    }
    for name, result in results.items():
        beside = ecn.get(_alike(result))
        if beside is None or beside[0] == name:
            continue
        of_ecn, mine = beside[1], goodput_bps(result)
        if of_ecn and mine < of_ecn * (1 - LEAST_LOSS):
            yield (
                f"goodput of {name}, {show(mine, 'bps')}, is {1 - mine / of_ecn:.1%} below that of "
                f"{beside[0]}, {show(of_ecn, 'bps')}"
            )


def _alike(result: Result) -> tuple[str, str, int, int]:
    """The same in runs whose goodput can be compared: goodput is of the whole time of a run."""
    about = result.about
    return about.text, about.network_text, about.seed, about.reached_ns


def goodput_bps(result: Result) -> float:
    """Of all connections, over the time of the run."""
    seconds = result.about.reached_ns / NS_PER_S
    return int(result.connections["payload"].sum()) * 8 / seconds if seconds else 0.0
