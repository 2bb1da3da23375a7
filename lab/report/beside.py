"""Several runs in one picture, one above the other: each place is called by its run, too."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from fcn.page.model import Flows, Frame, Picture

GAP = 0.15
"""Between two, of the width."""


def picture_beside(pictures: Mapping[str, Picture]) -> Picture:
    """One picture with all."""
    if len(pictures) == 1:
        return next(iter(pictures.values()))
    places, lines, height = [], [], -GAP
    for run, picture in pictures.items():
        height += GAP
        places += [
            replace(each, name=_name(run, each.name), y=each.y + height) for each in picture.places
        ]
        for line in picture.lines:
            near, far = line.ends
            lines.append(replace(line, ends=(_name(run, near), _name(run, far))))
        height += picture.height
    return replace(picture, places=tuple(places), lines=tuple(lines), height=height)


def frames_beside(frames: Mapping[str, Iterable[Frame]]) -> Iterator[Frame]:
    """Frames with all of each moment."""
    if len(frames) == 1:
        yield from next(iter(frames.values()))
        return
    for moment in zip(*frames.values(), strict=True):
        views = list(zip(frames, moment, strict=True))
        yield Frame(
            moment[0].time,
            notification=" / ".join(frame.notification for frame in moment),
            nodes=tuple(
                replace(node, name=_name(run, node.name))
                for run, frame in views
                for node in frame.nodes
            ),
            lines=tuple(line for frame in moment for line in frame.lines),
            travels=tuple(
                replace(travel, route=tuple(_name(run, each) for each in travel.route), run=number)
                for number, (run, frame) in enumerate(views)
                for travel in frame.travels
            ),
            events=tuple(
                replace(event, message=_name(run, event.message))
                for run, frame in views
                for event in frame.events
            ),
        )


def flows_beside(flows: Mapping[str, Flows]) -> Flows:
    """All flows in one list, those with most CNPs first."""
    if len(flows) == 1:
        return next(iter(flows.values()))
    rows = [
        replace(row, source=_name(run, row.source), destination=_name(run, row.destination))
        for run, each in flows.items()
        for row in each.rows
    ]
    rows.sort(key=lambda row: -row.notifications)
    return Flows(0.0, sum(each.total for each in flows.values()), tuple(rows))


def _name(run: str, name: str) -> str:
    return f"{run}: {name}"
