"""A PE that translates Fast CNPs: one labelled flow per family, senders behind DC_PORT."""

from collections.abc import Mapping
from typing import ClassVar

from fcn.ptf_tests.lib.beds import (
    DOMAIN,
    HOST_V4,
    HOST_V6,
    P_ADDRESS,
    PE_ADDRESS,
    RED,
    REMOTE_V4,
    REMOTE_V6,
    PeTest,
    core_frame_in,
    host_frame_out,
)
from fcn.ptf_tests.lib.packets import cnp, fast_cnp
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT

DEST_QP = 0x118
"""The flows' DestQP, which is the receiver's queue pair."""
SOURCE_QP = 0x2A5
"""The sender's queue pair, where the CNP goes."""
LABEL_V4 = 0x80004
LABEL_V6 = 0xFFFF6
TRANSLATED = {"FAST_CNP_RECEIVED": 1, "CNP_SENT": 1}
RECEIVED = {"FAST_CNP_RECEIVED": 1}


def fast_cnp_frame(label: int, level: int = 3) -> bytes:
    """A valid Fast CNP from a P node, as received by the PE."""
    return core_frame_in(fast_cnp(P_ADDRESS, PE_ADDRESS, label, level))


def cnp_v4_frame(dest_qp: int = SOURCE_QP) -> bytes:
    """The CNP for the IPv4 sender (source address mode `peer`)."""
    return host_frame_out(cnp(REMOTE_V4, HOST_V4, dest_qp))


def cnp_v6_frame() -> bytes:
    """The CNP for the IPv6 sender (source address mode `peer`)."""
    return host_frame_out(cnp(REMOTE_V6, HOST_V6, SOURCE_QP))


class NotificationTest(PeTest):
    """Translation is enabled, the domain is trusted, both flows are labelled."""

    translated: ClassVar[Mapping[str, int]] = TRANSLATED
    """Events of a notification that becomes a CNP."""

    def configure(self) -> None:
        """In addition to the bed: profile, trust and the two flows."""
        super().configure()
        self.pe.enable_cnp()
        self.configure_trust()
        self.pe.notification_port()
        self.pe.flow(RED, HOST_V4, REMOTE_V4, DEST_QP, LABEL_V4)
        self.pe.flow(RED, HOST_V6, REMOTE_V6, DEST_QP, LABEL_V6)
        self.pe.label_to_cnp(LABEL_V4, RED, REMOTE_V4, HOST_V4, SOURCE_QP)
        self.pe.label_to_cnp(LABEL_V6, RED, REMOTE_V6, HOST_V6, SOURCE_QP)

    def configure_trust(self) -> None:
        """Accept notifications of the domain."""
        self.pe.trust(DOMAIN)

    def check_translated(self, frame: bytes, cnp_frame: bytes) -> None:
        """A notification's frame becomes this CNP for the sender, and nothing else happens."""
        self.check(CORE_PORT, frame, expect={DC_PORT: [cnp_frame]}, events=self.translated)
