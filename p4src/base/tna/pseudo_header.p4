#ifndef FCN_PSEUDO_HEADER_P4
#define FCN_PSEUDO_HEADER_P4

// The one word of a pseudo-header that a parser cannot sum up, the protocol: what is left when everything else has been
// subtracted from a right checksum.
const bit<16> UDP_PROTOCOL = 17;
const bit<16> ICMPV6_PROTOCOL = 58;

#endif
