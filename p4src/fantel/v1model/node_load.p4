#ifndef FCN_NODE_LOAD_P4
#define FCN_NODE_LOAD_P4

#include "../../base/v1model/externs.p4"
#include "../links/link_types.p4"
#include "../links/permille.p4"
#include "link_load.p4"

// The node's load in the last round
register<permille_t, bit<1>>(1) node_loads;

// NodeLoad: how much of what a node's links can carry they carried (FAN-1).
// Writes: node_loads, node_amounts.
// When:   the clock begins a new round.
control NodeLoad() {
    Permille() permille;

    apply {
        bit<128> amounts;
        permille_t load;
        node_amounts.read(amounts, 0);
        if (amounts != 0) {
            permille.apply(amounts[127:64], amounts[63:0], load);
            node_loads.write(0, load);
            node_amounts.write(0, 0);
        }
    }
}

#endif
