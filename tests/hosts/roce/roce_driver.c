/*
 * Test driver for the parts of fcn-roce that need no sockets. Reads one request per line from
 * standard input, answers each with one line:
 *   parse HEX                      verdict, then the fields as name=value
 *   build VERSION PAYLOAD_HEX      a packet with fixed fields, in hex
 *   cm HEX                         the fields of a CM payload, or "no"
 *   cmbuild ATTRIBUTE              a CM payload with fixed fields, in hex
 *   port LOCAL REMOTE              UDP source port of two QP numbers
 *   pause HEX RATE                 priority=ns on a link of RATE bit/s for each, or "no"
 *   dcqcn LINE MIN G AI HAI ALPHA INCREASE BYTES F CUT   start over with these parameters
 *   cnp TIME | sent TIME OCTETS | at TIME                R_C R_T alpha afterwards
 *   timely LINE MIN and struct timely_params | swift LINE MIN and struct swift_params   start over
 *   rtt TIME RTT PACKETS | loss TIME ALL                 rate, window, whether it was cut
 */
#include "cm.h"
#include "dcqcn.h"
#include "delay.h"
#include "packet.h"
#include "pfc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_OCTETS 20000
#define PACKET_BITS 8000

/* An exact-sized heap copy, so that the sanitizer sees every read past the end. */
static uint8_t *from_hex(const char *hex, size_t *len)
{
    *len = strlen(hex) / 2;
    uint8_t *data = malloc(*len ? *len : 1);
    for (size_t i = 0; i < *len; i++) {
        unsigned octet = 0;
        sscanf(hex + 2 * i, "%2x", &octet);
        data[i] = (uint8_t)octet;
    }
    return data;
}

static void print_hex(const uint8_t *data, size_t len)
{
    for (size_t i = 0; i < len; i++)
        printf("%02x", data[i]);
    putchar('\n');
}

static void parse(const char *hex)
{
    size_t len;
    uint8_t *data = from_hex(hex, &len);
    struct roce_packet p;
    enum roce_verdict verdict = roce_parse(data, len, 0, &p);

    if (verdict == ROCE_OK)
        printf("ok version=%d ecn=%d dscp=%u sport=%u opcode=%u p_key=%u becn=%d ack_req=%d "
               "dest_qp=%" PRIu32 " psn=%" PRIu32 " payload=%zu\n",
               p.src.version, p.ecn, p.dscp, p.udp_src_port, p.opcode, p.p_key, p.becn, p.ack_req,
               p.dest_qp, p.psn, p.payload_len);
    else
        printf("%s\n", roce_verdict_name(verdict));
    free(data);
}

/* Without `gap` of the zeros behind the payload; and whether that is taken. */
static void build(int version, size_t zeros, size_t gap, const char *hex)
{
    size_t len;
    uint8_t *payload = from_hex(hex, &len);
    uint8_t out[ROCE_MAX_PACKET];
    struct roce_packet p = {
        .src = {.version = version, .octets = {10, 1, 0, 1}},
        .dst = {.version = version, .octets = {10, 2, 0, 1}},
        .dscp = 26,
        .ecn = ECT_0,
        .ipv4_id = 7,
        .udp_src_port = 50000,
        .opcode = RC_WRITE_ONLY,
        .p_key = 0xffff,
        .ack_req = true,
        .dest_qp = 0x123456,
        .psn = 0xabcdef,
        .payload = payload,
        .payload_len = len + zeros,
        .zeros = zeros,
    };

    size_t built = roce_build(&p, gap, out, sizeof out);
    if (gap)
        printf("%s ", roce_verdict_name(roce_parse(out, built, gap, &p)));
    print_hex(out, built - gap);
    free(payload);
}

static void cm(const char *hex)
{
    size_t len;
    uint8_t *data = from_hex(hex, &len);
    struct cm_message m;

    if (cm_parse(data, len, &m))
        printf("%s local=%" PRIu32 " remote=%" PRIu32 " local_qp=%" PRIu32 " remote_qp=%" PRIu32
               " psn=%" PRIu32 " service=%" PRIu64 "\n",
               cm_attribute_name(m.attribute), m.local_comm_id, m.remote_comm_id, m.local_qp,
               m.remote_qp, m.starting_psn, m.service_id);
    else
        puts("no");
    free(data);
}

static void cm_build_fixed(unsigned attribute)
{
    uint8_t payload[CM_PAYLOAD];
    struct cm_message m = {
        .attribute = (enum cm_attribute)attribute,
        .transaction = 0x1122334455667788,
        .local_comm_id = 0xa1a2a3a4,
        .remote_comm_id = 0xb1b2b3b4,
        .local_qp = 0xc1c2c3,
        .remote_qp = 0xd1d2d3,
        .starting_psn = 0xe1e2e3,
        .service_id = 0x1061c06,
        .mtu = 1024,
        .reject_reason = 8,
        .local = {.version = 4, .octets = {10, 1, 0, 1}},
        .remote = {.version = 4, .octets = {10, 2, 0, 1}},
    };

    cm_build(&m, payload);
    print_hex(payload, sizeof payload);
}

static void pause_frame(const char *hex, uint64_t rate)
{
    size_t len;
    uint8_t *data = from_hex(hex, &len);
    struct pfc_frame frame;

    if (pfc_parse(data, len, &frame)) {
        printf("yes");
        for (unsigned i = 0; i < PFC_PRIORITIES; i++)
            if (frame.vector >> i & 1)
                printf(" %u=%" PRIu64, i, pfc_ns(frame.quanta[i], rate));
        putchar('\n');
    } else {
        puts("no");
    }
    free(data);
}

static void print_rates(const struct dcqcn *rp)
{
    printf("%.6f %.6f %.12f\n", rp->current_rate, rp->target_rate, rp->alpha);
}

static void print_delay(const struct delay_control *d, bool cut)
{
    printf("%.9g %.12g %d\n", d->rate, d->window, cut);
}

int main(void)
{
    static char line[LINE_MAX_OCTETS], hex[LINE_MAX_OCTETS];
    struct dcqcn rp = {0};
    struct dcqcn_params q = {0};
    struct delay_control control = {0};
    struct delay_params d = {0};
    struct timely_params *t = &d.timely;
    struct swift_params *w = &d.swift;
    uint64_t time, octets;
    unsigned a, b, by_timer, clamp;
    int version;

    while (fgets(line, sizeof line, stdin)) {
        hex[0] = '\0';
        if (sscanf(line, "parse %s", hex) >= 0 && strncmp(line, "parse", 5) == 0) {
            parse(hex);
        } else if (sscanf(line, "gap %u %u %d %s", &a, &b, &version, hex) >= 3) {
            build(version, a, b, hex);
        } else if (sscanf(line, "build %d %s", &version, hex) >= 1) {
            build(version, 0, 0, hex);
        } else if (sscanf(line, "cmbuild %u", &a) == 1) {
            cm_build_fixed(a);
        } else if (sscanf(line, "cm %s", hex) == 1) {
            cm(hex);
        } else if (sscanf(line, "pause %s %" SCNu64, hex, &time) == 2) {
            pause_frame(hex, time);
        } else if (sscanf(line, "port %u %u", &a, &b) == 2) {
            printf("%u\n", roce_udp_src_port(a, b));
        } else if (sscanf(line,
                          "dcqcn %lf %lf %lf %lf %lf %" SCNu64 " %" SCNu64 " %" SCNu64
                          " %u %" SCNu64 " %lf %" SCNu64 " %u %u",
                          &q.line_rate, &q.min_rate, &q.g, &q.additive_increase,
                          &q.hyper_increase, &q.alpha_period, &q.increase_period,
                          &q.byte_counter, &q.fast_recovery_steps, &q.cut_interval,
                          &q.initial_alpha, &q.cut_period, &by_timer, &clamp) == 14) {
            q.alpha_by_timer = by_timer;
            q.clamp_target = clamp;
            dcqcn_init(&rp, &q);
            print_rates(&rp);
        } else if (sscanf(line,
                          "timely %lf %lf %lf %lf %lf %" SCNu64 " %" SCNu64 " %" SCNu64 " %u %u",
                          &d.line_rate, &d.min_rate, &t->ewma, &t->beta, &t->additive_increase,
                          &t->low, &t->high, &t->least_rtt, &t->hyper_after,
                          &t->hyper_factor) == 10) {
            d.kind = DELAY_TIMELY;
            delay_init(&control, &d);
            print_delay(&control, false);
        } else if (sscanf(line,
                          "swift %lf %lf %lf %lf %lf %lf %lf %" SCNu64 " %" SCNu64 " %lf %lf",
                          &d.line_rate, &d.min_rate, &w->window_increase, &w->beta,
                          &w->max_decrease, &w->least_window, &w->most_window, &w->base_target,
                          &w->scaling, &w->scaling_least, &w->scaling_most) == 11) {
            d.kind = DELAY_SWIFT;
            delay_init(&control, &d);
            print_delay(&control, false);
        } else if (sscanf(line, "rtt %" SCNu64 " %" SCNu64 " %u", &time, &octets, &a) == 3) {
            print_delay(&control, delay_on_rtt(&control, octets, a, PACKET_BITS, time));
        } else if (sscanf(line, "loss %" SCNu64 " %u", &time, &a) == 2) {
            print_delay(&control, delay_on_loss(&control, a, time));
        } else if (sscanf(line, "cnp %" SCNu64, &time) == 1) {
            dcqcn_on_cnp(&rp, time);
            print_rates(&rp);
        } else if (sscanf(line, "sent %" SCNu64 " %" SCNu64, &time, &octets) == 2) {
            dcqcn_on_sent(&rp, octets, time);
            print_rates(&rp);
        } else if (sscanf(line, "at %" SCNu64, &time) == 1) {
            dcqcn_advance(&rp, time);
            print_rates(&rp);
        } else {
            puts("?");
        }
        fflush(stdout);
    }
    return 0;
}
