"""Digests of connection manager messages (FCN-3)."""

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any

from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6
from scapy.utils import rdpcap

from fcn.packets.cm import CmAttribute
from fcn.ptf_tests.lib.beds import HOST_V4, RED, RED_TUNNEL, REMOTE_V4, TO_REMOTE, host_frame_in
from fcn.ptf_tests.lib.captures import SOFTROCE
from fcn.ptf_tests.lib.cm import CmMessage, cm_message, parse_cm
from fcn.ptf_tests.lib.learning import LearningTest
from fcn.ptf_tests.lib.packets import datagram_of
from fcn.ptf_tests.lib.ports import CORE_PORT, DC_PORT


def as_digest(message: CmMessage, vrf: int = RED) -> tuple[str, dict[str, int]]:
    """The digest that reports a message."""
    return f"cm_ipv{ip_address(message.dst).version}_t", {
        "vrf": vrf,
        "src": int(ip_address(message.src)),
        "dst": int(ip_address(message.dst)),
        "local_comm_id": message.local_comm_id,
        "remote_comm_id": message.remote_comm_id,
        "qpn": message.qpn,
        "attribute_and_port": message.attribute << 9 | DC_PORT,
    }


class CmTest(LearningTest):
    """Compares digests with an independent decoder of the packets."""

    def check_reported(self, datagrams: Sequence[bytes]) -> None:
        """Every CM message among the datagrams is reported exactly once, in order per digest."""
        expected: list[tuple[str, dict[str, Any]]] = []
        for datagram in datagrams:
            message = parse_cm(datagram)
            if message is not None:
                expected.append(as_digest(message))
        reports = self.reports(DC_PORT, *(host_frame_in(datagram) for datagram in datagrams))
        for family in ("cm_ipv4_t", "cm_ipv6_t"):
            self.assertEqual(
                [fields for name, fields in reports if name == family],
                [fields for name, fields in expected if name == family],
            )


class EveryMessageIsReported(CmTest):
    """FCN-3: REQ, MRA, REJ, REP, RTU, DREQ and DREP over IPv4 and IPv6, with their QPNs."""

    def runTest(self) -> None:
        for number, attribute in enumerate(CmAttribute):
            for host, remote in TO_REMOTE:
                with self.subTest(attribute=attribute.name, remote=remote):
                    datagram = cm_message(
                        host,
                        remote,
                        attribute,
                        local_comm_id=0xA1B2C300 + number,
                        remote_comm_id=0 if attribute == CmAttribute.REQ else 0xF0E0D000 + number,
                        qpn=0x123456 + number,
                    )
                    self.check_reported([datagram])


class RealHandshakesAreReported(CmTest):
    """FCN-3: the handshakes of a real capture (rdma_cm over IPv4 and IPv6), both directions."""

    def configure(self) -> None:
        """Both hosts of the capture are behind the WAN, so one port sees all messages."""
        super().configure()
        for packet in rdpcap(str(SOFTROCE)):
            destination = packet[IP].dst if IP in packet else None
            destination = packet[IPv6].dst if IPv6 in packet else destination
            if destination and not ip_address(destination).is_multicast:
                self._destinations.add(destination)
        for address in sorted(self._destinations):
            prefix = f"{address}/{ip_address(address).max_prefixlen}"
            self.pe.route(RED, prefix, "to_tunnel", tunnel=RED_TUNNEL)

    def setUp(self) -> None:
        """Addresses of the capture's hosts are collected while configuring."""
        self._destinations: set[str] = set()
        super().setUp()

    def runTest(self) -> None:
        datagrams = [datagram_of(bytes(packet)) for packet in rdpcap(str(SOFTROCE))]
        messages = [
            d for d in datagrams if d[0] >> 4 in (4, 6) and len(d) > 300 and parse_cm(d) is not None
        ]
        kinds = {m.attribute for d in messages if (m := parse_cm(d))}
        self.assertLessEqual({CmAttribute.REQ, CmAttribute.REP, CmAttribute.RTU}, kinds)
        self.check_reported(messages)


class RepeatedMessageIsReportedOnce(CmTest):
    """FCN-3: retransmissions of one message within the window are one report."""

    def runTest(self) -> None:
        datagram = cm_message(HOST_V4, REMOTE_V4, CmAttribute.REQ, local_comm_id=5, qpn=0x11)
        reports = self.reports(DC_PORT, *[host_frame_in(datagram)] * 20)
        message = parse_cm(datagram)
        self.assertIsNotNone(message)
        self.assertEqual(reports, [as_digest(m) for m in [message] if m])


class OtherManagementClassesAreNotReported(CmTest):
    """FCN-3: a MAD of another class on QP1 is forwarded like any packet and not reported."""

    def runTest(self) -> None:
        before = self.counts()
        for host, remote in TO_REMOTE:
            datagram = cm_message(host, remote, 0x10, local_comm_id=5, qpn=1, mgmt_class=0x03)
            outcome = self.exchange(DC_PORT, host_frame_in(datagram))
            self.assertEqual(len(outcome.frames[CORE_PORT]), 1)
        self.assertEqual(self.growth(before), {})
