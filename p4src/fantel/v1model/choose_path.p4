#ifndef FCN_CHOOSE_PATH_P4
#define FCN_CHOOSE_PATH_P4

#include "../../base/v1model/pe.p4"
#include "../paths/path_of_bucket.p4"
#include "../paths/path_types.p4"
#include "../paths/policy_of_tunnel.p4"
#include "choose_path/congested_path.p4"
#include "choose_path/flow_spread.p4"
#include "choose_path/path_hold_down.p4"
#include "choose_path/last_flowlet.p4"
#include "flowlet.p4"
#include "path_state/path_registers.p4"

// ChoosePath: the path of a packet whose route names a policy. A flow stays on its path while the same paths are
// avoided: it goes by a hash of what identifies the flow, which learning its label does not change. Where loads are
// balanced it may leave it in a pause (Flowlet).
// Reads:  meta.tunnel with POLICY_BIT; customer headers; path_states; time now in microseconds.
// Writes: meta.tunnel, that of the path; unchanged, so that there is no such tunnel, where nothing is known; meta.entropy;
//         meta.fantel.path_cnp_interval and path_cnp_policy, where the path is congested.
// When:   a packet is about to enter a tunnel, IS_POLICY(meta.tunnel).
control ChoosePath(in pe_headers_t hdr, inout pe_meta_t meta, in bit<48> now) {
    PolicyOfTunnel() policy_of_tunnel;
    FlowSpread() flow_spread;
    PathHoldDown() path_hold_down;
    LastFlowlet() last_flowlet;
    PathOfBucket() path_of_bucket;
    Flowlet() flowlet;
    CongestedPath() congested_path;

    apply {
        found_policy_t policy;
        policy_of_tunnel.apply(meta.tunnel, policy);
        if (policy.is_known) {
            bit<32> spread;
            bit<32> state;
            flow_spread.apply(hdr, meta, spread);
            path_hold_down.apply(policy.number, policy.hold_down, now[31:0], state);
            path_set_t avoided = state[7:0];
            bit<44> last = 0;
            bool is_foreign = false;
            if (policy.least_pause != 0) {
                last_flowlet.apply(
                    policy.number, policy.least_pause, spread[31:16], state[31:24], now[31:0], last, is_foreign, avoided);
            }
            path_slot_t slot;
            path_set_t usable;
            bool is_path;
            // Flows of one policy that share a cell begin on one path.
            path_of_bucket.apply(policy.number, avoided, spread[21:16], slot, usable, is_path);
            if (is_path) {
                if (policy.least_pause != 0) {
                    flowlet.apply(policy, usable, state[31:24], spread[31:16], last, is_foreign, now[31:0], slot);
                }
                path_traffic.count(policy.number ++ slot);
                if (policy.least_cnp_interval != 0) {
                    congested_path.apply(
                        policy.number, slot, state[23:16], policy.least_cnp_interval, now[31:0], meta);
                }
                meta.tunnel = policy.first_tunnel + (tunnel_t)slot;
            }
        }
    }
}

#endif
