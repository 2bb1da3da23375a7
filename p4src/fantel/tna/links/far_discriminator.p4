#ifndef FCN_TNA_FAR_DISCRIMINATOR_P4
#define FCN_TNA_FAR_DISCRIMINATOR_P4

#include "../../../base/sizes.p4"
#include "../../../base/tna/externs.p4"
#include "../../links/bfd_headers.p4"
#include "links_metadata.p4"

// FarDiscriminator: the far end's name for its session, which it hears again in hellos (RFC 5880 section 6.3).
// Reads:  md.port, event; BFD header.
// Writes: the name; of a hello, its BFD header.
// When:   a hello is made, or a BFD packet was taken.
control FarDiscriminator(in links_meta_t md, inout bfd_h bfd) {
    Register<bit<32>, port_t>(PORT_COUNTER_SIZE) far_discriminators;
    RegisterAction<bit<32>, port_t, bit<32>>(far_discriminators) note = {
        void apply(inout bit<32> name) {
            name = bfd.my_discriminator;
        }
    };
    RegisterAction<bit<32>, port_t, bit<32>>(far_discriminators) look = {
        void apply(inout bit<32> name, out bit<32> result) {
            result = name;
        }
    };

    action note_name() {
        note.execute(md.port);
    }
    action repeat_name() {
        bfd.your_discriminator = look.execute(md.port);
    }

    apply {
        if (md.event == LinkEvent.LOOK) {
            repeat_name();
        } else if (md.event != LinkEvent.NONE) {
            note_name();
        }
    }
}

#endif
