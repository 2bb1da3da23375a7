#ifndef FCN_TNA_LINKS_P4
#define FCN_TNA_LINKS_P4

#include "../../../base/p_headers.p4"
#include "../../../base/tna/pass_headers.p4"
#include "../../../tna/p_metadata.p4"
#include "far_discriminator.p4"
#include "link_fault.p4"
#include "link_message.p4"
#include "link_repair.p4"
#include "link_says.p4"
#include "link_session.p4"
#include "link_signs.p4"

// Links: links are watched by the clock and by what comes from them (FAN-4).
// Reads:  how the packet arrived, and what is done with it; md.links; clock header.
// Writes: clock and arrival headers; drop; what its controls write.
// When:   every packet but the controller's, behind ClockAgain.
control Links(inout p_pass_headers_t hdr, inout tna_p_meta_t md, inout bit<3> drop) {
    LinkMessage() link_message;
    LinkSigns() link_signs;
    FarDiscriminator() far_discriminator;
    LinkSession() link_session;
    LinkFault() link_fault;
    LinkRepair() link_repair;
    LinkSays() link_says;

    bit<1> runs = 0;
    bool is_leaving = false;

    action leave() {
        is_leaving = true;
        md.links.port = md.meta.base.egress_port;
    }

    apply {
        link_message.apply(hdr, md, drop);
        link_signs.apply(hdr.clock, md, runs);
        if (md.meta.base.forward == Forward.UNDERLAY && md.meta.base.drop_reason == DropReason.NONE
                && md.meta.base.punt_reason == PuntReason.NONE && runs == 1) {
            leave();
        }
        if (!hdr.clock.isValid() && md.meta.base.drop_reason == DropReason.NONE) {
            far_discriminator.apply(md.links, hdr.p.bfd);
        }
        link_session.apply(md.links);
        link_fault.apply(md.links.port, md.links.has_changed, md.links.cause, md.links.fault);
        link_repair.apply(is_leaving, hdr.p.outer_ipv6.dst, hdr.p.ethernet, md.links, md.meta.base);
        link_says.apply(hdr, md, drop);
    }
}

#endif
