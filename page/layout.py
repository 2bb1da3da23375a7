"""Where the places of a picture are: distances on paper follow hops (stress majorization, Gansner,
Koren and North, Graph Drawing by Stress Majorization, 2004)."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from fcn.contract.hops import hops_from

ROUNDS = 60
"""Of the majorization; 600 places take some seconds, once."""

TALLEST = 0.5
FLATTEST = 0.14
"""Heights of a picture whose width is 1."""

Point = tuple[float, float]
Edge = tuple[str, str]
Reals = NDArray[np.float64]


def neighbours(names: Iterable[str], edges: Iterable[Edge]) -> dict[str, list[str]]:
    """Who is next to whom, in a fixed order."""
    found: dict[str, list[str]] = {name: [] for name in names}
    for near, far in edges:
        for a, b in ((near, far), (far, near)):
            if b not in found[a]:
                found[a].append(b)
    return found


def layout(names: Sequence[str], edges: Sequence[Edge]) -> tuple[dict[str, Point], float]:
    """A point for each name, x from 0 to 1, and the height of the picture. The same for the same
    network."""
    near = neighbours(names, edges)
    hops = {name: hops_from(name, near.__getitem__) for name in names}
    longest = max((max(each.values()) for each in hops.values()), default=0)
    apart = np.array([[hops[a].get(b, longest + 1) for b in names] for a in names], float)
    # Of itself the distance is 0, and the weight.
    weight = np.divide(1.0, apart**2, out=np.zeros_like(apart), where=apart > 0)
    points = np.array(_start(names, hops))
    for _ in range(ROUNDS if len(names) > 2 else 0):
        points = _round(points, apart, weight)
    found = [(float(x), float(y)) for x, y in points]
    return _fitted(dict(zip(names, found, strict=True)))


def _start(names: Sequence[str], hops: Mapping[str, Mapping[str, int]]) -> list[Point]:
    """From an end of the network to the other, side by side where as many hops from it."""
    end = max(names, key=lambda name: max(hops[name].values()))
    taken: dict[int, int] = {}
    points = []
    for name in names:
        column = hops[end].get(name, -1)
        row = taken[column] = taken.get(column, 0) + 1
        points.append((float(column), (row // 2) * (-1.0 if row % 2 else 1.0)))
    return points


def _round(points: Reals, apart: Reals, weight: Reals) -> Reals:
    """Each where the others, each at its distance from it, would have it on average."""
    x, y = points.T
    far = np.hypot(x[:, None] - x, y[:, None] - y)
    stretched = weight * apart / np.where(far > 0, far, 1.0)
    moved: Reals = (weight - stretched) @ points + stretched.sum(1)[:, None] * points
    moved /= weight.sum(1)[:, None]
    return moved


def _fitted(points: Mapping[str, Point]) -> tuple[dict[str, Point], float]:
    """Within the width of 1; turned where it would be taller than wide, and flattened."""
    across, along = ([point[axis] for point in points.values()] for axis in (0, 1))
    if max(along) - min(along) > max(across) - min(across):
        turned = {name: (y, x) for name, (x, y) in points.items()}
        return _fitted(turned)
    left, low = min(across), min(along)
    width, height = max(across) - left, max(along) - low
    tall = min(max(height / width, FLATTEST), TALLEST) if width else FLATTEST
    return (
        {
            name: (
                (x - left) / width if width else 0.5,
                # What is less than a hop high is a line.
                (y - low) / height * tall if height > width / 100 else tall / 2,
            )
            for name, (x, y) in points.items()
        },
        tall,
    )
