"""What is wrong with the results of the modes, one by one and beside each other."""

from collections.abc import Iterator

from fcn.topologies.demo.measure import Measurement
from fcn.topologies.demo.plots import Results


def problems(results: Results) -> Iterator[str]:
    """Senders that were not told by whom they should be, or not earlier than with ECN alone unless
    the mode spares them; where neighbours hold, nobody who asked, held or paused."""
    ecn = results.get("ecn")
    for measured in results.values():
        if measured.mode.told_by == "ingress PE":
            yield from _told_by_pe(measured, ecn)
        elif measured.caused_by_pe:
            yield f"{measured.mode.title}: the ingress PE's CNPs caused first cuts"
        if measured.mode.holds:
            yield from _held(measured)


def _held(measured: Measurement) -> Iterator[str]:
    title = measured.mode.title
    if not measured.notices:
        yield f"{title}: the congested node asked no neighbour"
    if not measured.held:
        yield f"{title}: no packet was held"
    if not measured.pauses_ms:
        yield f"{title}: no sender was paused"


def _told_by_pe(measured: Measurement, ecn: Measurement | None) -> Iterator[str]:
    title = measured.mode.title
    if 2 * measured.caused_by_pe <= len(measured.congestions):
        yield f"{title}: most first cuts were not caused by the ingress PE's CNPs"
    reaction = measured.reaction_ms
    if reaction is None or ecn is None or ecn.reaction_ms is None or measured.mode.spares:
        return
    if reaction >= ecn.reaction_ms:
        yield (
            f"{title} is not faster than {ecn.mode.title}: {reaction:.2f} ms against "
            f"{ecn.reaction_ms:.2f} ms (medians)"
        )
