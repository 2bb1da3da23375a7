"""The key of a RoCE flow in the whole network."""

from dataclasses import dataclass

from fcn.controller.config.types import Address


@dataclass(frozen=True, slots=True)
class FlowKey:
    """{VRF, source IP, destination IP, destination QP} (FCN-2). `vrf` is the configured name."""

    vrf: str
    src: Address
    dst: Address
    dest_qp: int

    def __str__(self) -> str:
        return f"{self.vrf} {self.src} → {self.dst} QP {self.dest_qp:#x}"
