#ifndef FCN_TNA_LINK_SAYS_P4
#define FCN_TNA_LINK_SAYS_P4

#include "../../../base/p_headers.p4"
#include "../../../base/sizes.p4"
#include "../../../base/tna/pass_headers.p4"
#include "../../../fast_cnp/tna/flow_gate.p4"
#include "../../../tna/p_metadata.p4"
#include "bfd_hello.p4"
#include "path_of_link.p4"

// LinkSays: what a path's PE, or the far end of a link, is to hear.
// Reads:  md.links; clock header.
// Writes: clock and arrival headers: a copy is to be made; headers of a hello, or drop.
// When:   every packet, behind LinkFault; it concerns the clock and hellos.
control LinkSays(inout p_pass_headers_t hdr, inout tna_p_meta_t md, inout bit<3> drop) {
    PathOfLink() path_of_link;
    BfdHello() bfd_hello;
    FlowGate(PORT_COUNTER_SIZE) hello_gate;
    bit<1> is_due = 0;

    // Of hellos, which say it in microseconds: three ticks of 256 ns for each, a quarter less (RFC 5880 section 6.8.7).
    action lengthen_interval() {
        md.links.interval.start = md.links.interval.start + hdr.p.bfd.desired_min_tx;
        md.links.interval.start_or_wrap = md.links.interval.start_or_wrap |+| hdr.p.bfd.desired_min_tx;
    }
    action say_hello() {
        hdr.clock.said = ClockSays.HELLO;
        hdr.clock.cell = md.links.slot;
    }

    // Its slot was taken away meanwhile.
    action end_hello() {
        drop = 1;
    }

    apply {
        if (hdr.clock.isValid()) {
            if (md.links.task == ClockTask.PATH) {
                path_of_link.apply(md.links, hdr.clock, hdr.arrival);
            } else if (md.links.task == ClockTask.LINK) {
                lengthen_interval();
                lengthen_interval();
                hello_gate.apply(false, 7w0 ++ md.links.port, md.links.interval, md.links.now, is_due);
                if (is_due == 1) {
                    say_hello();
                }
            }
        } else if (md.meta.base.copy_kind == NotificationKind.HELLO) {
            if (md.links.task == ClockTask.LINK) {
                bfd_hello.apply(
                    hdr.p.ethernet, hdr.p.outer_ipv6, hdr.p.tunnel.udp, hdr.p.bfd, hdr.p.hello, md.links,
                    md.meta.base);
            } else {
                end_hello();
            }
        }
    }
}

#endif
