#ifndef FCN_LINK_LOAD_P4
#define FCN_LINK_LOAD_P4

#include "../../base/v1model/externs.p4"
#include "../../base/sizes.p4"
#include "../../base/types.p4"
#include "../links/bfd_headers.p4"
#include "../links/link_types.p4"
#include "../links/permille.p4"
#include "link_registers.p4"

// Octets that had left by the port at the last look, and when that was: microseconds
register<bit<64>, port_t>(PORT_COUNTER_SIZE) load_looks;
// Level and depth of the queue, utilization: what the last look found
register<bit<32>, port_t>(PORT_COUNTER_SIZE) link_loads;
// What all measured links carried in this round, and what they could have
register<bit<128>, bit<1>>(1) node_amounts;

// After so many microseconds without a look the measuring begins anew.
const bit<32> LONGEST_LOOK = 16777216;

// LinkLoad: how much of a link's rate is in use since the last look, as the mean of that and of what was found before
// (FAN-7).
// Reads:  hello: the link and its rate in kb/s; what left by it; time now in microseconds.
// Writes: link_loads, node_amounts.
// When:   the clock comes to a link whose rate is known.
control LinkLoad(in bit<32> now, in hello_h hello) {
    Permille() permille;

    apply {
        bit<102> sent;
        bit<64> look;
        port_sent.read(sent, hello.port);
        load_looks.read(look, hello.port);
        load_looks.write(hello.port, sent[SENT_OCTETS] ++ now);
        bit<32> octets = sent[SENT_OCTETS] - look[63:32];
        bit<32> elapsed = now - look[31:0];
        if (look != 0 && elapsed != 0 && elapsed < LONGEST_LOOK) {
            // Thousandths of a bit
            bit<64> carried = (bit<64>)octets * 8000;
            bit<64> could = (bit<64>)elapsed * (bit<64>)hello.rate;
            permille_t utilization;
            permille.apply(carried, could, utilization);
            bit<128> amounts;
            node_amounts.read(amounts, 0);
            node_amounts.write(0, (amounts[127:64] + carried) ++ (amounts[63:0] + could));
            bit<32> load;
            link_loads.read(load, hello.port);
            utilization = (permille_t)(((bit<16>)load[9:0] + (bit<16>)utilization) >> 1);
            // Of a queue by which nothing leaves
            bit<22> queue = 0;
            if (octets != 0) {
                queue = sent[SENT_LEVEL] ++ sent[SENT_DEPTH];
            }
            link_loads.write(hello.port, queue ++ utilization);
        }
    }
}

#endif
