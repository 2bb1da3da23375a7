"""A labelled flow, and the interface of the PE that labels it."""

from dataclasses import dataclass, field
from typing import Protocol

from fcn.controller.flows.key import FlowKey
from fcn.controller.flows.provenance import CommIds, Origin

DEFAULT_P_KEY = 0xFFFF


@dataclass(frozen=True, slots=True)
class Flow:
    """A labelled flow on its ingress PE.

    `timeout` is in microseconds of silence (0: kept until removed), `since` in seconds since the
    epoch. Without `source_qp` the sender cannot be notified; `comm_ids` are those of its
    connection, where the handshake was seen. While `watched` the PE reports packets of the flow,
    from which its source may be inferred.
    """

    key: FlowKey
    node: str
    label: int
    timeout: int
    origin: Origin
    source_qp: int | None = None
    p_key: int = DEFAULT_P_KEY
    comm_ids: CommIds | None = None
    since: float = field(kw_only=True, compare=False)
    watched: bool = False


class Edge(Protocol):
    """An ingress PE."""

    @property
    def learning(self) -> bool:
        """Whether it reports flows and labels them (FCN-16)."""

    def heard_for(self) -> float:
        """Seconds since when its reports arrive without a gap; 0 while they do not."""

    def capacity(self, ip_version: int) -> int:
        """How many flows of an IP version it can label."""

    def install(self, flow: Flow, before: Flow | None = None) -> None:
        """Label the flow's packets, and translate notifications with its label; `before`: what was
        installed of it."""

    def remove(self, flow: Flow, successor: str | None = None) -> None:
        """Undo `install`; `successor`: the VRF of the flow that gets its place, and must not wait
        for others until it is free."""
