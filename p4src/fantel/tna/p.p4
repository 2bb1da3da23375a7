// Congested paths at a P of a chip (FAN-6): their PEs hear of it. No links are watched.
#ifndef FCN_TNA_FANTEL_P_P4
#define FCN_TNA_FANTEL_P_P4

#include "../../base/p_headers.p4"
#include "../../base/p_metadata.p4"
#include "../../base/sizes.p4"
#include "../../base/tna/pass_headers.p4"
#include "../../fast_cnp/tna/flow_gate.p4"
#include "../../tna/bridge.p4"
#include "../../tna/p_metadata.p4"
#include "../messages/fantel_headers.p4"
#include "../messages/fantel_profile.p4"
#include "../paths/core_path.p4"
#include "calm.p4"

// The first word of a message behind UDP: type and code
const bit<32> FANTEL_CONGESTED = 8w0 ++ FantelType.CONGESTION ++ (FANTEL_ORIGIN | FANTEL_PATH | FANTEL_TUPLE) ++ 8w0;
const bit<32> FANTEL_WITH_BUFFER = 16w0 ++ FANTEL_BUFFER ++ 8w0;
const bit<32> FANTEL_RELIEVED = 8w0 ++ FantelType.CONGESTION_CLEARED ++ (FANTEL_ORIGIN | FANTEL_PATH) ++ 8w0;
const bit<16> FANTEL_CONGESTED_LENGTH =
    UDP_LENGTH + FANTEL_LENGTH + FANTEL_WORD_LENGTH + FANTEL_IPV6_TUPLE_LENGTH;

// PathCarryOver: what the egress has to know of how the packet came.
// Reads:  underlay header; md.ports.
// Writes: arrival header.
// When:   first, before a segment ends here.
control PathCarryOver(inout p_pass_headers_t hdr, in tna_p_meta_t md) {
    action carry_over() {
        hdr.arrival.setValid();
        hdr.arrival.dst = hdr.p.outer_ipv6.dst;
        hdr.arrival.ports = md.ports;
    }

    apply {
        carry_over();
    }
}

// ClockAgain: the clock packet has come round (v1model's Clock says what for). On this chip it carries its slot.
// Reads:  clock header.
// Writes: drop: a younger clock packet has taken its place, or the clock stops; port; what Bridge writes.
// When:   a packet of the recirculation port that is no copy.
control ClockAgain(inout p_pass_headers_t hdr, inout bit<3> drop, inout PortId_t port) {
    Bridge(PassType.CLOCK) bridge_clock;
    bit<1> is_youngest;

    Register<bit<32>, bit<1>>(1) youngest;
    RegisterAction<bit<32>, bit<1>, bit<1>>(youngest) compare = {
        void apply(inout bit<32> token, out bit<1> result) {
            if (hdr.clock.token >= token) {
                token = hdr.clock.token;
                result = 1;
            } else {
                result = 0;
            }
        }
    };
    action compare_tokens() {
        is_youngest = compare.execute(0);
    }

    apply {
        compare_tokens();
        if (is_youngest == 0) {
            drop = 1;
        } else if (hdr.clock.is_last == 1) {
            drop = 1;
        }
        port = RECIRC_PORT;
        bridge_clock.apply(hdr.bridge, hdr.copy);
    }
}

// PathAsk: does the ingress PE of a packet hear that its path is congested, or by the clock that it is not any more?
// Reads:  queue; bridge, clock, arrival and underlay headers; md.meta.base.mode, level_notifies, level.
// Writes: md.asks: there is something to say; md.passed: it is time; arrival header, md.mirror; the clock's next slot.
// When:   a packet leaves by a wire, or the clock comes to its slot; behind QueueLevel.
control PathAsk(
        in egress_intrinsic_metadata_t eg_intr_md, inout p_pass_headers_t hdr, inout tna_p_meta_t md) {
    CorePath() core_path;
    Calm() calm;
    FlowGate(CORE_PATH_CELLS) path_gate;
    FlowGate(CORE_PATH_CELLS) refresh_gate;

    @name(".clock_rounds")
    Counter<bit<32>, bit<1>>(1, CounterType_t.PACKETS) clock_rounds;

    // By way of a hash fields are copied between containers of different sizes.
    Hash<bit<20>>(HashAlgorithm_t.IDENTITY) depth;
    Hash<port_t>(HashAlgorithm_t.IDENTITY) port_number;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) link;
    bit<16> tag;
    ipv6_addr_t dst;
    bool is_known;
    core_path_t this_cell;
    path_id_t this_path;
    microseconds_t this_repeat;
    past_interval_t repeat_interval;
    past_interval_t refresh_interval;
    port_t this_port;
    bool is_queue = false;
    microseconds_t this_refresh;
    microseconds_t this_relief;
    bool is_congested = false;
    bool is_relieved = false;
    bit<1> is_calm = 0;
    bit<1> is_due = 0;

    action take_port() {
        this_port = port_number.get({ eg_intr_md.egress_port });
    }
    action by_tag() {
        tag = hdr.p.srv6.srh.tag;
        dst = 0;
    }
    action by_destination() {
        tag = 0;
        dst = hdr.p.outer_ipv6.dst;
    }
    action name_packet() {
        hdr.arrival.path_id = this_path;
    }
    action name_link() {
        hdr.arrival.link = link.get({ 7w0 ++ this_port });
    }
    action note_depth() {
        md.mirror.label = depth.get({ 1w0 ++ eg_intr_md.deq_qdepth });
    }
    // As of v1model's ClockSlot; of its actions a chip has this one.
    action watch_path_queue(
            port_t port, core_path_t path_cell, path_id_t path_id, ipv6_addr_t ingress_pe, microseconds_t repeat,
            microseconds_t refresh, microseconds_t relief) {
        is_queue = true;
        this_port = port;
        this_cell = path_cell;
        hdr.arrival.path_id = path_id;
        hdr.arrival.dst = ingress_pe;
        this_refresh = refresh;
        this_relief = relief;
    }
    action end_of_round() { }

    @name(".clock_slot")
    table clock_slot {
        key = {
            hdr.clock.slot[11:0]: exact @name("slot");
        }
        actions = {
            @tableonly watch_path_queue;
            @defaultonly end_of_round;
        }
        const default_action = end_of_round;
        size = CLOCK_SLOTS;
    }

    action find_intervals() {
        SET_INTERVAL(repeat_interval, md.meta.base.now, this_repeat)
        SET_INTERVAL(refresh_interval, md.meta.base.now, this_refresh)
    }
    action next_slot() {
        hdr.clock.slot = hdr.clock.slot + 1;
    }
    action first_slot() {
        hdr.clock.slot = 0;
    }

    apply {
        if (hdr.clock.isValid()) {
            if (clock_slot.apply().hit) {
                next_slot();
            } else {
                clock_rounds.count(0);
                first_slot();
            }
        } else {
            take_port();
            if (hdr.p.srv6.srh.isValid() && hdr.p.srv6.srh.tag != 0) {
                by_tag();
            } else {
                by_destination();
            }
            core_path.apply(hdr.p.outer_ipv6.src, tag, dst, this_port, is_known, this_cell, this_path, this_repeat);
            name_packet();
            note_depth();
            if (md.meta.base.level_notifies == 1
                    && md.meta.base.mode.congestion_kind == NotificationKind.FANTEL && FCN_PACKET(hdr)) {
                is_congested = true;
            }
        }
        name_link();
        calm.apply(is_congested, this_port, this_relief, md.meta.base.now, is_calm);
        if (is_congested && is_known) {
            md.asks = true;
        }
        if (is_calm == 1 && is_queue) {
            is_relieved = true;
        }
        find_intervals();
        if (md.asks || is_relieved) {
            path_gate.apply(is_relieved, 4w0 ++ this_cell, repeat_interval, md.meta.base.now, md.passed);
        }
        if (is_relieved) {
            refresh_gate.apply(false, 4w0 ++ this_cell, refresh_interval, md.meta.base.now, is_due);
        }
        if (is_due == 1) {
            md.passed = 1;
        }
    }
}

// PathTells: the copy is to become a message about a path, or there is none, because it is not yet time for one.
// Reads:  md.asks, passed.
// Writes: md.wanted, gate_passed, mirror.kind.
// When:   before the limit of notifications, which is for these messages, too.
control PathTells(inout tna_p_meta_t md) {
    action tell(bit<1> passed) {
        md.wanted = true;
        md.gate_passed = passed;
        md.mirror.kind = TOLD_KIND;
    }

    apply {
        if (md.passed == 1) {
            tell(1);
        } else if (md.asks) {
            tell(0);
        }
    }
}

// PathOfClock: a copy of the clock packet has no packet in it.
// Writes: md.mirror.pass.
// When:   a copy is made.
control PathOfClock(in p_pass_headers_t hdr, inout tna_p_meta_t md) {
    apply {
        if (hdr.clock.isValid()) {
            md.mirror.pass = PassType.MIRROR_OF_CLOCK;
        }
    }
}

// PathEnd: the arrival header ends; a copy's in PathCopy.
// Writes: arrival header.
// When:   in egress, last.
control PathEnd(inout p_pass_headers_t hdr) {
    apply {
        if (!hdr.copy.isValid()) {
            hdr.arrival.setInvalid();
        }
    }
}

// PathCopy: makes a copy a FANTEL message about its path for the ingress PE, which that is congested, or with no packet that
// it is relieved (FAN-1, FAN-2, FAN-6).
// Reads:  meta.copy_kind; copy, arrival and underlay headers.
// Writes: headers.
// When:   on the egress copy of a packet or of the clock.
control PathCopy(inout p_pass_headers_t hdr, in base_meta_t meta) {
    FantelProfile() fantel_profile;

    Register<bit<32>, bit<1>>(1) fantel_sequence;
    RegisterAction<bit<32>, bit<1>, bit<32>>(fantel_sequence) next_sequence = {
        void apply(inout bit<32> sequence, out bit<32> result) {
            sequence = sequence + 1;
            result = sequence;
        }
    };

    // As in PathAsk
    Hash<bit<20>>(HashAlgorithm_t.IDENTITY) label;
    Hash<bit<8>>(HashAlgorithm_t.IDENTITY) protocol;
    notice_h notice;

    action start_message() {
        hdr.p.fantel.about.setValid();
        hdr.p.fantel.about.tlv_origin = TLV_ORIGIN;
        hdr.p.fantel.about.link = 16w0 ++ hdr.arrival.link;
        hdr.p.fantel.about.tlv_path = TLV_PATH;
        hdr.p.fantel.about.path_id = hdr.arrival.path_id;
        hdr.p.outer_ipv6.setValid();
        hdr.p.outer_ipv6.next_header = IpProtocol.UDP;
        hdr.p.outer_ipv6.hop_limit = FANTEL_HOP_LIMIT;
        hdr.p.tunnel.udp.setValid();
        hdr.p.tunnel.udp.checksum = 0;
        hdr.p.ethernet.ether_type = EtherType.IPV6;
    }
    action number() {
        hdr.p.fantel.about.sequence = next_sequence.execute(0);
    }
    action name_tuple() {
        hdr.tuple_tlv.setValid();
        hdr.tuple_tlv.tlv = TLV_IPV6_TUPLE;
        hdr.p.five_tuple.head.setValid();
        hdr.p.five_tuple.head.ip_version = 6;
        hdr.p.five_tuple.ipv6.setValid();
        hdr.p.five_tuple.ipv6.src = hdr.p.outer_ipv6.src;
        hdr.p.five_tuple.ipv6.dst = hdr.arrival.dst;
        hdr.p.five_tuple.ports.setValid();
        hdr.p.five_tuple.ports.src_port = hdr.arrival.ports[31:16];
        hdr.p.five_tuple.ports.dst_port = hdr.arrival.ports[15:0];
        hdr.p.outer_ipv6.dst = hdr.p.outer_ipv6.src;
    }
    action name_label() {
        hdr.p.five_tuple.head.label = label.get({ hdr.p.outer_ipv6.flow_label });
    }
    action any_protocol() {
        hdr.p.five_tuple.head.protocol = 0;
    }
    action this_protocol() {
        hdr.p.five_tuple.head.protocol = protocol.get({ hdr.p.outer_ipv6.next_header });
    }
    action say(bit<32> first_word, bit<16> length) {
        hdr.p.fantel.about.first_word = first_word;
        hdr.p.outer_ipv6.payload_len = length;
        hdr.p.tunnel.udp.length = length;
    }
    action name_queue() {
        hdr.p.fantel.buffer.setValid();
        hdr.p.fantel.buffer.tlv = TLV_BUFFER;
        hdr.p.fantel.buffer.queue = 0;
        hdr.p.fantel.buffer.level = hdr.copy.pad0 ++ hdr.copy.level;
        hdr.p.fantel.buffer.reserved = 0;
        hdr.p.fantel.buffer.depth = 12w0 ++ hdr.copy.label;
    }
    action to_ingress_pe() {
        hdr.p.outer_ipv6.dst = hdr.arrival.dst;
    }
    action clear_label() {
        hdr.p.outer_ipv6.flow_label = 0;
    }
    action clear_ecn() {
        hdr.p.outer_ipv6.ecn = Ecn.NOT_ECT;
    }

    apply {
        if (meta.copy_kind == NotificationKind.FANTEL) {
            number();
            if (hdr.copy.pass == PassType.MIRROR_OF_CLOCK) {
                to_ingress_pe();
                say(FANTEL_RELIEVED, UDP_LENGTH + FANTEL_LENGTH + FANTEL_WORD_LENGTH);
            } else {
                name_tuple();
                name_label();
                // As service_protocol()
                if (hdr.p.outer_ipv6.next_header == IpProtocol.IPV4 || hdr.p.outer_ipv6.next_header == IpProtocol.IPV6
                        || hdr.p.outer_ipv6.next_header == IpProtocol.ROUTING) {
                    any_protocol();
                } else {
                    this_protocol();
                }
                if (hdr.copy.level == 0) {
                    say(FANTEL_CONGESTED, FANTEL_CONGESTED_LENGTH);
                } else {
                    say(FANTEL_CONGESTED | FANTEL_WITH_BUFFER, FANTEL_CONGESTED_LENGTH + FANTEL_BUFFER_LENGTH);
                    name_queue();
                }
            }
            start_message();
            clear_label();
            clear_ecn();
            // Over UDP alone
            fantel_profile.apply(hdr.p.outer_ipv6, hdr.p.tunnel.udp, notice, hdr.p.fantel.about);
        }
        hdr.arrival.setInvalid();
    }
}

#endif
