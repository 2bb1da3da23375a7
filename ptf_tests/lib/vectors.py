"""CNPs with a known ICRC, confirmed by two independent implementations; one is from a real NIC."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CnpVector:
    """A CNP datagram, from its IP header, and the fields a PE needs to generate it (FCN-13)."""

    name: str
    src: str
    dst: str
    dest_qp: int
    traffic_class: int
    ttl: int
    udp_src_port: int
    ipv4_id: int
    datagram: bytes


CNP_VECTORS = (
    CnpVector(
        name="ipv4",
        src="10.1.0.1",
        dst="10.0.0.10",
        dest_qp=0x118,
        traffic_class=0xC0,
        ttl=64,
        udp_src_port=0xC000,
        ipv4_id=0,
        datagram=bytes.fromhex(
            "45c0003c00004000401125e60a0100010a00000ac00012b7002800008100ffff4000011800000000"
            "0000000000000000000000000000000034587210"
        ),
    ),
    CnpVector(
        name="ipv6",
        src="2001:db8:1::1",
        dst="2001:db8:2::10",
        dest_qp=0x118,
        traffic_class=0xC0,
        ttl=64,
        udp_src_port=0xC000,
        ipv4_id=0,
        datagram=bytes.fromhex(
            "6c0000000028114020010db800010000000000000000000120010db8000200000000000000000010"
            "c00012b700285b8a8100ffff400001180000000000000000000000000000000000000000e73bcc81"
        ),
    ),
    CnpVector(
        name="connectx4",
        src="10.0.17.1",
        dst="10.0.18.1",
        dest_qp=0x118,
        traffic_class=0xC2,
        ttl=64,
        udp_src_port=0,
        ipv4_id=0x718C,
        datagram=bytes.fromhex(
            "45c2003c718c4000401191610a0011010a001201000012b7002800008100ffff4000011800000000"
            "0000000000000000000000000000000082fd002a"
        ),
    ),
)
