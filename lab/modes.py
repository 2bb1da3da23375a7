"""What the switches of a scenario do about congestion."""

from typing import Literal

from fcn.controller.config.modes import FlowControlMode, Notification

Mode = Literal[
    "none", "ecn", "fcn", "end-con", "two-threshold", "fantel", "service", "flow", "priority"
]
"""none: nothing is marked and nobody notified. ecn: switches mark CE, receivers send CNPs. fcn:
switches notify as well (Fast CNPs). end-con: with CNPs by way of END.CON in place of Fast CNPs
(SRF-4). two-threshold: queues have two thresholds and marking curves, and ingress PEs treat lightly
congested flows (PEC-1 to PEC-6). fantel: with FANTEL messages about paths in place of Fast CNPs;
the ingress PE leaves the path, or tells a sender where none is better (FAN-6). service, flow,
priority: nothing is marked and no sender notified; the upstream neighbours of a congested node hold
tunnels by their outer five-tuple, flows by the inner one, or traffic classes (SRF-5 to SRF-8)."""

NOTIFICATIONS = {each.value: each for each in Notification if each is not Notification.NONE}
"""The modes in which switches notify, with the controller's name."""

FLOW_CONTROL = {each.value: each for each in FlowControlMode if each is not FlowControlMode.OFF}
"""The modes of precise flow control, with the controller's name."""
