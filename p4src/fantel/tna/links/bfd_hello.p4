#ifndef FCN_TNA_BFD_HELLO_P4
#define FCN_TNA_BFD_HELLO_P4

#include "../../../base/headers.p4"
#include "../../../base/metadata.p4"
#include "../../../base/sizes.p4"
#include "../../links/bfd_headers.p4"
#include "links_metadata.p4"

// BfdHello: makes a copy of the clock packet a BFD control packet for the far end of a link (RFC 5880, RFC 5881). The
// deparser makes its checksum.
// Reads:  md.before, fault, port.
// Writes: Ethernet, underlay, UDP and BFD headers but for what ClockSlot has written; meta.egress_port; that there is a hello
//         whose checksum is to be made.
// When:   on the second pass of the copy of the clock packet that was made in the slot of a link.
control BfdHello(
        inout ethernet_h ethernet, inout ipv6_h ipv6, inout udp_h udp, inout bfd_h bfd, inout hello_h hello,
        in links_meta_t md, inout base_meta_t meta) {
    action start_hello() {
        ethernet.ether_type = EtherType.IPV6;
        // Network control (RFC 2474 section 4.2.2.2)
        ipv6.dscp = BFD_DSCP;
        ipv6.payload_len = BFD_UDP_LENGTH;
        ipv6.next_header = IpProtocol.UDP;
        ipv6.hop_limit = BFD_HOP_LIMIT;
        udp.src_port = BFD_SOURCE_PORT;
        udp.dst_port = UdpPort.BFD;
        udp.length = BFD_UDP_LENGTH;
        hello.setValid();
        bfd.length = BFD_LENGTH;
        bfd.required_min_echo_rx = 0;
        meta.egress_port = md.port;
    }
    action say(BfdState state, BfdDiagnostic diagnostic) {
        bfd.version = BFD_VERSION;
        bfd.diagnostic = diagnostic;
        bfd.state = state;
        bfd.flags = 0;
    }

    @hidden
    table hello_state {
        key = {
            md.before: ternary;
            md.fault: ternary;
        }
        actions = {
            say;
        }
        const default_action = say(BfdState.DOWN, BfdDiagnostic.NONE);
        const entries = {
            (SessionState.UP, _): say(BfdState.UP, BfdDiagnostic.NONE);
            (SessionState.INIT, 0): say(BfdState.INIT, BfdDiagnostic.NONE);
            (SessionState.INIT, FailureCause.NEIGHBOR_SILENT):
                say(BfdState.INIT, BfdDiagnostic.DETECTION_TIME_EXPIRED);
            (SessionState.INIT, _): say(BfdState.INIT, BfdDiagnostic.NEIGHBOR_SIGNALED_DOWN);
            (SessionState.DOWN, 0): say(BfdState.DOWN, BfdDiagnostic.NONE);
            (SessionState.DOWN, FailureCause.NEIGHBOR_SILENT):
                say(BfdState.DOWN, BfdDiagnostic.DETECTION_TIME_EXPIRED);
            (SessionState.DOWN, _): say(BfdState.DOWN, BfdDiagnostic.NEIGHBOR_SIGNALED_DOWN);
        }
    }

    apply {
        start_hello();
        hello_state.apply();
    }
}

#endif
