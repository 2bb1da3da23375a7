#ifndef FCN_FANTEL_LENGTH_P4
#define FCN_FANTEL_LENGTH_P4

#include "../../base/five_tuple.p4"
#include "../../base/sizes.p4"
#include "fantel_headers.p4"

// FantelLength: does a FANTEL message have the parameters that its Code names, and nothing else (FAN-8)?
// Reads:  its headers, UDP length.
// Writes: is_whole. A level that does not exist is not, nor more than 1000 permille.
// When:   a FANTEL message is parsed.
control FantelLength(
        in fantel_headers_t fantel, in five_tuple_headers_t five_tuple, in bit<16> udp_length, out bool is_whole) {
    bit<16> length;

    action add(bit<16> octets) {
        length = length + octets;
    }

    apply {
        length = UDP_LENGTH + FANTEL_LENGTH;
        if (fantel.path.isValid()) {
            add(FANTEL_WORD_LENGTH);
        }
        if (five_tuple.ipv4.isValid()) {
            add(FANTEL_IPV4_TUPLE_LENGTH);
        }
        if (five_tuple.ipv6.isValid()) {
            add(FANTEL_IPV6_TUPLE_LENGTH);
        }
        if (fantel.cause.isValid()) {
            add(FANTEL_WORD_LENGTH);
        }
        if (fantel.buffer.isValid()) {
            add(FANTEL_BUFFER_LENGTH);
        }
        if (fantel.utilization.isValid()) {
            add(FANTEL_WORD_LENGTH);
        }
        if (fantel.load.isValid()) {
            add(FANTEL_WORD_LENGTH);
        }
        is_whole = fantel.origin.isValid() && length == udp_length
            && (fantel.fantel.code[1:1] == 1) == fantel.path.isValid()
            && (fantel.fantel.code[2:2] == 1) == five_tuple.ports.isValid()
            && (fantel.fantel.code[3:3] == 1) == fantel.cause.isValid()
            && (fantel.fantel.code[4:4] == 1) == fantel.buffer.isValid()
            && (fantel.fantel.code[5:5] == 1) == fantel.utilization.isValid()
            && (fantel.fantel.code[6:6] == 1) == fantel.load.isValid();
        if (fantel.buffer.isValid() && fantel.buffer.level > HIGHEST_CONGESTION_LEVEL) {
            is_whole = false;
        }
        if (fantel.utilization.isValid() && fantel.utilization.value[31:16] > PERMILLE) {
            is_whole = false;
        }
        if (fantel.load.isValid() && fantel.load.value[31:16] > PERMILLE) {
            is_whole = false;
        }
    }
}

#endif
