"""A labelled flow, and the interface of the PE that labels it."""

import time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from fcn.controller.flows.key import FlowKey

DEFAULT_P_KEY = 0xFFFF


class Origin(StrEnum):
    """Source of the information about a flow."""

    DATA = "data"
    CM = "cm"
    INFERRED = "inferred"
    AGENT = "agent"
    MANUAL = "manual"
    RESTORED = "restored"


@dataclass(frozen=True, slots=True)
class Flow:
    """A labelled flow on its ingress PE.

    `timeout`: microseconds without a packet after which the label is released (0: never); `since`:
    seconds since the epoch. Without `source_qp` the sender cannot be notified; while `watched`, the
    PE reports packets of the flow, from which its source QP can be inferred.
    """

    key: FlowKey
    node: str
    label: int
    timeout: int
    origin: Origin
    source_qp: int | None = None
    p_key: int = DEFAULT_P_KEY
    since: float = field(default_factory=time.time)
    watched: bool = False


class Edge(Protocol):
    """An ingress PE."""

    @property
    def learning(self) -> bool:
        """Whether it reports flows and labels them (FCN-16)."""

    def capacity(self, ip_version: int) -> int:
        """How many flows of an IP version it can label."""

    def install(self, flow: Flow) -> None:
        """Label the flow's packets, and translate notifications with its label."""

    def remove(self, flow: Flow) -> None:
        """Undo `install`."""
