#ifndef FCN_PORT_SENT_P4
#define FCN_PORT_SENT_P4

#include "../../base/v1model/externs.p4"
#include "../../base/types.p4"
#include "link_registers.p4"

// PortSent: counts what leaves by a port, and keeps when the last packet did and what its queue was like (FAN-4, FAN-7).
// Reads:  egress port, time and depth of the queue; the queue's level; octets of the frame without check sequence.
// Writes: port_sent.
// When:   every packet that leaves.
control PortSent(in standard_metadata_t standard_metadata, in congestion_level_t level, in bit<32> octets) {
    apply {
        bit<102> sent;
        port_sent.read(sent, standard_metadata.egress_port);
        port_sent.write(
            standard_metadata.egress_port,
            standard_metadata.egress_global_timestamp ++ level ++ standard_metadata.deq_qdepth ++ (sent[31:0] + octets));
    }
}

#endif
