#include "sw_port.h"
#include "sw_pcap.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define RING_BYTES (8u << 20)
#define SOCKET_BUFFER (16 << 20)
/* Octets, with the kernel's own overhead, that may wait in an interface's queueing discipline; what
 * comes after waits in the traffic manager, where the program sees it. A dozen full frames. */
#define QUEUEING_BUFFER (32 << 10)
#define FRAME_OVERHEAD 256u /* ring header, virtio header, alignment, link header */

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

static int set_int(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof value);
}

static uint32_t ring_frame_size(int fd, const sw_netif *n)
{
    struct ifreq r = {0};
    memcpy(r.ifr_name, n->name, sizeof r.ifr_name);
    uint32_t mtu = ioctl(fd, SIOCGIFMTU, &r) ? 1500 : (uint32_t)r.ifr_mtu;
    uint32_t need = (mtu < SW_MAX_FRAME ? mtu : SW_MAX_FRAME) + FRAME_OVERHEAD, size = 2048;
    while (size < need)
        size *= 2;
    return size;
}

static bool open_rx(sw_netif *n)
{
    n->rx = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (n->rx < 0)
        return false;
    n->frame_size = ring_frame_size(n->rx, n);
    n->n_frames = RING_BYTES / n->frame_size;
    uint32_t block = n->frame_size > 65536 ? n->frame_size : 65536;
    struct tpacket_req req = {
        .tp_block_size = block,
        .tp_block_nr = RING_BYTES / block,
        .tp_frame_size = n->frame_size,
        .tp_frame_nr = n->n_frames,
    };
    struct packet_mreq promisc = {.mr_ifindex = n->index, .mr_type = PACKET_MR_PROMISC};
    if (set_int(n->rx, SOL_PACKET, PACKET_VERSION, TPACKET_V2) ||
        set_int(n->rx, SOL_PACKET, PACKET_VNET_HDR, 1) ||
        set_int(n->rx, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1) ||
        setsockopt(n->rx, SOL_PACKET, PACKET_RX_RING, &req, sizeof req))
        return false;
    void *ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, n->rx, 0);
    if (ring == MAP_FAILED)
        return false;
    n->ring = ring;
    return setsockopt(n->rx, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promisc, sizeof promisc) == 0;
}

bool sw_netif_listen(sw_netif *n)
{
    struct sockaddr_ll at = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = n->index};
    return bind(n->rx, (struct sockaddr *)&at, sizeof at) == 0;
}

static void bypass_queueing(int tx, bool bypass)
{
    set_int(tx, SOL_PACKET, PACKET_QDISC_BYPASS, bypass);
    if (!bypass || set_int(tx, SOL_SOCKET, SO_SNDBUFFORCE, SOCKET_BUFFER))
        set_int(tx, SOL_SOCKET, SO_SNDBUF, bypass ? SOCKET_BUFFER : QUEUEING_BUFFER);
}

static bool open_tx(sw_netif *n)
{
    struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_ifindex = n->index};
    n->tx = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (n->tx < 0)
        return false;
    bypass_queueing(n->tx, true);
    return bind(n->tx, (struct sockaddr *)&at, sizeof at) == 0;
}

sw_netif *sw_netif_open(uint32_t port, const char *ifname)
{
    unsigned index = if_nametoindex(ifname);
    if (!index)
        return NULL;
    sw_netif *n = calloc(1, sizeof *n);
    if (!n)
        return NULL;
    n->port = port;
    n->index = (int)index;
    n->rx = n->tx = n->kept_in = n->kept_out = -1;
    snprintf(n->name, sizeof n->name, "%s", ifname);
    n->tx_bytes = malloc(SW_TX_BYTES);
    for (uint32_t i = 0; i < SW_BATCH; i++) {
        n->messages[i].msg_hdr.msg_iov = &n->parts[i];
        n->messages[i].msg_hdr.msg_iovlen = 1;
    }
    if (!n->tx_bytes || !open_rx(n) || !open_tx(n)) {
        int why = errno;
        sw_netif_close(n);
        errno = why;
        return NULL;
    }
    return n;
}

void sw_netif_close(sw_netif *n)
{
    if (n->xsk)
        sw_xsk_close(n->xsk);
    if (n->ring)
        munmap(n->ring, RING_BYTES);
    if (n->rx >= 0)
        close(n->rx);
    if (n->tx >= 0)
        close(n->tx);
    free(n->tx_bytes);
    free(n);
}

bool sw_netif_running(const sw_netif *n)
{
    struct ifreq r = {0};
    memcpy(r.ifr_name, n->name, sizeof r.ifr_name);
    return ioctl(n->tx, SIOCGIFFLAGS, &r) == 0 && (r.ifr_flags & IFF_UP) &&
           (r.ifr_flags & IFF_RUNNING);
}

uint32_t sw_netif_lost(const sw_netif *n)
{
    struct tpacket_stats s = {0};
    socklen_t size = sizeof s;
    return getsockopt(n->rx, SOL_PACKET, PACKET_STATISTICS, &s, &size) ? 0 : s.tp_drops;
}

/* Local senders leave the transport checksum to the hardware (offload): compute it. */
static void complete_checksum(uint8_t *frame, uint32_t len, const struct virtio_net_hdr *v)
{
    uint32_t at = (uint32_t)v->csum_start + v->csum_offset;
    if (v->csum_start >= len || at + 2 > len)
        return;
    uint64_t sum = sw_hash_csum16(frame + v->csum_start, len - v->csum_start);
    sw_st16(frame + at, sum ? sum : 0xffff);
}

static void receive(sw_engine *e, sw_netif *n, const struct tpacket2_hdr *h, const uint8_t *frame,
                    uint32_t len)
{
    if (n->kept_in >= 0) {
        struct timespec at = {.tv_sec = h->tp_sec, .tv_nsec = h->tp_nsec};
        e->capture_drops += !sw_pcap_write(n->kept_in, at, frame, len);
    }
    sw_receive(e, n->port, frame, len);
}

static void take_frame(sw_engine *e, sw_netif *n, struct tpacket2_hdr *h)
{
    uint8_t *frame = (uint8_t *)h + h->tp_mac;
    uint32_t len = h->tp_snaplen;
    struct virtio_net_hdr v;
    memcpy(&v, frame - sizeof v, sizeof v);
    if (v.gso_type != VIRTIO_NET_HDR_GSO_NONE) {
        e->gso_drops++;
        return;
    }
    if (h->tp_snaplen < h->tp_len || len > SW_MAX_FRAME) {
        e->oversize_drops++;
        return;
    }
    if (v.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM)
        complete_checksum(frame, len, &v);
    if ((h->tp_status & TP_STATUS_VLAN_VALID) && len >= 12) {
        uint8_t tagged[SW_MAX_FRAME + 4];
        bool known = h->tp_status & TP_STATUS_VLAN_TPID_VALID;
        memcpy(tagged, frame, 12);
        sw_st16(tagged + 12, known ? h->tp_vlan_tpid : ETH_P_8021Q);
        sw_st16(tagged + 14, h->tp_vlan_tci);
        memcpy(tagged + 16, frame + 12, len - 12);
        receive(e, n, h, tagged, len + 4);
        return;
    }
    receive(e, n, h, frame, len);
}

uint32_t sw_netif_poll(sw_engine *e, sw_netif *n, uint32_t limit)
{
    uint32_t taken = 0;
    while (taken < limit) {
        struct tpacket2_hdr *h = (void *)(n->ring + (size_t)n->at * n->frame_size);
        if (!(__atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
            break;
        take_frame(e, n, h);
        __atomic_store_n(&h->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
        n->at = n->at + 1 == n->n_frames ? 0 : n->at + 1;
        taken++;
    }
    return taken;
}

void sw_netif_up(sw_netif *n)
{
    if (!n->xsk && !n->queueing)
        n->xsk = sw_xsk_open(n->index);
}

void sw_netif_down(sw_netif *n)
{
    if (n->xsk)
        sw_xsk_close(n->xsk);
    n->xsk = NULL;
}

static void flush_messages(sw_engine *e, sw_netif *n)
{
    uint32_t sent = 0;
    while (sent < n->tx_count) {
        int r = sendmmsg(n->tx, n->messages + sent, n->tx_count - sent, MSG_DONTWAIT);
        if (r > 0) {
            sent += (uint32_t)r;
            continue;
        }
        if (errno == EINTR)
            continue;
        /* The first of the remaining messages failed (too long, or the link is down). */
        e->tx_errors++;
        sent++;
    }
    n->tx_count = n->tx_used = 0;
}

static void flush_xsk(sw_engine *e, sw_netif *n)
{
    if (n->xsk_used)
        e->tx_errors += sw_xsk_flush(n->xsk);
    n->xsk_used = false;
}

void sw_netif_flush(sw_engine *e, sw_netif *n)
{
    flush_xsk(e, n);
    if (n->tx_count)
        flush_messages(e, n);
}

void sw_netif_set_queueing(sw_engine *e, sw_netif *n, bool queueing)
{
    if (queueing == n->queueing)
        return;
    sw_netif_flush(e, n);
    n->queueing = queueing;
    bypass_queueing(n->tx, !queueing);
    if (queueing)
        sw_netif_down(n);
    else
        sw_port_hold(e, n->port, false);
}

bool sw_netif_has_room(const sw_netif *n)
{
    struct pollfd p = {.fd = n->tx, .events = POLLOUT};
    return poll(&p, 1, 0) == 1;
}

static void send_queueing(sw_engine *e, sw_netif *n, const uint8_t *data, uint32_t len)
{
    ssize_t r;
    do
        r = send(n->tx, data, len, MSG_DONTWAIT);
    while (r < 0 && errno == EINTR);
    if (r < 0)
        e->tx_errors++;
    if (!sw_netif_has_room(n))
        sw_port_hold(e, n->port, true);
}

/* Frames are sent in order, so at most one of the two sockets has frames queued. */
static bool send_by_xsk(sw_engine *e, sw_netif *n, const uint8_t *data, uint32_t len)
{
    if (!n->xsk || len > SW_XSK_FRAME)
        return false;
    if (n->tx_count)
        flush_messages(e, n);
    if (!sw_xsk_put(n->xsk, data, len)) {
        flush_xsk(e, n);
        if (!sw_xsk_put(n->xsk, data, len)) {
            e->tx_errors++;
            return true;
        }
    }
    n->xsk_used = true;
    return true;
}

void sw_netif_send(sw_engine *e, sw_netif *n, const uint8_t *data, uint32_t len)
{
    if (n->kept_out >= 0) {
        struct timespec at;
        clock_gettime(CLOCK_REALTIME, &at);
        e->capture_drops += !sw_pcap_write(n->kept_out, at, data, len);
    }
    if (n->queueing) {
        send_queueing(e, n, data, len);
        return;
    }
    if (send_by_xsk(e, n, data, len))
        return;
    flush_xsk(e, n);
    if (n->tx_count == SW_BATCH || n->tx_used + len > SW_TX_BYTES)
        flush_messages(e, n);
    uint8_t *to = n->tx_bytes + n->tx_used;
    memcpy(to, data, len);
    n->parts[n->tx_count++] = (struct iovec){to, len};
    n->tx_used += len;
}
