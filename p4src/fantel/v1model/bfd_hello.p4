#ifndef FCN_BFD_HELLO_P4
#define FCN_BFD_HELLO_P4

#include "../../base/v1model/externs.p4"
#include "../../base/headers.p4"
#include "../../base/sizes.p4"
#include "../links/bfd_headers.p4"
#include "../links/link_types.p4"
#include "bfd_checksum.p4"

// BfdHello: makes the copy of the clock packet a BFD control packet for the far end of a link (RFC 5880, RFC 5881).
// Reads:  hello, envelope.
// Writes: Ethernet, underlay, UDP and BFD headers; the clock's header ends.
// When:   on the egress copy of the clock packet in the slot of a link.
control BfdHello(
        in envelope_h envelope, in hello_h hello, inout ethernet_h ethernet,
        inout clock_h clock, inout ipv6_h ipv6, inout udp_h udp, inout bfd_h bfd) {
    BfdChecksum() bfd_checksum;

    apply {
        clock.setInvalid();
        ethernet.src = envelope.src_mac;
        ethernet.dst = envelope.dst_mac;
        ethernet.ether_type = EtherType.IPV6;
        ipv6.setValid();
        ipv6.version = 6;
        // Network control (RFC 2474 section 4.2.2.2)
        ipv6.dscp = BFD_DSCP;
        ipv6.ecn = Ecn.NOT_ECT;
        ipv6.flow_label = 0;
        ipv6.payload_len = BFD_UDP_LENGTH;
        ipv6.next_header = IpProtocol.UDP;
        ipv6.hop_limit = BFD_HOP_LIMIT;
        ipv6.src = envelope.src;
        ipv6.dst = envelope.dst;
        udp.setValid();
        udp.src_port = BFD_SOURCE_PORT;
        udp.dst_port = UdpPort.BFD;
        udp.length = BFD_UDP_LENGTH;
        bfd.setValid();
        bfd.version = BFD_VERSION;
        bfd.diagnostic = hello.diagnostic;
        bfd.state = BfdState.DOWN;
        if (hello.link_state == LinkState.UP) {
            bfd.state = BfdState.UP;
        } else if (hello.link_state == LinkState.STARTING || hello.link_state == LinkState.RISING) {
            bfd.state = BfdState.INIT;
        }
        bfd.flags = 0;
        bfd.detect_multiplier = hello.detect_multiplier;
        bfd.length = BFD_LENGTH;
        bfd.my_discriminator = hello.my_discriminator;
        bfd.your_discriminator = hello.your_discriminator;
        bfd.desired_min_tx = hello.interval;
        bfd.required_min_rx = hello.interval;
        bfd.required_min_echo_rx = 0;
        bit<16> checksum;
        bfd_checksum.apply(ipv6, udp, bfd, checksum);
        udp.checksum = checksum;
    }
}

#endif
