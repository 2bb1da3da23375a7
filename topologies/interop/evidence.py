"""Counters of a guest's kernel: packets received, and CNPs that pass its checks.

A packet enters rxe_rcv only with valid IP and UDP headers and an address of the guest, and
`rcvd_pkts` counts those whose queue pair exists, whose source is its peer and whose ICRC is valid.
Linux does not react to CNPs: it drops opcode 0x81 as unknown, before these checks. The guest's
additional module (hosts/guest/rxe_cnp.c) applies the same kernel's checks to CNPs, counts those
that pass each, and they are dropped at the end as before.
"""

import re
from dataclasses import astuple, dataclass

from fcn.hosts.guest.image import EXTRA_MODULE
from fcn.topologies.guest_host import DEVICE, GuestHost

TRACING = "/sys/kernel/tracing"
COUNTERS = "/sys/module/rxe_cnp/parameters"
# Setting a kprobe takes long in an emulated guest.
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
    """CNPs that entered rdma_rxe; of these, those whose DestQP the kernel found; of these, those
    with correct state and type of the queue pair, peer address and P_Key; of these, with a valid
    ICRC."""

    arrived: int = 0
    found: int = 0
    checked: int = 0
    valid: int = 0

    def __str__(self) -> str:
        return "/".join(map(str, astuple(self)))

    def since(self, earlier: "CnpChecks") -> "CnpChecks":
        return CnpChecks(*(a - b for a, b in zip(astuple(self), astuple(earlier), strict=True)))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Packets that entered rdma_rxe, those it counted as received, and its checks on CNPs."""

    entered: int
    counted: int
    cnps: CnpChecks

    @property
    def dropped(self) -> int:
        """Packets that entered rdma_rxe and were not accepted."""
        return self.entered - self.counted

    def since(self, earlier: "Evidence") -> "Evidence":
        return Evidence(
            self.entered - earlier.entered,
            self.counted - earlier.counted,
            self.cnps.since(earlier.cnps),
        )


def watch(host: GuestHost) -> Evidence:
    """Set up the kprobe and load the module; GuestError when the guest's kernel refuses."""
    host.channel.run(LOAD, PROBE_TIMEOUT_S)
    return collect(host)


def collect(host: GuestHost) -> Evidence:
    """The current counters."""
    (port,) = host.channel.json(f"rdma statistic show link {DEVICE}/1 -j")
    histogram = host.channel.run(f"cat {TRACING}/events/kprobes/fcn_rcv/hist")
    hits = re.search(r"Hits: (\d+)", histogram)
    return Evidence(int(hits[1]) if hits else 0, port["rcvd_pkts"], cnp_checks(host))


def cnp_checks(host: GuestHost) -> CnpChecks:
    """The current counters of the module."""
    names = ("arrived", "found", "checked", "valid")
    values = host.channel.run(f"cd {COUNTERS}; cat {' '.join(names)}").split()
    return CnpChecks(*map(int, values))
