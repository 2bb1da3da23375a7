// What the controls of the transit node tell each other about a packet.
#ifndef FCN_P_METADATA_P4
#define FCN_P_METADATA_P4

#include "metadata.p4"
#include "../fantel/fantel_types.p4"
#include "../flow_control/flow_control_types.p4"

// Of the underlay: a P has no VRF
const vrf_t NO_VRF = 0;

struct p_meta_t {
    base_meta_t base;
    flow_control_meta_t flow_control;
    fantel_meta_t fantel;
}

#endif
