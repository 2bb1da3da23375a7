"""What a guest's kernel makes of the packets it gets, CNPs included.

A packet enters rxe_rcv only with valid IP and UDP headers and an address of the guest's, and
`rcvd_pkts` counts those whose queue pair exists, whose source is its peer and whose ICRC is valid.
Linux has no reaction to a CNP: it drops opcode 0x81 as one it does not know, before all of that.
The guest's own module (hosts/guest/rxe_cnp.c) leads CNPs through the same checks of the same
kernel, counts how far each gets, and has it dropped at the end as before.
"""

import re
from dataclasses import astuple, dataclass

from fcn.hosts.guest.image import EXTRA_MODULE
from fcn.topologies.guest_host import DEVICE, GuestHost

TRACING = "/sys/kernel/tracing"
COUNTERS = "/sys/module/rxe_cnp/parameters"
# An emulated guest takes its time to set a probe.
PROBE_TIMEOUT_S = 60.0
LOAD = f"""set -e
mount -t tracefs none {TRACING}
echo 'p:fcn_rcv rxe_rcv' >>{TRACING}/kprobe_events
echo 'hist:keys=common_type' >{TRACING}/events/kprobes/fcn_rcv/trigger
opcodes=$(awk '$3 == "rxe_opcode" {{ print $1 }}' /proc/kallsyms)
type_check=$(awk '$3 ~ /^check_type_state/ {{ print $3 }}' /proc/kallsyms)
insmod /{EXTRA_MODULE} opcodes=0x$opcodes type_check=$type_check
"""


@dataclass(frozen=True, slots=True)
class CnpChecks:
    """CNPs that entered rdma_rxe; whose DestQP its kernel found; whose queue pair's state and type,
    peer's address and P_Key were right; whose ICRC was valid. Each of those before it."""

    arrived: int = 0
    found: int = 0
    checked: int = 0
    valid: int = 0

    def __str__(self) -> str:
        return "/".join(map(str, astuple(self)))

    def since(self, earlier: "CnpChecks") -> "CnpChecks":
        """What came after `earlier`."""
        return CnpChecks(*(a - b for a, b in zip(astuple(self), astuple(earlier), strict=True)))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Packets that entered rdma_rxe, those it counted as received, and its checks on CNPs."""

    entered: int
    counted: int
    cnps: CnpChecks

    @property
    def dropped(self) -> int:
        """Packets that entered and were not taken."""
        return self.entered - self.counted

    def since(self, earlier: "Evidence") -> "Evidence":
        """What came after `earlier`."""
        return Evidence(
            self.entered - earlier.entered,
            self.counted - earlier.counted,
            self.cnps.since(earlier.cnps),
        )


def watch(host: GuestHost) -> Evidence:
    """Set probe and module; GuestError when the guest's kernel does not take them."""
    host.channel.run(LOAD, PROBE_TIMEOUT_S)
    return collect(host)


def collect(host: GuestHost) -> Evidence:
    """The numbers now."""
    (port,) = host.channel.json(f"rdma statistic show link {DEVICE}/1 -j")
    histogram = host.channel.run(f"cat {TRACING}/events/kprobes/fcn_rcv/hist")
    hits = re.search(r"Hits: (\d+)", histogram)
    return Evidence(int(hits[1]) if hits else 0, port["rcvd_pkts"], cnp_checks(host))


def cnp_checks(host: GuestHost) -> CnpChecks:
    """The module's counters now."""
    names = ("arrived", "found", "checked", "valid")
    values = host.channel.run(f"cd {COUNTERS}; cat {' '.join(names)}").split()
    return CnpChecks(*map(int, values))
