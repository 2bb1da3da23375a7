#include "options.h"

#include "net.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull
#define MAX_LINK_RATE 10000000000000ull

static const char help[] =
    "fcn-roce send --local ADDR --remote ADDR [options]   RoCEv2 sender, DCQCN reaction point\n"
    "fcn-roce recv --local ADDR [options]                 receiver, DCQCN notification point\n"
    "  --log FILE            JSON lines, CLOCK_MONOTONIC stamps (default: standard output)\n"
    "  --log-interval-ms N   rate lines per queue pair (10)\n"
    "  --qp LOCAL:REMOTE     a queue pair known in advance; repeat; switches CM off\n"
    "  --first-qp N          first local QP number given out with CM (0x11)\n"
    "  --service-id N        CM service (0x1061c06)\n"
    "  --cm-timeout-ms N     between retries (500)     --cm-retries N (20)\n"
    "sender\n"
    "  --qps N               queue pairs to set up with CM (1)\n"
    "  --mtu N               RDMA payload per packet, 256 to 4096, multiple of 4 (1024)\n"
    "  --dscp N (26)         --ecn ect0|ect1|not-ect|ce (ect0; ce: as if already marked)\n"
    "  --message-packets N   packets per RDMA WRITE, the last asks for an ACK (16)\n"
    "  --timeout-ms N        without progress until everything is sent again (500)\n"
    "  --start-at-ns N       CLOCK_MONOTONIC time of the first data packet (0: at once)\n"
    "  --duration-ms N       sending time (10000)\n"
    "  --hold-ms N           stay connected so long afterwards, or until SIGINT (0)\n"
    "  --round-ms N          rounds of this length; 0: none (0)\n"
    "  --sending-ms N        messages begin in the first N ms of each round (0)\n"
    "  --reset-ms N          N ms after it begins, reaction points are as new (0)\n"
    "  --rate-bps R (1e7)    line rate per queue pair, octets from the IP header on\n"
    "  --min-rate-bps R (1e5) --g G (0.00390625) --ai-bps R (5e6) --hai-bps R (5e7)\n"
    "  --alpha-us N (55)     --increase-us N (300)     --byte-counter N (10485760)\n"
    "  --fast-recovery N (5) --cut-interval-us N (0)\n"
    "  --link-rate-bps N     heed PAUSE frames (802.1Qbb) for the priority of --dscp, on a link of\n"
    "                        this rate; 0: do not (0)\n"
    "receiver\n"
    "  --cnp-interval-us N   minimum between CNPs of a queue pair (50)\n";

enum kind { ADDRESS, LOG, PAIR, ECN, REAL, INTEGER };

/* An option: where its value goes, what it may be, and what it is multiplied by. */
struct rule {
    const char *name;
    enum kind kind;
    size_t at, size;
    double low, high;
    uint64_t unit;
};

#define MEMBER(member) offsetof(struct options, member), sizeof((struct options *)0)->member
#define ANY 18446744073709551615.0 /* as a double 2^64, which no number is above */
#define LONGEST ((double)(UINT64_MAX / NS_PER_MS))

static const struct rule rules[] = {
    {"local", ADDRESS, MEMBER(local), 0, 0, 0},
    {"remote", ADDRESS, MEMBER(remote), 0, 0, 0},
    {"log", LOG, MEMBER(log), 0, 0, 0},
    {"qp", PAIR, MEMBER(pairs), 0, 0, 0},
    {"ecn", ECN, MEMBER(ecn), 0, 0, 0},
    {"log-interval-ms", INTEGER, MEMBER(log_interval), 1, LONGEST, NS_PER_MS},
    {"first-qp", INTEGER, MEMBER(first_qp), 2, PSN_MASK - MAX_QPS, 1},
    {"service-id", INTEGER, MEMBER(service_id), 0, ANY, 1},
    {"cm-timeout-ms", INTEGER, MEMBER(cm_timeout), 1, LONGEST, NS_PER_MS},
    {"cm-retries", INTEGER, MEMBER(cm_retries), 1, 1000, 1},
    {"qps", INTEGER, MEMBER(qp_count), 1, MAX_QPS, 1},
    {"mtu", INTEGER, MEMBER(mtu), 256, 4096, 1},
    {"dscp", INTEGER, MEMBER(dscp), 0, 63, 1},
    {"message-packets", INTEGER, MEMBER(message_packets), 1, 1 << 20, 1},
    {"timeout-ms", INTEGER, MEMBER(timeout), 1, LONGEST, NS_PER_MS},
    {"start-at-ns", INTEGER, MEMBER(start_at), 0, ANY, 1},
    {"duration-ms", INTEGER, MEMBER(duration), 1, LONGEST, NS_PER_MS},
    {"hold-ms", INTEGER, MEMBER(hold), 0, LONGEST, NS_PER_MS},
    {"round-ms", INTEGER, MEMBER(round), 0, LONGEST, NS_PER_MS},
    {"sending-ms", INTEGER, MEMBER(round_sending), 0, LONGEST, NS_PER_MS},
    {"reset-ms", INTEGER, MEMBER(round_reset), 0, LONGEST, NS_PER_MS},
    {"rate-bps", REAL, MEMBER(dcqcn.line_rate), 1e3, 1e12, 0},
    {"min-rate-bps", REAL, MEMBER(dcqcn.min_rate), 1e3, 1e12, 0},
    {"g", REAL, MEMBER(dcqcn.g), 0, 1, 0},
    {"ai-bps", REAL, MEMBER(dcqcn.additive_increase), 0, 1e12, 0},
    {"hai-bps", REAL, MEMBER(dcqcn.hyper_increase), 0, 1e12, 0},
    {"alpha-us", INTEGER, MEMBER(dcqcn.alpha_period), 1, LONGEST, NS_PER_US},
    {"increase-us", INTEGER, MEMBER(dcqcn.increase_period), 1, LONGEST, NS_PER_US},
    {"byte-counter", INTEGER, MEMBER(dcqcn.byte_counter), 1, ANY, 1},
    {"fast-recovery", INTEGER, MEMBER(dcqcn.fast_recovery_steps), 1, 1000, 1},
    {"cut-interval-us", INTEGER, MEMBER(dcqcn.cut_interval), 0, LONGEST, NS_PER_US},
    {"cnp-interval-us", INTEGER, MEMBER(cnp_interval), 0, LONGEST, NS_PER_US},
    {"link-rate-bps", INTEGER, MEMBER(link_rate), 0, MAX_LINK_RATE, 1},
};

#define RULES (sizeof rules / sizeof rules[0])

static bool parse_integer(const char *text, double low, double high, uint64_t *out)
{
    char *end;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 0);
    if (errno || end == text || *end || text[0] == '-' || (double)value < low ||
        (double)value > high)
        return false;
    *out = value;
    return true;
}

static bool parse_real(const char *text, double low, double high, double *out)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !(value >= low && value <= high))
        return false;
    *out = value;
    return true;
}

static bool parse_pair(char *text, struct options *o)
{
    char *colon = strchr(text, ':');
    uint64_t local, remote;

    if (!colon || o->pair_count == MAX_QPS)
        return false;
    *colon = '\0';
    if (!parse_integer(text, 2, PSN_MASK, &local) ||
        !parse_integer(colon + 1, 2, PSN_MASK, &remote))
        return false;
    o->pairs[o->pair_count++] = (struct qp_pair){(uint32_t)local, (uint32_t)remote};
    return true;
}

static bool parse_ecn(const char *text, enum ecn *out)
{
    static const struct {
        const char *name;
        enum ecn value;
    } known[] = {{"not-ect", NOT_ECT}, {"ect1", ECT_1}, {"ect0", ECT_0}, {"ce", ECN_CE}};

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(text, known[i].name) == 0) {
            *out = known[i].value;
            return true;
        }
    }
    return false;
}

static bool open_log(const char *path, FILE **out)
{
    *out = fopen(path, "w");
    return *out != NULL;
}

/* An integer of any size. */
static bool store(void *to, size_t size, uint64_t value)
{
    if (size == sizeof(uint8_t))
        *(uint8_t *)to = (uint8_t)value;
    else if (size == sizeof(uint16_t))
        *(uint16_t *)to = (uint16_t)value;
    else if (size == sizeof(uint32_t))
        *(uint32_t *)to = (uint32_t)value;
    else
        *(uint64_t *)to = value;
    return true;
}

static bool parse_option(const struct rule *rule, struct options *o)
{
    void *to = (char *)o + rule->at;
    uint64_t n;

    switch (rule->kind) {
    case ADDRESS:
        return ip_address_parse(optarg, to);
    case LOG:
        return open_log(optarg, to);
    case PAIR:
        return parse_pair(optarg, o);
    case ECN:
        return parse_ecn(optarg, to);
    case REAL:
        return parse_real(optarg, rule->low, rule->high, to);
    case INTEGER:
        return parse_integer(optarg, rule->low, rule->high, &n) &&
               store(to, rule->size, n * rule->unit);
    }
    return false;
}

static void set_defaults(struct options *o)
{
    *o = (struct options){
        .log = stdout,
        .log_interval = 10 * NS_PER_MS,
        .qp_count = 1,
        .first_qp = 0x11,
        .service_id = 0x1061c06,
        .cm_timeout = 500 * NS_PER_MS,
        .cm_retries = 20,
        .mtu = 1024,
        .dscp = DEFAULT_DATA_DSCP,
        .ecn = ECT_0,
        .message_packets = 16,
        .timeout = 500 * NS_PER_MS,
        .duration = 10000 * NS_PER_MS,
        .cnp_interval = 50 * NS_PER_US,
        .dcqcn = {
            .line_rate = 1e7,
            .min_rate = 1e5,
            .g = 1.0 / 256,
            .initial_alpha = 1,
            .clamp_target = true,
            .additive_increase = 5e6,
            .hyper_increase = 5e7,
            .alpha_period = 55 * NS_PER_US,
            .increase_period = 300 * NS_PER_US,
            .byte_counter = 10 << 20,
            .fast_recovery_steps = 5,
        },
    };
}

static bool complain(const char *what)
{
    fprintf(stderr, "fcn-roce: %s\n%s", what, help);
    return false;
}

bool options_parse(int argc, char **argv, struct options *o)
{
    struct option names[RULES + 1] = {{NULL, 0, NULL, 0}};
    int id, index = 0;

    for (size_t i = 0; i < RULES; i++)
        names[i] = (struct option){rules[i].name, required_argument, NULL, 0};
    set_defaults(o);
    if (argc < 2 || (strcmp(argv[1], "send") != 0 && strcmp(argv[1], "recv") != 0))
        return complain("the first argument is send or recv");
    o->sender = strcmp(argv[1], "send") == 0;
    optind = 2;
    while ((id = getopt_long(argc, argv, "", names, &index)) != -1) {
        if (id == '?')
            return complain("unknown option");
        if (!parse_option(&rules[index], o)) {
            fprintf(stderr, "fcn-roce: --%s: '%s' is not accepted\n", names[index].name, optarg);
            return false;
        }
    }
    if (optind != argc)
        return complain("too many arguments");
    if (!o->local.version)
        return complain("--local is missing");
    if (o->mtu % 4)
        return complain("--mtu is not a multiple of 4");
    if (o->sender && o->remote.version != o->local.version)
        return complain("--remote is missing or of the other IP version");
    if (o->dcqcn.min_rate > o->dcqcn.line_rate)
        return complain("--min-rate-bps is above --rate-bps");
    if (o->round && (!o->round_sending || o->round_sending > o->round))
        return complain("--sending-ms is 0 or longer than --round-ms");
    if (o->round && o->round_reset >= o->round)
        return complain("--reset-ms is not within --round-ms");
    return true;
}
