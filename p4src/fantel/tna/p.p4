// Paths at a P of a chip: their PEs hear that one is congested (FAN-6), or that its link is dead (FAN-4).
#ifndef FCN_TNA_FANTEL_P_P4
#define FCN_TNA_FANTEL_P_P4

#include "../../base/p_headers.p4"
#include "../../base/p_metadata.p4"
#include "../../base/sizes.p4"
#include "../../base/tna/pass_headers.p4"
#include "../../fast_cnp/tna/flow_gate.p4"
#include "../../tna/p_metadata.p4"
#include "../messages/fantel_headers.p4"
#include "../messages/fantel_profile.p4"
#include "../paths/core_path.p4"
#include "calm.p4"
#include "clock/clock_again.p4"
#if HAS_LINKS
#include "links/links.p4"
#else
#include "links/off.p4"
#endif

// The first word of a message behind UDP: type and code
const bit<32> FANTEL_CONGESTED = 8w0 ++ FantelType.CONGESTION ++ (FANTEL_ORIGIN | FANTEL_PATH | FANTEL_TUPLE) ++ 8w0;
const bit<32> FANTEL_WITH_BUFFER = 16w0 ++ FANTEL_BUFFER ++ 8w0;
const bit<32> FANTEL_FAILED = 8w0 ++ FantelType.FAILURE ++ (FANTEL_ORIGIN | FANTEL_PATH | FANTEL_CAUSE) ++ 8w0;
const bit<32> FANTEL_WELL = 8w0 ++ FantelType.FAILURE_CLEARED ++ (FANTEL_ORIGIN | FANTEL_PATH) ++ 8w0;
const bit<32> FANTEL_RELIEVED = 8w0 ++ FantelType.CONGESTION_CLEARED ++ (FANTEL_ORIGIN | FANTEL_PATH) ++ 8w0;
const bit<16> FANTEL_CLEARED_LENGTH = UDP_LENGTH + FANTEL_LENGTH + FANTEL_WORD_LENGTH;
const bit<16> FANTEL_FAILED_LENGTH = FANTEL_CLEARED_LENGTH + FANTEL_WORD_LENGTH;
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

// PathAsk: does the ingress PE of a packet hear that its path is congested, or by the clock that it is not any more, or
// what Links has found of it?
// Reads:  queue; bridge, clock, arrival and underlay headers; md.meta.base.mode, level_notifies, level.
// Writes: md.asks: there is something to say; md.passed: it is time; arrival header, md.mirror.
// When:   a packet leaves by a wire, or the clock comes to its slot; behind QueueLevel.
control PathAsk(
        in egress_intrinsic_metadata_t eg_intr_md, inout p_pass_headers_t hdr, inout tna_p_meta_t md) {
    CorePath() core_path;
    Calm() calm;
    FlowGate(CORE_PATH_CELLS) path_gate;
    FlowGate(CORE_PATH_CELLS) refresh_gate;

    // By way of a hash fields are copied between containers of different sizes.
    Hash<bit<20>>(HashAlgorithm_t.IDENTITY) depth;
    Hash<core_path_t>(HashAlgorithm_t.IDENTITY) cell_of_slot;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) link;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) link_of_slot;
    bit<16> tag;
    ipv6_addr_t dst;
    bool is_known;
    core_path_t this_cell;
    microseconds_t this_repeat;
    // In which nothing is said again: of a packet's path, or for the clock
    past_interval_t interval;
    bool is_queue = false;
    bool is_congested = false;
    bool is_relieved = false;
    bit<1> is_calm = 0;
    bit<1> is_due = 0;

    action name_link() {
        hdr.arrival.link = link.get({ 7w0 ++ eg_intr_md.egress_port });
    }
    action note_depth() {
        md.mirror.label = depth.get({ 1w0 ++ eg_intr_md.deq_qdepth });
    }
    action take_slot() {
        hdr.arrival.link = link_of_slot.get({ 7w0 ++ hdr.clock.port });
        this_cell = cell_of_slot.get({ hdr.clock.cell[11:0] });
    }
    action by_tag() {
        tag = hdr.p.srv6.srh.tag;
        dst = 0;
    }
    action by_destination() {
        tag = 0;
        dst = hdr.p.outer_ipv6.dst;
    }
    action repeat() {
        SET_INTERVAL(interval, md.meta.base.now, this_repeat)
    }
    action refresh() {
        SET_INTERVAL(interval, md.meta.base.now, hdr.clock.refresh)
    }

    apply {
        if (hdr.clock.isValid()) {
            take_slot();
            refresh();
            if (hdr.clock.task == ClockTask.PATH_QUEUE) {
                is_queue = true;
            }
        } else {
            name_link();
            note_depth();
            if (hdr.p.srv6.srh.isValid() && hdr.p.srv6.srh.tag != 0) {
                by_tag();
            } else {
                by_destination();
            }
            core_path.apply(
                hdr.p.outer_ipv6.src, tag, dst, eg_intr_md.egress_port, is_known, this_cell, hdr.arrival.path_id,
                this_repeat);
            repeat();
            if (md.meta.base.level_notifies == 1
                    && md.meta.base.mode.congestion_kind == NotificationKind.FANTEL && FCN_PACKET(hdr)) {
                is_congested = true;
            }
        }
        calm.apply(is_congested, eg_intr_md.egress_port, hdr.clock.port, hdr.clock.relief, md.meta.base.now, is_calm);
        if (is_congested && is_known) {
            md.asks = true;
        }
        is_relieved = is_calm == 1 && is_queue;
        if (md.asks || is_relieved) {
            path_gate.apply(is_relieved, 4w0 ++ this_cell, interval, md.meta.base.now, md.passed);
        }
        if (is_relieved) {
            refresh_gate.apply(false, 4w0 ++ this_cell, interval, md.meta.base.now, is_due);
        }
        if (is_due == 1) {
            md.passed = 1;
        }
        if (hdr.clock.isValid() && hdr.clock.said == ClockSays.OF_PATH) {
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

// HelloTells: the copy is to become a hello.
// Reads:  clock header.
// Writes: md.wanted, gate_passed, mirror.kind.
// When:   behind the limit of notifications, which is not for hellos.
control HelloTells(in p_pass_headers_t hdr, inout tna_p_meta_t md) {
    action tell() {
        md.wanted = true;
        md.gate_passed = 1;
        md.mirror.kind = NotificationKind.HELLO;
    }

    apply {
        if (hdr.clock.isValid() && hdr.clock.said == ClockSays.HELLO) {
            tell();
        }
    }
}

// PathOfClock: a copy of the clock packet has no packet in it, but what is said.
// Writes: md.mirror.pass, level, label.
// When:   a copy is made.
control PathOfClock(in p_pass_headers_t hdr, inout tna_p_meta_t md) {
    Hash<bit<20>>(HashAlgorithm_t.IDENTITY) slot;

    action of_clock() {
        md.mirror.pass = PassType.MIRROR_OF_CLOCK;
        md.mirror.level = hdr.clock.report;
        md.mirror.label = slot.get({ 4w0 ++ hdr.clock.cell });
    }

    apply {
        if (hdr.clock.isValid()) {
            of_clock();
        }
    }
}

// PathEnd: the arrival header ends.
// Writes: arrival header.
// When:   in egress, last.
control PathEnd(inout p_pass_headers_t hdr) {
    apply {
        hdr.arrival.setInvalid();
    }
}

// PathCopy: makes a copy a FANTEL message about its path for the ingress PE, which that is congested, or with no packet that
// it is relieved (FAN-1, FAN-2, FAN-6).
// Reads:  meta.copy_kind; copy, subject, arrival and underlay headers.
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
        hdr.p.fantel.about.link = 16w0 ++ hdr.subject.link;
        hdr.p.fantel.about.tlv_path = TLV_PATH;
        hdr.p.fantel.about.path_id = hdr.subject.path_id;
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
        hdr.tuple_src.setValid();
        hdr.tuple_src.src = hdr.p.outer_ipv6.src;
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
    // Its value is in the place of the ports.
    action name_cause() {
        hdr.tuple_tlv.setValid();
        hdr.tuple_tlv.tlv = TLV_CAUSE;
    }
    action no_cause() {
        hdr.arrival_ports.setInvalid();
    }
    action to_ingress_pe() {
        hdr.p.outer_ipv6.dst = hdr.arrival_dst.dst;
        hdr.arrival_dst.setInvalid();
    }
    action end_arrival() {
        hdr.arrival_dst.setInvalid();
        hdr.arrival_ports.setInvalid();
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
                if (hdr.copy.level == PathReport.FAILED) {
                    say(FANTEL_FAILED, FANTEL_FAILED_LENGTH);
                    name_cause();
                } else {
                    no_cause();
                    if (hdr.copy.level == PathReport.WELL) {
                        say(FANTEL_WELL, FANTEL_CLEARED_LENGTH);
                    } else {
                        say(FANTEL_RELIEVED, FANTEL_CLEARED_LENGTH);
                    }
                }
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
        } else {
            end_arrival();
        }
        hdr.subject.setInvalid();
    }
}

#endif
