// What every step of a provider edge uses on BMv2, and how the steps that both programs have call it.
#ifndef FCN_V1MODEL_PE_P4
#define FCN_V1MODEL_PE_P4

#include "externs.p4"
#include "../pe_headers.p4"
#include "../pe_metadata.p4"
#include "../sizes.p4"
#include "counters.p4"

typedef pe_headers_t headers_t;
typedef pe_meta_t meta_t;

// The customer's packet in a tunnel
#define INNER(hdr) hdr
// For HeldFlow, as at a P: its parser stops in a tunnel of another shape, and where a BTH is cut off.
#define FLOW_IS_HIDDEN(hdr, meta) \
    (meta.unsupported_tunnel || (hdr.udp.dst_port == UdpPort.ROCEV2 && !hdr.roce.bth.isValid()))

#endif
