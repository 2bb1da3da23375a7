"""From Fast CNP to standard CNP, byte for byte (FCN-13)."""

from fcn.packets.icrc import icrc_valid
from fcn.packets.wire import FAST_CNP_PORT
from fcn.ptf_tests.lib.beds import (
    BLUE,
    BLUE_HOST_MAC,
    BLUE_VLAN,
    HOST_V4,
    HOST_V6,
    P_ADDRESS,
    PE_ADDRESS,
    RED,
    REMOTE_PE,
    REMOTE_V4,
    REMOTE_V6,
    PeTest,
    core_frame_in,
    core_frame_out,
    host_frame_out,
)
from fcn.ptf_tests.lib.notifications import (
    LABEL_V4,
    LABEL_V6,
    RECEIVED,
    SOURCE_QP,
    TRANSLATED,
    NotificationTest,
    cnp_v4_frame,
    cnp_v6_frame,
    fast_cnp_frame,
)
from fcn.ptf_tests.lib.packets import (
    IPV6_HEADER,
    cnp,
    datagram_of,
    fast_cnp,
    routed,
    udp_checksum_valid,
    with_udp_checksum,
)
from fcn.ptf_tests.lib.ports import CORE_PORT, CORE_PORT_2, DC_PORT
from fcn.ptf_tests.lib.vectors import CNP_VECTORS

VECTOR_LABEL = 0x8F00D


class KnownVectors(PeTest):
    """FCN-13: the three CNPs with known ICRC, met byte for byte from IP header to ICRC."""

    def runTest(self) -> None:
        self.pe.trust("fc00::/16")
        self.pe.notification_port()
        for number, vector in enumerate(CNP_VECTORS):
            with self.subTest(vector=vector.name):
                host_bits = 128 if ":" in vector.dst else 32
                label = VECTOR_LABEL + number
                self.route_to_host(RED, f"{vector.dst}/{host_bits}", DC_PORT, "02:de:00:00:00:01")
                self.pe.label_to_cnp(label, RED, vector.src, vector.dst, vector.dest_qp)
                self.pe.enable_cnp(
                    traffic_class=vector.traffic_class,
                    ttl=vector.ttl,
                    udp_src_port=vector.udp_src_port,
                    ipv4_id=vector.ipv4_id,
                )
                self.check(
                    CORE_PORT,
                    fast_cnp_frame(label),
                    expect={DC_PORT: [host_frame_out(vector.datagram)]},
                    events=TRANSLATED,
                )


class EverySenderGetsItsCnp(NotificationTest):
    """FCN-13: the label finds the flow's sender and its source QP, over IPv4 and IPv6."""

    def runTest(self) -> None:
        self.check(
            CORE_PORT,
            fast_cnp_frame(LABEL_V4),
            expect={DC_PORT: [cnp_v4_frame()]},
            events=TRANSLATED,
        )
        self.check(
            CORE_PORT,
            fast_cnp_frame(LABEL_V6),
            expect={DC_PORT: [cnp_v6_frame()]},
            events=TRANSLATED,
        )


class GeneratedCnpsAreValid(NotificationTest):
    """FCN-13: ICRC, IPv4 and UDP checksums hold for queue pairs and P_Keys of every kind."""

    def runTest(self) -> None:
        cases = ((0x000002, 0xFFFF), (0xFFFFFF, 0x8001), (0x800000, 0x0000), (0x123456, 0x7FFF))
        for number, (source_qp, p_key) in enumerate(cases):
            for base, peer, host in ((0x90000, REMOTE_V4, HOST_V4), (0xA0000, REMOTE_V6, HOST_V6)):
                with self.subTest(source_qp=hex(source_qp), p_key=hex(p_key), host=host):
                    label = base + number
                    self.pe.label_to_cnp(label, RED, peer, host, source_qp, p_key)
                    outcome = self.exchange(CORE_PORT, fast_cnp_frame(label))
                    (frame,) = outcome.frames[DC_PORT]
                    self.assertEqual(
                        frame.hex(), host_frame_out(cnp(peer, host, source_qp, p_key=p_key)).hex()
                    )
                    self.assertTrue(icrc_valid(datagram_of(frame)))
                    if ":" in host:
                        self.assertTrue(udp_checksum_valid(datagram_of(frame)))


class SourceAddressModes(NotificationTest):
    """FCN-13: the CNP's source is the PE's address or the flow's destination, as configured."""

    def runTest(self) -> None:
        for number, (source, host) in enumerate(
            (
                ("10.1.0.1", HOST_V4),
                (REMOTE_V4, HOST_V4),
                ("2001:db8:1::1", HOST_V6),
                (REMOTE_V6, HOST_V6),
            )
        ):
            label = 0x91000 + number
            self.pe.label_to_cnp(label, RED, source, host, SOURCE_QP)
            self.check(
                CORE_PORT,
                fast_cnp_frame(label),
                expect={DC_PORT: [host_frame_out(cnp(source, host, SOURCE_QP))]},
                events=TRANSLATED,
            )


class TaggedSenderGetsATaggedCnp(NotificationTest):
    """FCN-13: the CNP takes the route of the flow's VRF, tag included."""

    def runTest(self) -> None:
        for label, peer, host in ((0x92000, REMOTE_V4, HOST_V4), (0x92001, REMOTE_V6, HOST_V6)):
            self.pe.label_to_cnp(label, BLUE, peer, host, SOURCE_QP)
            expected = host_frame_out(
                cnp(peer, host, SOURCE_QP), vlan=BLUE_VLAN, host_mac=BLUE_HOST_MAC
            )
            self.check(
                CORE_PORT, fast_cnp_frame(label), expect={DC_PORT: [expected]}, events=TRANSLATED
            )


class LevelAndReservedBitsDoNotMatter(NotificationTest):
    """FCN-9, FCN-10: any level is translated; reserved bits are ignored on receipt."""

    def runTest(self) -> None:
        for level in range(8):
            for reserved in (0, 0x1FF, 0x0AA):
                frame = core_frame_in(
                    fast_cnp(
                        P_ADDRESS,
                        PE_ADDRESS,
                        LABEL_V4,
                        level,
                        reserved=reserved,
                        flow_label=LABEL_V6,
                        traffic_class=0xB8,
                        ttl=1,
                        sport=level,
                    )
                )
                self.check(CORE_PORT, frame, expect={DC_PORT: [cnp_v4_frame()]}, events=TRANSLATED)


class PaddedFastCnp(NotificationTest):
    """FCN-9: Ethernet padding behind a Fast CNP is no part of it, nor of the CNP."""

    def runTest(self) -> None:
        for padding in (1, 4, 200):
            self.check(
                CORE_PORT,
                fast_cnp_frame(LABEL_V4) + b"\xee" * padding,
                expect={DC_PORT: [cnp_v4_frame()]},
                events=TRANSLATED,
            )


class ConfigurablePort(NotificationTest):
    """FCN-9: the UDP port is configuration; on another port it is a packet for the controller."""

    def runTest(self) -> None:
        self.pe.notification_port(9999)
        for port in (FAST_CNP_PORT, 9999):
            frame = core_frame_in(fast_cnp(P_ADDRESS, PE_ADDRESS, LABEL_V4, dport=port))
            self.check(CORE_PORT, frame, expect={DC_PORT: [cnp_v4_frame()]}, events=TRANSLATED)
        frame = core_frame_in(fast_cnp(P_ADDRESS, PE_ADDRESS, LABEL_V4, dport=1022))
        self.check(CORE_PORT, frame, punts=[("UNDERLAY_LOCAL", frame)])


class ChecksumOfOnes(NotificationTest):
    """FCN-9: a Fast CNP whose UDP checksum computes to zero carries ones and is valid (RFC 768)."""

    def runTest(self) -> None:
        datagram = fast_cnp(P_ADDRESS, PE_ADDRESS, LABEL_V4, sport=0)
        checksum = int.from_bytes(datagram[IPV6_HEADER + 6 : IPV6_HEADER + 8], "big")
        datagram = fast_cnp(P_ADDRESS, PE_ADDRESS, LABEL_V4, sport=checksum)
        self.assertEqual(datagram[IPV6_HEADER + 6 : IPV6_HEADER + 8], b"\xff\xff")
        self.check(
            CORE_PORT,
            core_frame_in(datagram),
            expect={DC_PORT: [cnp_v4_frame()]},
            events=TRANSLATED,
        )


class UnknownLabels(NotificationTest):
    """FCN-13: label 0, an unknown label and entropy labels are counted, no CNP is sent."""

    def runTest(self) -> None:
        for label in (0, LABEL_V4 + 1, 0x00004, 0x7FFFF):
            with self.subTest(label=hex(label)):
                self.check(
                    CORE_PORT,
                    fast_cnp_frame(label),
                    drops={"LABEL_UNKNOWN": 1},
                    events=RECEIVED,
                )


class ReleasedLabel(NotificationTest):
    """FCN-4: once a mapping is removed its label is unknown."""

    def runTest(self) -> None:
        self.pe.delete("flow_by_label_ipv4", match={"flow_label": LABEL_V4})
        self.check(CORE_PORT, fast_cnp_frame(LABEL_V4), drops={"LABEL_UNKNOWN": 1}, events=RECEIVED)


class UnknownSourceQp(NotificationTest):
    """FCN-13: a flow whose source QP is not known is counted, no CNP is sent."""

    def runTest(self) -> None:
        for ip_version, label in ((4, 0x93000), (6, 0x93001)):
            self.pe.label_without_source_qp(label, ip_version)
            self.check(
                CORE_PORT,
                fast_cnp_frame(label),
                drops={"SOURCE_QP_UNKNOWN": 1},
                events=RECEIVED,
            )


class SenderWithoutRoute(NotificationTest):
    """FCN-13: a CNP nobody can deliver is dropped with the route's reason."""

    def runTest(self) -> None:
        self.pe.label_to_cnp(0x94000, RED, REMOTE_V4, "198.51.100.1", SOURCE_QP)
        self.check(CORE_PORT, fast_cnp_frame(0x94000), drops={"NO_ROUTE": 1}, events=RECEIVED)


class DisabledByDefault(PeTest):
    """FCN-16: a PE fresh from its program counts a Fast CNP and sends nothing."""

    def runTest(self) -> None:
        self.pe.trust("fc00::/16")
        self.pe.notification_port()
        self.pe.label_to_cnp(LABEL_V4, RED, REMOTE_V4, HOST_V4, SOURCE_QP)
        self.check(
            CORE_PORT, fast_cnp_frame(LABEL_V4), drops={"TRANSLATION_DISABLED": 1}, events=RECEIVED
        )


class SwitchedOffAgain(NotificationTest):
    """FCN-16: the feature is switched per node at run time."""

    def runTest(self) -> None:
        for _ in range(2):
            self.check(
                CORE_PORT,
                fast_cnp_frame(LABEL_V4),
                expect={DC_PORT: [cnp_v4_frame()]},
                events=TRANSLATED,
            )
            self.pe.domain_mode()
            self.check(
                CORE_PORT,
                fast_cnp_frame(LABEL_V4),
                drops={"TRANSLATION_DISABLED": 1},
                events=RECEIVED,
            )
            self.pe.enable_cnp()


class SenderBehindTheWan(NotificationTest):
    """FCN-13, FCN-5: a CNP whose sender is behind another PE goes there whole, in a tunnel."""

    def runTest(self) -> None:
        for label, remote, host in (
            (LABEL_V4 + 1, REMOTE_V4, HOST_V4),
            (LABEL_V6 + 1, REMOTE_V6, HOST_V6),
        ):
            self.pe.label_to_cnp(label, RED, host, remote, SOURCE_QP)
            outcome = self.exchange(CORE_PORT_2, core_frame_in(self.notice(label), CORE_PORT_2))
            (frame,) = outcome.frames.pop(CORE_PORT)
            self.assertEqual(outcome.frames, {})
            expected = cnp(host, remote, SOURCE_QP)
            outer = datagram_of(frame)
            self.assertEqual(outer[IPV6_HEADER:].hex(), expected.hex())
            self.assertEqual(int.from_bytes(outer[4:6], "big"), len(expected))

    @staticmethod
    def notice(label: int) -> bytes:
        """A Fast CNP for this PE."""
        return fast_cnp(P_ADDRESS, PE_ADDRESS, label, 3)


class FastCnpForAnotherPeIsForwarded(NotificationTest):
    """FCN-9: a Fast CNP to another PE is transit, unchanged but for its hop limit."""

    def runTest(self) -> None:
        datagram = fast_cnp(P_ADDRESS, REMOTE_PE, LABEL_V4)
        self.check(
            CORE_PORT_2,
            core_frame_in(datagram, CORE_PORT_2),
            expect={CORE_PORT: [core_frame_out(routed(datagram))]},
        )


class MalformedFastCnps(NotificationTest):
    """FCN-9: UDP lengths 11 and 13, lying lengths and bad checksums are counted, never answered."""

    def runTest(self) -> None:
        good = fast_cnp(P_ADDRESS, PE_ADDRESS, LABEL_V4)
        udp_length = IPV6_HEADER + 4
        cases = {
            "UDP length 11": _resized(good, 11),
            "UDP length 13": _resized(good + b"\0", 13),
            "UDP length 8": _resized(good, 8),
            "UDP length 0": good[:udp_length] + b"\0\0" + good[udp_length + 2 :],
            "UDP length 11 in 12": good[:udp_length] + b"\0\x0b" + good[udp_length + 2 :],
            "UDP length 13 in 12": good[:udp_length] + b"\0\x0d" + good[udp_length + 2 :],
            "payload length 13 for UDP 12": good[:4] + b"\0\x0d" + good[6:] + b"\0",
            "no checksum": with_udp_checksum(good, 0),
            "wrong checksum": with_udp_checksum(good, 0x1234),
        }
        for what, datagram in cases.items():
            with self.subTest(what=what):
                self.check(CORE_PORT, core_frame_in(datagram), drops={"NOTIFICATION_MALFORMED": 1})


def _resized(fast_cnp_datagram: bytes, udp_length: int) -> bytes:
    """A Fast CNP cut or stretched to a UDP length, all lengths and the checksum agreeing."""
    out = bytearray(fast_cnp_datagram[: IPV6_HEADER + udp_length])
    out[4:6] = out[IPV6_HEADER + 4 : IPV6_HEADER + 6] = udp_length.to_bytes(2, "big")
    return with_udp_checksum(bytes(out))
