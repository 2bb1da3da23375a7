#ifndef FCN_CHOOSE_PATH_P4
#define FCN_CHOOSE_PATH_P4

#include "../../base/v1model/pe.p4"
#include "../paths/path_selection.p4"
#include "../paths/path_types.p4"
#include "flowlet.p4"
#include "path_state.p4"
#include "../../forwarding/v1model/entropy.p4"

// ChoosePath: the path of a packet whose route names a policy. A flow stays on its path while the same paths are
// avoided: it goes by a hash of what identifies the flow, which learning its label does not change. Where loads are
// balanced it may leave it in a pause (Flowlet).
// Reads:  meta.tunnel with POLICY_BIT; customer headers; path_states; time now in microseconds.
// Writes: meta.tunnel, that of the path; unchanged, so that there is no such tunnel, where nothing is known; meta.entropy;
//         meta.fantel.path_cnp_interval and path_cnp_policy, where the path is congested.
// When:   a packet is about to enter a tunnel, IS_POLICY(meta.tunnel).
control ChoosePath(in pe_headers_t hdr, inout pe_meta_t meta, in bit<48> now) {
    PolicyOfTunnel() policy_of_tunnel;
    PathOfBucket() path_of_bucket;
    Entropy() entropy;
    Flowlet() flowlet;

    apply {
        policy_t policy;
        tunnel_t first_tunnel;
        microseconds_t hold_down;
        microseconds_t least_pause;
        path_load_t least_difference;
        microseconds_t settling;
        microseconds_t least_cnp_interval;
        path_set_t all;
        bool is_known;
        policy_of_tunnel.apply(
            meta.tunnel, policy, first_tunnel, hold_down, least_pause, least_difference, settling, least_cnp_interval, all,
            is_known);
        if (is_known) {
            entropy.apply(hdr, meta);
            // Connections of the same two hosts differ in their queue pairs, but not always in their ports.
            qpn_t dest_qp = 0;
            if (hdr.roce.bth.isValid()) {
                dest_qp = hdr.roce.bth.dest_qp;
            }
            bit<32> spread;
            hash(spread, HashAlgorithm.crc32, 32w0, { meta.entropy, dest_qp }, 64w0x100000000);
            bit<32> state;
            path_states.read(state, policy);
            if (state[15:8] != state[7:0]) {
                bit<32> since;
                path_recovery.read(since, policy);
                bit<32> elapsed = now[31:0] - since;
                if (elapsed >= hold_down && elapsed < A_LITTLE_NEWER) {
                    state[7:0] = state[15:8];
                    path_states.write(policy, state);
                }
            }
            path_set_t avoided = state[7:0];
            bit<44> last = 0;
            bool is_foreign = false;
            if (least_pause != 0) {
                flowlets.read(last, spread[31:16]);
                // A flow that goes on takes a cell as soon as another policy's has paused: one that comes after twice
                // that time has paused itself. Before, its path is that of its hash, and changes by failures alone.
                bit<32> pause = now[31:0] - last[31:0];
                is_foreign = last[35:35] == 1 && last[43:36] != policy
                    && (pause < least_pause << 1 || pause >= A_LITTLE_NEWER);
                if (is_foreign && state[31:24] & ~avoided == 0) {
                    avoided = state[31:24];
                }
            }
            path_slot_t slot;
            path_set_t usable;
            // Flows of one policy that share a cell begin on one path.
            path_of_bucket.apply(policy, avoided, spread[21:16], slot, usable, is_known);
            if (is_known) {
                if (least_pause != 0) {
                    flowlet.apply(
                        policy, usable, all & ~state[31:24], spread[31:16], last, is_foreign, least_pause, least_difference,
                        settling, now[31:0], slot);
                }
                path_traffic.count(policy ++ slot);
                if (least_cnp_interval != 0 && (state[23:16] >> slot)[0:0] == 1
                        && meta.base.mode.translates != NotificationKind.NONE) {
                    // With each report, not all the time until relief: senders would be slowed down too much.
                    bit<32> reported;
                    path_congestion.read(reported, policy);
                    meta.fantel.path_cnp_policy = policy;
                    meta.fantel.path_cnp_interval = now[31:0] - reported;
                    if (meta.fantel.path_cnp_interval < least_cnp_interval) {
                        meta.fantel.path_cnp_interval = least_cnp_interval;
                    }
                }
                meta.tunnel = first_tunnel + (tunnel_t)slot;
            }
        }
    }
}

#endif
