#ifndef FCN_FAST_CNP_CHECKSUM_P4
#define FCN_FAST_CNP_CHECKSUM_P4

// FastCnpChecksum: has a Fast CNP the right length and a right UDP checksum? (FCN-9)
// Reads:  sum, which the parser took over the datagram and its pseudo header but for the protocol.
// Writes: meta.notification_sound.
// When:   every packet; it concerns Fast CNPs.
control FastCnpChecksum(
        in fast_cnp_h fast_cnp, in bit<16> payload_len, in bit<16> sum, inout pe_meta_t meta) {
    action sound() {
        meta.notification_sound = true;
    }
    // A table only to be placed: Arrival waits for it.
    @hidden PLACED(soundness)
    table soundness {
        actions = {
            sound;
        }
        const default_action = sound;
    }

    apply {
        if (fast_cnp.isValid() && sum == UDP_PROTOCOL && payload_len == FAST_CNP_UDP_LENGTH) {
            soundness.apply();
        }
    }
}

#endif
