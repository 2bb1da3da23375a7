"""The features that can be enabled on a node (FCN-16); all are off by default."""

from collections.abc import Collection
from enum import StrEnum
from typing import Literal

Role = Literal["pe", "p"]


class Feature(StrEnum):
    """A part of fast congestion notification.

    LEARNING: a PE reports new flows and connection set-ups, and flows get labels (FCN-2, FCN-3).
    TRANSLATION: a PE answers a Fast CNP with a CNP to the flow's sender (FCN-13).
    NOTIFICATION: a node sends notifications when its own queue is congested: a P node a Fast CNP, a
    PE a CNP to its own senders, and a Fast CNP to other PEs (FCN-9, FCN-12, FCN-18).
    """

    LEARNING = "learning"
    TRANSLATION = "translation"
    NOTIFICATION = "notification"


ROLE_FEATURES: dict[Role, frozenset[Feature]] = {
    "pe": frozenset(Feature),
    "p": frozenset({Feature.NOTIFICATION}),
}
"""The features that apply to a node of each role."""


def feature_names(features: Collection[Feature]) -> list[str]:
    """The names of features, always in the same order."""
    return [feature.value for feature in Feature if feature in features]


def parse_features(names: Collection[str], role: Role) -> frozenset[Feature]:
    """Features by name. Raises ValueError for a name that does not apply to a node of this role."""
    known = ROLE_FEATURES[role]
    choice = ", ".join(feature_names(known))
    for name in names:
        if name not in set(Feature):
            raise ValueError(f"there is no feature {name!r}; a {role} node has: {choice}")
        if name not in known:
            raise ValueError(f"{name} does not apply to a {role} node, which has: {choice}")
    return frozenset(map(Feature, names))
