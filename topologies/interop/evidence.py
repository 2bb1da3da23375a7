"""What a guest's kernel made of CNPs, from probes on two functions of rdma_rxe.

Debian's 6.1 kernel counts neither an ICRC error nor a packet for no queue pair, and logs neither.
It looks the destination QP up (rxe_pool_get_index), then refuses an opcode that is not of the QP's
type (check_type_state) before it would check the ICRC. So: lookups that found nothing are CNPs to a
QP that does not exist, refusals are CNPs that named one that does.
"""

import re
from dataclasses import dataclass

from topologies.guest.host import GuestHost

TRACING = "/sys/kernel/tracing"
PROBES = {"lookup": ("rxe_pool_get_index", "x64"), "type": ("check_type_state", "s32")}
REFUSED = -22  # EINVAL
# An emulated guest takes its time to print its whole symbol table.
PROBE_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """Packets since `watch`: to no queue pair, and to one that is not of the opcode's type."""

    no_queue_pair: int
    refused_by_type: int


def watch(host: GuestHost) -> None:
    """Set the probes; GuestError when the guest's kernel does not take them."""
    script = f"set -e; mount -t tracefs none {TRACING} 2>/dev/null || true; cd {TRACING}\n"
    for name, (function, width) in PROBES.items():
        script += (
            # The compiler may have given a static function a suffix.
            f"symbol=$(grep -o ' {function}[^[:space:]]*' /proc/kallsyms | head -n 1)\n"
            f'echo "r:fcn_{name} $symbol ret=\\$retval:{width}" >>kprobe_events\n'
        )
    script += (
        "echo 'hist:keys=ret if ret==0' >events/kprobes/fcn_lookup/trigger\n"
        "echo 'hist:keys=ret' >events/kprobes/fcn_type/trigger\n"
    )
    host.channel.run(script, PROBE_TIMEOUT_S)


def collect(host: GuestHost) -> Evidence:
    """Counts since `watch`."""
    counts = {}
    for name in PROBES:
        text = host.channel.run(f"cat {TRACING}/events/kprobes/fcn_{name}/hist")
        found = re.findall(r"ret:\s*(-?\w+)\s*\} hitcount:\s*(\d+)", text)
        counts[name] = {_signed(value): int(number) for value, number in found}
    return Evidence(counts["lookup"].get(0, 0), counts["type"].get(REFUSED, 0))


def _signed(value: str) -> int:
    """A 32-bit return value, printed as signed, unsigned or hexadecimal."""
    bits = int(value, 0) & 0xFFFFFFFF
    return bits - (1 << 32) if bits >> 31 else bits
