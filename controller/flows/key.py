"""The key of a RoCE flow in the whole network."""

from dataclasses import dataclass, field

from fcn.controller.config.notation import Address

FIRST_DATA_QP = 2
"""Queue pairs 0 and 1 are for management (IBTA volume 1, 10.2.4.3)."""


@dataclass(frozen=True, slots=True)
class FlowKey:
    """{VRF, source IP, destination IP, destination QP} (FCN-2). `vrf` is the configured name."""

    vrf: str
    src: Address
    dst: Address
    dest_qp: int
    _hash: int = field(init=False, repr=False, compare=False)
    """Computed once: keys are looked up again and again, and hashing an address is slow."""

    def __post_init__(self) -> None:
        value = hash((self.vrf, int(self.src), int(self.dst), self.dest_qp))
        object.__setattr__(self, "_hash", value)

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        return f"{self.vrf} {self.src} → {self.dst} QP {self.dest_qp:#x}"


HostPairKey = tuple[str, Address, Address]
"""VRF and both addresses, the lower first: the same for both directions."""


def is_forth(flow: FlowKey) -> bool:
    """Whether the source is the lower of both addresses."""
    return int(flow.src) <= int(flow.dst)


def host_pair(flow: FlowKey) -> HostPairKey:
    low, high = (flow.src, flow.dst) if is_forth(flow) else (flow.dst, flow.src)
    return flow.vrf, low, high
