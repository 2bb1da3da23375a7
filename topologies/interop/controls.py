"""Control experiment: valid and invalid test CNPs to a queue pair of the guest.

It shows that the kernel's checks, which every CNP of the network passes, reject invalid CNPs.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from fcn.hosts.processes import wait_until
from fcn.packets.roce import BTH, CNP_RESERVED, ROCEV2_PORT, Opcode
from fcn.topologies.guest_host import GuestHost
from fcn.topologies.interop.evidence import CnpChecks, cnp_checks
from fcn.topologies.interop.execution import connected, ended, start
from fcn.topologies.interop.sniffer import packet_socket
from fcn.topologies.interop.transfers import ENDLESS, rping

UDP_PORT = 0xC000
UNUSED_QP = 0xFFFFFE
ARRIVAL_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Control:
    """A test CNP: the checks it should pass, and those it passed."""

    what: str
    expected: CnpChecks
    seen: CnpChecks

    @property
    def holds(self) -> bool:
        return self.expected == self.seen


def controls(near: GuestHost, far: GuestHost) -> tuple[Control, ...]:
    """Send CNPs on the TAP of `near` to a queue pair that is connected to `far` meanwhile.

    The connection is of rping, whose packets are Not-ECT, so the network itself sends no CNP.
    """
    found: list[Control] = []
    for family in (4, 6):
        client, server = start(near, far, rping(family, far.address(family), ENDLESS))
        dest_qp, _ = connected(near, client)
        found += _offer_all(near, far, family, dest_qp)
        for host, number in ((near, client), (far, server)):
            ended(host, number, time.monotonic())
    return tuple(found)


def _offer_all(near: GuestHost, far: GuestHost, family: int, dest_qp: int) -> Iterator[Control]:
    peer, guest = far.address(family), near.address(family)
    stranger = str(ip_address(peer) + 1)
    right = cnp(peer, guest, dest_qp)
    wrong = int.from_bytes(right[-4:]) ^ 1
    for what, datagram, expected in (
        ("right", right, CnpChecks(1, 1, 1, 1)),
        ("wrong ICRC", cnp(peer, guest, dest_qp, wrong), CnpChecks(1, 1, 1, 0)),
        ("not from the peer", cnp(stranger, guest, dest_qp), CnpChecks(1, 1, 0, 0)),
        ("no such queue pair", cnp(peer, guest, UNUSED_QP), CnpChecks(1, 0, 0, 0)),
    ):
        yield Control(f"{what}, IPv{family}", expected, _offer(near, datagram))


def cnp(src: str, dst: str, dest_qp: int, icrc: int | None = None) -> bytes:
    """A standard CNP as a datagram, with a valid ICRC when none is given."""
    header = IPv6 if ":" in dst else IP
    transport = UDP(sport=UDP_PORT, dport=ROCEV2_PORT)
    bth = BTH(opcode=Opcode.CNP, becn=1, dqpn=dest_qp, icrc=icrc)
    return bytes(header(src=src, dst=dst) / transport / bth / Raw(CNP_RESERVED))


def _offer(host: GuestHost, datagram: bytes) -> CnpChecks:
    before = cnp_checks(host)
    kind = 0x86DD if datagram[0] >> 4 == 6 else 0x0800
    with packet_socket(host.pid) as tap:
        tap.send(bytes(Ether(dst=host.mac, src="02:00:00:00:00:01", type=kind)) + datagram)
    wait_until(
        lambda: cnp_checks(host).arrived > before.arrived,
        ARRIVAL_TIMEOUT_S,
        f"{host.name} got no CNP from its TAP",
    )
    return cnp_checks(host).since(before)
