"""The queue of BMv2's parking port, through which held packets come round (SRF-7).

A queue that is shorter than what a node may hold loses packets. A slow one keeps them longer, a
fast one takes packets per second from all other traffic: BMv2 has one thread for ingress.
"""

from fcn.contract.targets import V1MODEL

RATE = 2_000
"""Packets per second."""


def depth_for(packets: int) -> int:
    """How many packets the queue has to hold where a node holds so many, and a tenth to spare."""
    return packets + -(-packets // 10)


def bmv2_commands(packets: int) -> tuple[str, ...]:
    """What simple_switch_CLI is told where a node holds so many packets."""
    port = V1MODEL.ports.parking
    return f"set_queue_depth {depth_for(packets)} {port}", f"set_queue_rate {RATE} {port}"
