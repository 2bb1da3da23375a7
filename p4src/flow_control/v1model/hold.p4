#ifndef FCN_HOLD_P4
#define FCN_HOLD_P4

#include "../../base/v1model/externs.p4"
#include "../../base/sizes.p4"
#include "../../base/types.p4"
#include "../../fast_cnp/v1model/budget_gate.p4"
#include "../flow_control_types.p4"

// BudgetState: Hold in ingress writes it, egress reads it. What it was before the packet waited in a
// queue would be out of date there.
register<bit<2>, bit<1>>(1) budget_state;

// How long the queue of a port was when a packet left it last; egress writes it.
register<bit<19>, port_t>(PORT_COUNTER_SIZE) queue_depths;

// Until when each hold lasts; egress of a PE reads it, for the same reason.
register<bit<48>, hold_cell_t>(HOLD_CELLS) hold_ends;

// What may wait for one port: a data centre has a share of the budget, a neighbour all of it.
struct hold_room_t {
    bit<32> packets;
    bit<32> octets;
}
const hold_room_t ALL_ROOM = { 0xffffffff, 0xffffffff };

// Hold: stops exactly the traffic that a neighbour asked to stop, for as long as it asked (SRF-7). A held packet
// circulates through PARK_PORT, whose rate bounds the work, and comes here again each time. Its ticket keeps the
// order: it leaves when its turn has come, and new packets of its hold join behind it until none is left. What waited
// fills gaps of its port: it leaves while the port's queue is short, and otherwise at a rate of its own.
// BEGIN and END: a neighbour behind `port` asks; PASS: a new packet goes out of `port`; TURN: a parked one came round.
// Reads:  meta.request, port, meta.traffic, octets of a new packet, room at its port; time now, meta.time; of a parked
//         packet its cell, ticket, octets and meta.egress_port; queue_depths. Times are in microseconds.
// Writes: meta.verdict, meta.event, budget_state, hold_ends; cell, ticket and octets of a packet that waits.
// When:   once per packet and pass, while flow control is on; of what waits, until it has left.
// A chip that pauses queues (t2na: adv_flow_ctl) answers PASS with the queue of the hold, and needs no TURN.
control Hold(
        in bit<48> now, in port_t port, in bit<16> octets, in hold_room_t room, inout flow_control_meta_t meta) {
    // Of each hold: what it stops; the ticket for the next packet and that of the next to leave; when one
    // left last; the ticket, plus one, of the packet that was the first to come round since then.
    register<ipv6_addr_t, hold_cell_t>(HOLD_CELLS) sources;
    register<ipv6_addr_t, hold_cell_t>(HOLD_CELLS) destinations;
    register<bit<112>, hold_cell_t>(HOLD_CELLS) others;
    register<bit<32>, hold_cell_t>(HOLD_CELLS) next_tickets;
    register<bit<32>, hold_cell_t>(HOLD_CELLS) next_outs;
    register<bit<48>, hold_cell_t>(HOLD_CELLS) last_outs;
    register<bit<33>, hold_cell_t>(HOLD_CELLS) first_rounds;
    // When hold_meter counted a hold last, or since when one waits for it; the line of each port
    register<bit<32>, bit<16>>(FLOW_GATE_SIZE) counted_at;
    register<bit<96>, tenant_t>(TENANT_CELLS) lines;
    FlowDue(counted_at) count_due;
    LineGate(counted_at, lines) hold_gate;
    LineTurn(counted_at, lines) hold_turn;
    // Of the node
    register<bit<32>, bit<1>>(1) held_packets;
    register<bit<32>, bit<1>>(1) held_octets;
    // By the port they wait for
    register<bit<32>, port_t>(PORT_COUNTER_SIZE) port_packets;
    register<bit<32>, port_t>(PORT_COUNTER_SIZE) port_octets;
    // Bounds the holds that a neighbour begins, and those it goes on renewing: each is counted again after twice the
    // longest time, and those that were refused come first (SRF-7).
    METER(".hold_meter", hold_meter, port_t, PORT_COUNTER_SIZE)

    bit<32> max_packets;
    bit<32> max_octets;
    bit<32> mark_packets;
    bit<32> mark_octets;
    bit<32> low_packets;
    bit<32> low_octets;
    bit<48> max_time;
    bit<19> gap_depth;
    bit<48> gap_interval;

    action set_hold_budget(
            bit<32> packets, bit<32> octet_count, bit<32> packets_mark, bit<32> octets_mark,
            bit<32> packets_low, bit<32> octets_low, microseconds_t longest, bit<19> drain_depth,
            microseconds_t drain_interval) {
        max_packets = packets;
        max_octets = octet_count;
        mark_packets = packets_mark;
        mark_octets = octets_mark;
        low_packets = packets_low;
        low_octets = octets_low;
        max_time = (bit<48>)longest;
        gap_depth = drain_depth;
        gap_interval = (bit<48>)drain_interval;
    }

    // Packets and octets beyond which the node takes no more, and the longest hold. From the mark on, upstream
    // neighbours are told to hold; when no more than the low mark is left, to go on. What waited leaves while the queue
    // of its port is shorter than the drain depth, or at least one packet per drain interval of each hold.
    @name(".hold_budget")
    table hold_budget {
        actions = {
            set_hold_budget;
        }
        default_action = set_hold_budget(0, 0, 0xffffffff, 0xffffffff, 0, 0, 0, 0, 0);
    }

    apply {
        hold_cell_t cell = meta.cell;
        bit<112> other = 7w0 ++ port ++ meta.traffic.ip_version ++ meta.traffic.label ++ meta.traffic.protocol
            ++ meta.traffic.src_port ++ meta.traffic.dst_port ++ meta.traffic.priority;
        if (meta.request != HoldRequest.TURN) {
            hash(cell, HashAlgorithm.crc16, 10w0, { other, meta.traffic.src, meta.traffic.dst }, (bit<32>)HOLD_CELLS);
        }
        bit<48> end;
        bit<32> next_ticket;
        bit<32> next_out;
        bit<32> packets;
        bit<32> held;
        hold_ends.read(end, cell);
        next_tickets.read(next_ticket, cell);
        next_outs.read(next_out, cell);
        held_packets.read(packets, 0);
        held_octets.read(held, 0);
        hold_budget.apply();

        bool in_use = end > now || next_ticket != next_out;
        bool same = false;
        if (in_use && meta.request != HoldRequest.TURN) {
            ipv6_addr_t source;
            ipv6_addr_t destination;
            bit<112> rest;
            sources.read(source, cell);
            destinations.read(destination, cell);
            others.read(rest, cell);
            same = source == meta.traffic.src && destination == meta.traffic.dst && rest == other;
        }

        if (meta.request == HoldRequest.BEGIN) {
            bit<48> time = (bit<48>)meta.time;
            if (time > max_time) {
                time = max_time;
            }
            color_t color = GREEN;
            if (in_use && !same) {
                meta.verdict = HoldVerdict.NO_CELL;
            } else {
                bit<32> counted;
                bool due;
                count_due.apply((bit<16>)cell, (microseconds_t)(max_time + max_time), now, counted, due);
                // What was counted is over.
                if (!same && counted[0:0] == 1) {
                    counted = 0;
                    due = true;
                }
                if (due) {
                    bool asks;
                    color = RED;
                    hold_gate.apply((bit<16>)cell, (tenant_t)port, now, counted, asks);
                    if (asks) {
                        EXECUTE_METER(hold_meter, port, color)
                        hold_turn.apply((bit<16>)cell, (tenant_t)port, now, counted, color == GREEN, 0);
                    }
                }
                if (color != GREEN) {
                    meta.verdict = HoldVerdict.LIMIT;
                } else if (same) {
                    hold_ends.write(cell, now + time);
                    meta.event = HoldEvent.RENEWED;
                } else {
                    sources.write(cell, meta.traffic.src);
                    destinations.write(cell, meta.traffic.dst);
                    others.write(cell, other);
                    hold_ends.write(cell, now + time);
                    meta.event = HoldEvent.BEGUN;
                }
            }
        } else if (meta.request == HoldRequest.END) {
            if (same && end > now) {
                hold_ends.write(cell, now);
                meta.event = HoldEvent.ENDED_EARLY;
            } else {
                meta.event = HoldEvent.UNKNOWN;
            }
        } else if (meta.request == HoldRequest.PASS) {
            if (same) {
                bit<32> at_port;
                bit<32> octets_at_port;
                port_packets.read(at_port, port);
                port_octets.read(octets_at_port, port);
                if (packets >= max_packets || held + (bit<32>)octets > max_octets || at_port >= room.packets
                        || octets_at_port + (bit<32>)octets > room.octets) {
                    meta.verdict = HoldVerdict.NO_ROOM;
                } else {
                    packets = packets + 1;
                    held = held + (bit<32>)octets;
                    held_packets.write(0, packets);
                    held_octets.write(0, held);
                    port_packets.write(port, at_port + 1);
                    port_octets.write(port, octets_at_port + (bit<32>)octets);
                    next_tickets.write(cell, next_ticket + 1);
                    meta.cell = cell;
                    meta.ticket = next_ticket;
                    meta.octets = octets;
                    meta.verdict = HoldVerdict.WAIT;
                    meta.event = HoldEvent.PARKED;
                }
            }
        } else {
            meta.verdict = HoldVerdict.WAIT;
            bit<32> behind = meta.ticket - next_out;
            bit<33> round = (bit<33>)meta.ticket + 1;
            bit<33> first;
            bit<48> last_out;
            bit<19> depth;
            first_rounds.read(first, cell);
            last_outs.read(last_out, cell);
            queue_depths.read(depth, meta.egress_port);
            if (end > now) {
                first = 0;
            } else if (behind == 0 && depth >= gap_depth && now < last_out + gap_interval) {
                // Its turn, but no gap
                first = 0;
            } else if (behind == 0) {
                meta.verdict = HoldVerdict.GO;
                meta.event = HoldEvent.LEFT;
            } else if (first == 0) {
                first = round;
            } else if (first == round && now > end + max_time && now > last_out + max_time) {
                // All that waits came round, but not those in front of it: the queue of PARK_PORT was too short.
                meta.verdict = HoldVerdict.GO;
                meta.event = HoldEvent.SKIPPED;
            }
            if (meta.verdict == HoldVerdict.GO) {
                first = 0;
                bit<32> at_port;
                bit<32> octets_at_port;
                port_packets.read(at_port, meta.egress_port);
                port_octets.read(octets_at_port, meta.egress_port);
                if (behind[31:31] == 0) {
                    next_outs.write(cell, meta.ticket + 1);
                    last_outs.write(cell, now);
                    // Of those counted before the registers were reset there may be more.
                    packets = packets |-| (behind + 1);
                    at_port = at_port |-| (behind + 1);
                }
                octets_at_port = octets_at_port |-| (bit<32>)meta.octets;
                if (at_port == 0) {
                    octets_at_port = 0;
                }
                port_packets.write(meta.egress_port, at_port);
                port_octets.write(meta.egress_port, octets_at_port);
                // What was lost has its octets until nothing is left.
                if (packets == 0 || held < (bit<32>)meta.octets) {
                    held = 0;
                } else {
                    held = held - (bit<32>)meta.octets;
                }
                held_packets.write(0, packets);
                held_octets.write(0, held);
            }
            first_rounds.write(cell, first);
        }

        if (packets >= mark_packets || held >= mark_octets) {
            budget_state.write(0, (bit<2>)BudgetState.CONGESTED);
        } else if (packets <= low_packets && held <= low_octets) {
            budget_state.write(0, (bit<2>)BudgetState.RELIEVED);
        } else {
            budget_state.write(0, (bit<2>)BudgetState.BETWEEN);
        }
    }
}

#endif
