"""The modes of a domain: one key of the configuration each."""

from enum import StrEnum


class Notification(StrEnum):
    """How senders learn of congestion in the WAN.

    FCN: from the ingress PE, which a Fast CNP of the congested node tells the flow's label (FCN-9).
    END_CON: by a CNP that the congested node sends to the END.CON SID of the ingress PE (SRF-4).
    TWO_THRESHOLD: at light congestion the ingress PE treats the flow and the sender hears nothing,
    at heavy congestion as with FCN (PEC-1 to PEC-6).
    FANTEL: from the ingress PE, which messages of the congested node tell the path and the flow,
    and only while no other path of its policy is better (FAN-6).
    NONE: no node sends or translates a notification.
    """

    FCN = "fcn"
    END_CON = "end-con"
    TWO_THRESHOLD = "two-threshold"
    FANTEL = "fantel"
    NONE = "none"


class Treatment(StrEnum):
    """What the ingress PE does with a lightly congested flow (PEC-3). SLOW: packets beyond a rate
    are dropped. REROUTE: it takes the tunnel's `next` one. NONE: nothing."""

    SLOW = "slow"
    REROUTE = "reroute"
    NONE = "none"


class FlowControlMode(StrEnum):
    """What a congested node's neighbours stop for it (SRF-6).

    SERVICE: the five-tuple of the outer header. FLOW: that of the inner header, of UDP; what a
    tunnel hides is not stopped. PRIORITY: the class selector of the DSCP. OFF: nothing.
    """

    OFF = "off"
    SERVICE = "service"
    FLOW = "flow"
    PRIORITY = "priority"


class FantelTransport(StrEnum):
    """What FANTEL messages of P nodes are carried in: UDP (FAN-2) or ICMPv6 (FAN-3). PEs take
    both."""

    UDP = "udp"
    ICMPV6 = "icmpv6"


class Relief(StrEnum):
    """How an ingress PE asks a data centre to send less (SRF-8).

    PFC: PAUSE frames for the priority (IEEE 802.1Qbb). CNP: to the senders of what is held.
    """

    PFC = "pfc"
    CNP = "cnp"
