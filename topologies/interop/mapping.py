"""The guests' queue pairs against the controller's mapping (FCN-3)."""

from dataclasses import dataclass

from fcn.topologies.api import topology_client
from fcn.topologies.guest_host import GuestHost


@dataclass(frozen=True, slots=True, order=True)
class Pair:
    """One direction of a connection; `source_qp` is None when the controller does not know it."""

    src: str
    dst: str
    source_qp: int | None
    dest_qp: int

    def __str__(self) -> str:
        return f"{self.src} QP {self.source_qp} -> {self.dst} QP {self.dest_qp}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the guests report and what the controller has, at about the same time."""

    reported: frozenset[Pair]
    mapped: frozenset[Pair]

    @property
    def right(self) -> frozenset[Pair]:
        return self.reported & self.mapped

    @property
    def unknown(self) -> frozenset[Pair]:
        """Reported pairs that have a label but no source QP."""
        keys = {(each.src, each.dst, each.dest_qp) for each in self.mapped if not each.source_qp}
        return frozenset(
            each for each in self.reported if (each.src, each.dst, each.dest_qp) in keys
        )

    @property
    def missing(self) -> frozenset[Pair]:
        """Reported pairs that are neither right nor unknown."""
        return self.reported - self.right - self.unknown

    @property
    def wrong(self) -> frozenset[Pair]:
        """Mapped to a source QP other than the one that sends to this destination QP."""
        truth = {(each.src, each.dst, each.dest_qp): each.source_qp for each in self.reported}
        return frozenset(
            each
            for each in self.mapped
            if each.source_qp
            and (each.src, each.dst, each.dest_qp) in truth
            and truth[(each.src, each.dst, each.dest_qp)] != each.source_qp
        )

    @property
    def surplus(self) -> frozenset[Pair]:
        """Mapped pairs whose queue pair no guest has."""
        truth = {(each.src, each.dst, each.dest_qp) for each in self.reported}
        return frozenset(
            each for each in self.mapped if (each.src, each.dst, each.dest_qp) not in truth
        )

    def sources(self, address: str) -> set[int]:
        """Queue pairs reported by the guest with this address."""
        return {
            each.source_qp
            for each in self.reported
            if each.src == address and each.source_qp is not None
        }

    @property
    def exact(self) -> bool:
        """The mapping has exactly the reported pairs."""
        return self.reported == self.mapped


def reported(near: GuestHost, far: GuestHost, family: int) -> frozenset[Pair]:
    """Both guests' connected queue pairs as directions of flows."""
    pairs = set()
    for here, there in ((near, far), (far, near)):
        src, dst = here.address(family), there.address(family)
        pairs |= {Pair(src, dst, own, peer) for own, peer in here.queue_pairs()}
    return frozenset(pairs)


def mapped() -> frozenset[Pair]:
    """All flows the controller knows, those without a label included."""
    with topology_client() as client:
        return frozenset(
            Pair(
                flow.key.src,
                flow.key.dst,
                flow.source_qp if flow.HasField("source_qp") else None,
                flow.key.dest_qp,
            )
            for flow in client.flows(unlabelled=True)
        )


def compare(near: GuestHost, far: GuestHost, family: int) -> Comparison:
    """Compare both sides now."""
    return Comparison(reported(near, far, family), mapped())
