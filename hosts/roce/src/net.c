#include "net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define RECEIVE_BUFFER (8 << 20)
#define NS_PER_S 1000000000ull

uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

bool ip_address_parse(const char *text, struct ip_address *address)
{
    memset(address, 0, sizeof *address);
    if (inet_pton(AF_INET, text, address->octets) == 1)
        address->version = 4;
    else if (inet_pton(AF_INET6, text, address->octets) == 1)
        address->version = 6;
    return address->version != 0;
}

const char *ip_address_format(const struct ip_address *address, char *out)
{
    int family = address->version == 4 ? AF_INET : AF_INET6;

    inet_ntop(family, address->octets, out, INET6_ADDRSTRLEN);
    return out;
}

static socklen_t socket_address(const struct ip_address *address, uint16_t port,
                                struct sockaddr_storage *out)
{
    memset(out, 0, sizeof *out);
    if (address->version == 4) {
        struct sockaddr_in *in = (struct sockaddr_in *)out;
        in->sin_family = AF_INET;
        in->sin_port = htons(port);
        memcpy(&in->sin_addr, address->octets, 4);
        return sizeof *in;
    }
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)out;
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(port);
    memcpy(&in6->sin6_addr, address->octets, 16);
    return sizeof *in6;
}

static bool attach_filter(int fd, struct sock_filter *code, unsigned short len)
{
    struct sock_fprog program = {.len = len, .filter = code};

    return setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

/* Only UDP to port 4791, counted from the IP header (SOCK_DGRAM strips Ethernet). */
static bool filter_roce(int fd, int version)
{
    struct sock_filter v4[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, IPV4_PROTOCOL),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IP_PROTOCOL_UDP, 0, 4),
        BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
        BPF_STMT(BPF_LD | BPF_H | BPF_IND, UDP_DST),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ROCE_UDP_PORT, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, ROCE_MAX_PACKET),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_filter v6[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, IPV6_NEXT_HEADER),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IP_PROTOCOL_UDP, 0, 3),
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, IPV6_HEADER + UDP_DST),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ROCE_UDP_PORT, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, ROCE_MAX_PACKET),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };

    if (version == 4)
        return attach_filter(fd, v4, sizeof v4 / sizeof v4[0]);
    return attach_filter(fd, v6, sizeof v6 / sizeof v6[0]);
}

static int fail(const char *what)
{
    fprintf(stderr, "fcn-roce: %s: %s\n", what, strerror(errno));
    return -1;
}

static int open_send(const struct ip_address *local)
{
    int on = 1;
    int v4 = local->version == 4;
    int fd = socket(v4 ? AF_INET : AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);

    if (fd < 0)
        return fail("raw IP socket (root or CAP_NET_RAW is needed)");
    if (setsockopt(fd, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_HDRINCL : IPV6_HDRINCL, &on,
                   sizeof on) != 0) {
        fail("own IP headers");
        close(fd);
        return -1;
    }
    return fd;
}

static int open_receive(const struct ip_address *local)
{
    int size = RECEIVE_BUFFER;
    unsigned short protocol = htons(local->version == 4 ? ETH_P_IP : ETH_P_IPV6);
    /* Protocol 0 receives nothing: the filter must be attached before the first packet. */
    int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_ll any = {.sll_family = AF_PACKET, .sll_protocol = protocol};

    if (fd < 0)
        return fail("packet socket (root or CAP_NET_RAW is needed)");
    if (!filter_roce(fd, local->version) ||
        setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0 ||
        bind(fd, (struct sockaddr *)&any, sizeof any) != 0) {
        fail("packet socket");
        close(fd);
        return -1;
    }
    return fd;
}

static int open_sink(const struct ip_address *local)
{
    struct sock_filter nothing[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
    struct sockaddr_storage address;
    socklen_t len = socket_address(local, ROCE_UDP_PORT, &address);
    int fd = socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return fail("UDP socket");
    if (!attach_filter(fd, nothing, 1) || bind(fd, (struct sockaddr *)&address, len) != 0) {
        fail("UDP port 4791 of the local address");
        close(fd);
        return -1;
    }
    return fd;
}

bool roce_port_open(struct roce_port *port, const struct ip_address *local)
{
    memset(port, 0, sizeof *port);
    port->local = *local;
    port->next_ipv4_id = 1;
    port->receive_fd = port->send_fd = port->pause_fd = -1;
    port->sink_fd = open_sink(local);
    if (port->sink_fd >= 0)
        port->receive_fd = open_receive(local);
    if (port->receive_fd >= 0)
        port->send_fd = open_send(local);
    if (port->send_fd >= 0)
        return true;
    roce_port_close(port);
    return false;
}

static bool has_address(const struct ifaddrs *entry, const struct ip_address *address)
{
    const struct sockaddr *sa = entry->ifa_addr;

    if (!sa || sa->sa_family != (address->version == 4 ? AF_INET : AF_INET6))
        return false;
    const void *octets = address->version == 4
                             ? (const void *)&((const struct sockaddr_in *)sa)->sin_addr
                             : (const void *)&((const struct sockaddr_in6 *)sa)->sin6_addr;
    return memcmp(octets, address->octets, address->version == 4 ? 4 : 16) == 0;
}

/* The index of the interface that has the address; 0 when none has. */
static unsigned interface_of(const struct ip_address *address)
{
    struct ifaddrs *all;
    unsigned index = 0;

    if (getifaddrs(&all) != 0)
        return 0;
    for (const struct ifaddrs *entry = all; entry && !index; entry = entry->ifa_next)
        if (has_address(entry, address))
            index = if_nametoindex(entry->ifa_name);
    freeifaddrs(all);
    return index;
}

bool roce_port_heed_pauses(struct roce_port *port)
{
    unsigned index = interface_of(&port->local);
    struct sockaddr_ll at = {.sll_family = AF_PACKET,
                             .sll_protocol = htons(PFC_ETHER_TYPE),
                             .sll_ifindex = (int)index};
    struct packet_mreq group = {.mr_ifindex = (int)index,
                                .mr_type = PACKET_MR_MULTICAST,
                                .mr_alen = sizeof pfc_address};

    memcpy(group.mr_address, pfc_address, sizeof pfc_address);
    if (!index) {
        fputs("fcn-roce: no interface has the local address\n", stderr);
        return false;
    }
    port->pause_fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (port->pause_fd >= 0 && bind(port->pause_fd, (struct sockaddr *)&at, sizeof at) == 0 &&
        setsockopt(port->pause_fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &group, sizeof group) == 0)
        return true;
    fail("packet socket for PAUSE frames");
    return false;
}

void roce_port_close(struct roce_port *port)
{
    int *fds[] = {&port->sink_fd, &port->receive_fd, &port->send_fd, &port->pause_fd};

    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        if (*fds[i] >= 0)
            close(*fds[i]);
        *fds[i] = -1;
    }
}

bool roce_port_send(struct roce_port *port, struct roce_packet *packet)
{
    uint8_t buffer[ROCE_MAX_PACKET];
    struct sockaddr_storage to;

    packet->src = port->local;
    packet->ipv4_id = port->next_ipv4_id;
    /* The kernel would fill in an identification of 0, and the ICRC covers it. */
    port->next_ipv4_id = (uint16_t)(port->next_ipv4_id == 0xffff ? 1 : port->next_ipv4_id + 1);
    size_t len = roce_build(packet, 0, buffer, sizeof buffer);
    socklen_t to_len = socket_address(&packet->dst, 0, &to);
    if (len && sendto(port->send_fd, buffer, len, 0, (struct sockaddr *)&to, to_len) ==
                   (ssize_t)len)
        return true;
    port->send_errors++;
    return false;
}

bool roce_port_receive(struct roce_port *port, uint8_t buffer[ROCE_MAX_PACKET],
                       struct roce_packet *packet)
{
    for (;;) {
        struct sockaddr_ll from;
        socklen_t from_len = sizeof from;
        ssize_t len = recvfrom(port->receive_fd, buffer, ROCE_MAX_PACKET, 0,
                               (struct sockaddr *)&from, &from_len);
        if (len < 0 && errno == EINTR)
            continue;
        if (len < 0)
            return false;
        enum roce_verdict verdict = roce_parse(buffer, (size_t)len, 0, packet);
        if (verdict == ROCE_OK && (from.sll_pkttype != PACKET_HOST ||
                                   !ip_address_equal(&packet->dst, &port->local)))
            verdict = ROCE_NOT_OURS;
        port->verdicts[verdict]++;
        if (verdict == ROCE_OK)
            return true;
    }
}

bool roce_port_receive_pause(struct roce_port *port, struct pfc_frame *frame)
{
    uint8_t buffer[PFC_END];

    while (port->pause_fd >= 0) {
        ssize_t len = recv(port->pause_fd, buffer, sizeof buffer, 0);
        if (len < 0 && errno == EINTR)
            continue;
        if (len < 0)
            return false;
        if (pfc_parse(buffer, (size_t)len, frame))
            return true;
        port->pause_ignored++;
    }
    return false;
}

void roce_port_wait(struct roce_port *port, uint64_t deadline)
{
    struct pollfd fds[] = {{.fd = port->receive_fd, .events = POLLIN},
                           {.fd = port->pause_fd, .events = POLLIN}};
    uint64_t now = now_ns();
    uint64_t left = deadline > now ? deadline - now : 0;
    struct timespec ts = {.tv_sec = (time_t)(left / NS_PER_S), .tv_nsec = (long)(left % NS_PER_S)};

    ppoll(fds, 2, &ts, NULL);
}

uint64_t roce_port_lost(struct roce_port *port)
{
    struct tpacket_stats stats;
    socklen_t len = sizeof stats;

    if (getsockopt(port->receive_fd, SOL_PACKET, PACKET_STATISTICS, &stats, &len) != 0)
        return 0;
    return stats.tp_drops;
}
