#ifndef FCN_END_CON_P4
#define FCN_END_CON_P4

#include "../base/pe_headers.p4"
#include "../base/pe_metadata.p4"
#include "../base/sizes.p4"

// EndCon: a packet to an END.CON SID must carry a CNP for the sender of the flow that its label names, in the VRF of
// the SID (SRF-4). An ICMPv6 error, which a router sends to the source of a packet, is none.

// Whom such a packet says that it is for and about; an IPv4 address is in the last 32 bits.
struct end_con_claim_t {
    ipv6_addr_t sender;
    ipv6_addr_t receiver;
}

// EndConClaim
// Reads:  underlay headers, the packet in the tunnel; meta.parse_failed, meta.tunnel_type, meta.customer_fault,
//         meta.base.copy_kind, meta.base.notification_kind.
// Writes: claim; is_sound: a whole CNP is right behind the underlay's IPv6 header; meta.notify_label, unless it is a
//         Fast CNP's or that of a copy made here.
// When:   the packet has underlay headers, before FlowByLabel writes the addresses it knows.
control EndConClaim(
        in pe_headers_t hdr, inout pe_meta_t meta, out end_con_claim_t claim, out bool is_sound) {
    apply {
        claim.sender = 0;
        claim.receiver = 0;
        is_sound = false;
        if (hdr.roce.bth.isValid() && hdr.roce.bth.opcode == BthOpcode.CNP) {
            bit<16> length;
            if (hdr.ipv4.isValid()) {
                claim.sender = 96w0 ++ hdr.ipv4.dst;
                claim.receiver = 96w0 ++ hdr.ipv4.src;
                length = CNP_IPV4_TOTAL_LENGTH;
            } else {
                claim.sender = hdr.ipv6.dst;
                claim.receiver = hdr.ipv6.src;
                length = IPV6_LENGTH + CNP_UDP_LENGTH;
            }
            is_sound = !meta.parse_failed && !hdr.srv6.srh.isValid()
                && meta.tunnel_type == TunnelType.NONE && meta.customer_fault == DropReason.NONE
                && hdr.udp.length == CNP_UDP_LENGTH && hdr.outer_ipv6.payload_len == length;
        }
        if (meta.base.copy_kind == NotificationKind.NONE
                && meta.base.notification_kind == NotificationKind.NONE) {
            meta.notify_label = hdr.outer_ipv6.flow_label;
        }
    }
}

// EndConCheck
// Reads:  what FlowByLabel found; what EndConClaim did; meta.end_con_vrf.
// Writes: meta.notification_sound; meta.label_fault: a label that has another flow by now says nothing about this
//         one.
// When:   the packet is for an END.CON SID, behind FlowByLabel.
control EndConCheck(
        in pe_headers_t hdr, in end_con_claim_t claim, in bool is_sound, inout pe_meta_t meta) {
    apply {
        ipv6_addr_t known_sender;
        ipv6_addr_t known_receiver;
        if (hdr.ipv4.isValid()) {
            known_sender = 96w0 ++ hdr.ipv4.dst;
            known_receiver = 96w0 ++ hdr.ipv4.src;
        } else {
            known_sender = hdr.ipv6.dst;
            known_receiver = hdr.ipv6.src;
        }
        meta.notification_sound = is_sound;
        if (meta.label_fault == DropReason.NONE && (meta.base.vrf != meta.end_con_vrf
                || known_sender != claim.sender || known_receiver != claim.receiver)) {
            meta.label_fault = DropReason.LABEL_UNKNOWN;
        }
    }
}

#endif
