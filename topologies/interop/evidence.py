"""What a guest's kernel made of the packets it got, CNPs included.

rdma_rxe has no reaction to a CNP: Debian's 6.1 kernel drops opcode 0x81 without a word as one it
does not know, before it would look at queue pair and ICRC. What its numbers do show: a packet
enters rxe_rcv only with valid IP and UDP headers and an address of the guest's, and `rcvd_pkts`
counts those whose queue pair exists, whose source is its peer and whose ICRC is valid. So all
packets but the CNPs must be counted, and all CNPs must have entered.
"""

import re
from dataclasses import dataclass

from topologies.guest.host import DEVICE, GuestHost

TRACING = "/sys/kernel/tracing"
# An emulated guest takes its time to set a probe.
PROBE_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """Packets that entered rdma_rxe, and those it counted as received."""

    entered: int
    counted: int

    @property
    def dropped(self) -> int:
        """Packets that entered and were not taken."""
        return self.entered - self.counted

    def since(self, earlier: "Evidence") -> "Evidence":
        """What came after `earlier`."""
        return Evidence(self.entered - earlier.entered, self.counted - earlier.counted)


def watch(host: GuestHost) -> Evidence:
    """Set the probe; GuestError when the guest's kernel does not take it."""
    host.channel.run(
        f"set -e; mount -t tracefs none {TRACING} 2>/dev/null || true; cd {TRACING}\n"
        "echo 'p:fcn_rcv rxe_rcv' >>kprobe_events\n"
        "echo 'hist:keys=common_type' >events/kprobes/fcn_rcv/trigger\n",
        PROBE_TIMEOUT_S,
    )
    return collect(host)


def collect(host: GuestHost) -> Evidence:
    """The numbers now."""
    (port,) = host.channel.json(f"rdma statistic show link {DEVICE}/1 -j")
    histogram = host.channel.run(f"cat {TRACING}/events/kprobes/fcn_rcv/hist")
    hits = re.search(r"Hits: (\d+)", histogram)
    return Evidence(int(hits[1]) if hits else 0, port["rcvd_pkts"])
