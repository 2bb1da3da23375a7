#ifndef FCN_TNA_LINK_SIGNS_P4
#define FCN_TNA_LINK_SIGNS_P4

#include "../../../base/tna/pass_headers.p4"
#include "../../../tna/p_metadata.p4"
#include "clock_runs.p4"
#include "link_silence.p4"

// LinkSigns: what the packet, or the clock in its slot, has to do with a link: a sign of life from there, a look whether there
// was one, or at what is known.
// Reads:  clock header; md.links.task, md.meta.base.copy_kind.
// Writes: md.links.event, is_silent; runs: somebody looks at links; what its controls write.
// When:   every packet, behind LinkMessage.
control LinkSigns(in clock_pass_h clock, inout tna_p_meta_t md, inout bit<1> runs) {
    ClockRuns() clock_runs;
    LinkSilence() link_silence;

    bool is_sign = false;
    bool looks = false;

    action look() {
        md.links.event = LinkEvent.LOOK;
    }

    apply {
        if (clock.isValid()) {
            if (md.links.task == ClockTask.PATH) {
                look();
            } else if (md.links.task == ClockTask.LINK) {
                if (clock.has_begun == 0) {
                    is_sign = true;
                } else {
                    looks = true;
                }
            }
        } else if (md.meta.base.copy_kind == NotificationKind.HELLO) {
            look();
        } else if (md.meta.base.copy_kind == NotificationKind.NONE) {
            is_sign = true;
        }
        clock_runs.apply(clock, md.links.is_youngest, runs);
        link_silence.apply(md.links, is_sign, looks);
    }
}

#endif
