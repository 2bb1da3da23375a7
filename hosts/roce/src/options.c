#include "options.h"

#include "net.h"

#include <errno.h>
#include <getopt.h>
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

enum option_id {
    LOCAL = 256, REMOTE, LOG, LOG_INTERVAL, QP, FIRST_QP, SERVICE_ID, CM_TIMEOUT, CM_RETRIES,
    QPS, MTU, DSCP, ECN, MESSAGE_PACKETS, TIMEOUT, START_AT, DURATION, HOLD, ROUND, SENDING, RESET,
    RATE, MIN_RATE, G, AI, HAI, ALPHA, INCREASE, BYTE_COUNTER, FAST_RECOVERY, CUT_INTERVAL, CNP_INTERVAL, LINK_RATE,
};

static const struct option names[] = {
    {"local", required_argument, NULL, LOCAL},
    {"remote", required_argument, NULL, REMOTE},
    {"log", required_argument, NULL, LOG},
    {"log-interval-ms", required_argument, NULL, LOG_INTERVAL},
    {"qp", required_argument, NULL, QP},
    {"first-qp", required_argument, NULL, FIRST_QP},
    {"service-id", required_argument, NULL, SERVICE_ID},
    {"cm-timeout-ms", required_argument, NULL, CM_TIMEOUT},
    {"cm-retries", required_argument, NULL, CM_RETRIES},
    {"qps", required_argument, NULL, QPS},
    {"mtu", required_argument, NULL, MTU},
    {"dscp", required_argument, NULL, DSCP},
    {"ecn", required_argument, NULL, ECN},
    {"message-packets", required_argument, NULL, MESSAGE_PACKETS},
    {"timeout-ms", required_argument, NULL, TIMEOUT},
    {"start-at-ns", required_argument, NULL, START_AT},
    {"duration-ms", required_argument, NULL, DURATION},
    {"hold-ms", required_argument, NULL, HOLD},
    {"round-ms", required_argument, NULL, ROUND},
    {"sending-ms", required_argument, NULL, SENDING},
    {"reset-ms", required_argument, NULL, RESET},
    {"rate-bps", required_argument, NULL, RATE},
    {"min-rate-bps", required_argument, NULL, MIN_RATE},
    {"g", required_argument, NULL, G},
    {"ai-bps", required_argument, NULL, AI},
    {"hai-bps", required_argument, NULL, HAI},
    {"alpha-us", required_argument, NULL, ALPHA},
    {"increase-us", required_argument, NULL, INCREASE},
    {"byte-counter", required_argument, NULL, BYTE_COUNTER},
    {"fast-recovery", required_argument, NULL, FAST_RECOVERY},
    {"cut-interval-us", required_argument, NULL, CUT_INTERVAL},
    {"cnp-interval-us", required_argument, NULL, CNP_INTERVAL},
    {"link-rate-bps", required_argument, NULL, LINK_RATE},
    {NULL, 0, NULL, 0},
};

static bool parse_integer(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
    char *end;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 0);
    if (errno || end == text || *end || text[0] == '-' || value < low || value > high)
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

static bool parse_option(int id, struct options *o)
{
    uint64_t n = 0;
    uint64_t scale = 1, *time = NULL;
    bool ok;

    switch (id) {
    case LOCAL:
        return ip_address_parse(optarg, &o->local);
    case REMOTE:
        return ip_address_parse(optarg, &o->remote);
    case LOG:
        return open_log(optarg, &o->log);
    case QP:
        return parse_pair(optarg, o);
    case ECN:
        return parse_ecn(optarg, &o->ecn);
    case SERVICE_ID:
        return parse_integer(optarg, 0, UINT64_MAX, &o->service_id);
    case BYTE_COUNTER:
        return parse_integer(optarg, 1, UINT64_MAX, &o->dcqcn.byte_counter);
    case START_AT:
        return parse_integer(optarg, 0, UINT64_MAX, &o->start_at);
    case LINK_RATE:
        return parse_integer(optarg, 0, MAX_LINK_RATE, &o->link_rate);
    case RATE:
        return parse_real(optarg, 1e3, 1e12, &o->dcqcn.line_rate);
    case MIN_RATE:
        return parse_real(optarg, 1e3, 1e12, &o->dcqcn.min_rate);
    case G:
        return parse_real(optarg, 0, 1, &o->dcqcn.g);
    case AI:
        return parse_real(optarg, 0, 1e12, &o->dcqcn.additive_increase);
    case HAI:
        return parse_real(optarg, 0, 1e12, &o->dcqcn.hyper_increase);
    case FIRST_QP:
        ok = parse_integer(optarg, 2, PSN_MASK - MAX_QPS, &n);
        o->first_qp = (uint32_t)n;
        return ok;
    case CM_RETRIES:
        ok = parse_integer(optarg, 1, 1000, &n);
        o->cm_retries = (unsigned)n;
        return ok;
    case QPS:
        ok = parse_integer(optarg, 1, MAX_QPS, &n);
        o->qp_count = (unsigned)n;
        return ok;
    case MTU:
        ok = parse_integer(optarg, 256, 4096, &n) && n % 4 == 0;
        o->mtu = (uint16_t)n;
        return ok;
    case DSCP:
        ok = parse_integer(optarg, 0, 63, &n);
        o->dscp = (uint8_t)n;
        return ok;
    case MESSAGE_PACKETS:
        ok = parse_integer(optarg, 1, 1 << 20, &n);
        o->message_packets = (unsigned)n;
        return ok;
    case FAST_RECOVERY:
        ok = parse_integer(optarg, 1, 1000, &n);
        o->dcqcn.fast_recovery_steps = (unsigned)n;
        return ok;
    case LOG_INTERVAL:
        time = &o->log_interval, scale = NS_PER_MS;
        break;
    case CM_TIMEOUT:
        time = &o->cm_timeout, scale = NS_PER_MS;
        break;
    case DURATION:
        time = &o->duration, scale = NS_PER_MS;
        break;
    case TIMEOUT:
        time = &o->timeout, scale = NS_PER_MS;
        break;
    case HOLD:
        time = &o->hold, scale = NS_PER_MS;
        break;
    case ROUND:
        time = &o->round, scale = NS_PER_MS;
        break;
    case SENDING:
        time = &o->round_sending, scale = NS_PER_MS;
        break;
    case RESET:
        time = &o->round_reset, scale = NS_PER_MS;
        break;
    case ALPHA:
        time = &o->dcqcn.alpha_period, scale = NS_PER_US;
        break;
    case INCREASE:
        time = &o->dcqcn.increase_period, scale = NS_PER_US;
        break;
    case CUT_INTERVAL:
        time = &o->dcqcn.cut_interval, scale = NS_PER_US;
        break;
    case CNP_INTERVAL:
        time = &o->cnp_interval, scale = NS_PER_US;
        break;
    default:
        return false;
    }
    bool may_be_zero =
        time == &o->dcqcn.cut_interval || time == &o->cnp_interval || time == &o->hold ||
        time == &o->round || time == &o->round_sending || time == &o->round_reset;
    ok = parse_integer(optarg, may_be_zero ? 0 : 1, UINT64_MAX / NS_PER_MS, &n);
    *time = n * scale;
    return ok;
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
    int id, index = 0;

    set_defaults(o);
    if (argc < 2 || (strcmp(argv[1], "send") != 0 && strcmp(argv[1], "recv") != 0))
        return complain("the first argument is send or recv");
    o->sender = strcmp(argv[1], "send") == 0;
    optind = 2;
    while ((id = getopt_long(argc, argv, "", names, &index)) != -1) {
        if (id == '?')
            return complain("unknown option");
        if (!parse_option(id, o)) {
            fprintf(stderr, "fcn-roce: --%s: '%s' is not accepted\n", names[index].name, optarg);
            return false;
        }
    }
    if (optind != argc)
        return complain("too many arguments");
    if (!o->local.version)
        return complain("--local is missing");
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
