/*
 * Sockets of a RoCEv2 host without RDMA hardware: raw IP sockets send, so the kernel routes and
 * resolves neighbours; an AF_PACKET socket receives whole IP packets; a UDP socket that is
 * never read keeps the kernel from answering with ICMP port unreachable. One more AF_PACKET socket
 * receives MAC control frames of the interface that has the local address, where these are heeded.
 */
#ifndef FCN_ROCE_NET_H
#define FCN_ROCE_NET_H

#include "packet.h"
#include "pfc.h"

/* Packets received in one batch, so that a flood delays neither timers nor termination. */
#define RECEIVE_BATCH 64

struct roce_port {
    struct ip_address local;
    int send_fd;
    int receive_fd;
    int sink_fd;
    int pause_fd; /* -1: PAUSE frames are not heeded */
    uint16_t next_ipv4_id;
    uint64_t send_errors;
    uint64_t verdicts[ROCE_VERDICTS];
    uint64_t pause_ignored; /* MAC control frames that are no PAUSE by priority */
};

/* CLOCK_MONOTONIC in nanoseconds: one clock for all processes and switches of a machine. */
uint64_t now_ns(void);

/* Parse a numeric IPv4 or IPv6 address. */
bool ip_address_parse(const char *text, struct ip_address *address);

/* Print into out (at least INET6_ADDRSTRLEN octets) and return it. */
const char *ip_address_format(const struct ip_address *address, char *out);

/* Open the sockets for packets to and from local; false after printing the reason to stderr. */
bool roce_port_open(struct roce_port *port, const struct ip_address *local);

/* Receive PAUSE frames, too; false after printing the reason to stderr. */
bool roce_port_heed_pauses(struct roce_port *port);

void roce_port_close(struct roce_port *port);

/* Send from port->local (packet->src and ipv4_id are filled in); counts failures. */
bool roce_port_send(struct roce_port *port, struct roce_packet *packet);

/*
 * Next packet addressed to port->local, without blocking; packet->payload points into buffer.
 * False when there is none left. Packets with another verdict than ROCE_OK are counted.
 */
bool roce_port_receive(struct roce_port *port, uint8_t buffer[ROCE_MAX_PACKET],
                       struct roce_packet *packet);

/* Next PAUSE frame, without blocking; false when there is none left. */
bool roce_port_receive_pause(struct roce_port *port, struct pfc_frame *frame);

/* Wait for a packet or a PAUSE frame until deadline (ns); a signal ends the wait as well. */
void roce_port_wait(struct roce_port *port, uint64_t deadline);

/* Packets the kernel dropped for a full socket buffer since the last call. */
uint64_t roce_port_lost(struct roce_port *port);

#endif
