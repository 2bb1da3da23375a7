// A meter's tokens go to whoever comes at the right moment, which may be the same flows for ever. Here no flow is told twice
// while another, which a full meter refused, waits: the oldest that waits is told as soon as all others were told once.
// Cell of a flow, in microseconds: 0: nothing yet; odd: when it was told; even: since when it waits.
// Line, in microseconds: since when the oldest that waits does so (48), last refusal (48). It holds back while refusals go on,
// and after the last for a quarter of the time between the two: who waits and does not come back shuts out nobody for longer.
#ifndef FCN_BUDGET_GATE_P4
#define FCN_BUDGET_GATE_P4

#define WAITS(cell) ((cell) != 0 && (cell)[0:0] == 0)
#define HOLDS_BACK(since, refused, now) ((now) - (refused) <= ((refused) - (since)) >> 2)

// Who waits longer counts as new: thus nobody is held back for longer than 5/4 of this, whatever others send.
const microseconds_t LONGEST_WAIT = 1 << 18;

// BudgetGate: may a flow ask the meter (FCN-11, FCN-15)?
// Reads:  the flow's cell, interval, time now in microseconds.
// Writes: last: the cell; pass: the interval is over, and nobody waits since before the flow was told.
// When:   before a notification is sent.
control BudgetGate(
        in bit<16> index, in microseconds_t interval, in bit<48> now, out bit<32> last, out bool pass)(
        register<bit<32>, bit<16>> cells, register<bit<96>, bit<1>> line) {
    apply {
        cells.read(last, index);
        pass = true;
        if (last[0:0] == 1) {
            bit<32> age = (now[31:0] | 1) - last;
            pass = age >= interval;
            if (pass) {
                bit<96> times;
                line.read(times, 0);
                bit<48> waited = now - times[95:48];
                pass = !HOLDS_BACK(times[95:48], times[47:0], now) || age >= waited[31:0];
            }
        }
    }
}

// BudgetTurn: what the meter said.
// Reads:  time now and last as in BudgetGate; granted; earlier: by how much sooner the flow may be told again.
// Writes: the flow's cell, the line.
// When:   a flow has asked.
control BudgetTurn(
        in bit<16> index, in bit<48> now, in bit<32> last, in bool granted, in microseconds_t earlier)(
        register<bit<32>, bit<16>> cells, register<bit<96>, bit<1>> line) {
    apply {
        bit<96> times;
        line.read(times, 0);
        bit<48> since = times[95:48];
        bit<48> start = now;
        bool waits = WAITS(last) && now[31:0] - last <= LONGEST_WAIT;
        if (waits) {
            start = now - (bit<48>)(now[31:0] - last);
        }
        if (granted) {
            cells.write(index, (now[31:0] - earlier) | 1);
            // The others that wait say so themselves.
            if (waits && start <= since) {
                line.write(0, 0);
            }
        } else {
            if (!waits) {
                cells.write(index, now[31:1] ++ 1w0);
            }
            if (HOLDS_BACK(since, times[47:0], now) && since < start && now - since <= (bit<48>)LONGEST_WAIT) {
                start = since;
            }
            line.write(0, start ++ now);
        }
    }
}

#endif
