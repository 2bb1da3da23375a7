/*
 * fcn-delayline A B MICROSECONDS: every frame received on interface A is sent on B that much
 * later, and the other way round, in order. When the buffer is full, frames are dropped and counted;
 * the counts are printed at the end (SIGTERM or SIGINT).
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX 9216
#define SLOTS 1024
#define BATCH 64
#define RECEIVE_BUFFER (8 << 20)
#define NS_PER_S 1000000000ull
#define MAX_DELAY_US 10000000ull

struct frame {
    uint64_t due;
    size_t len;
    uint8_t data[FRAME_MAX];
};

/* One direction: frames [head, tail) are on the way. */
struct direction {
    int from, to;
    struct frame *frames;
    uint64_t head, tail;
    uint64_t carried, dropped;
};

static volatile sig_atomic_t stop_requested;

static void request_stop(int number)
{
    (void)number;
    stop_requested = 1;
}

static uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

static int open_interface(const char *name)
{
    int on = 1, size = RECEIVE_BUFFER;
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET,
        .sll_protocol = htons(ETH_P_ALL),
        .sll_ifindex = (int)if_nametoindex(name),
    };
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0 || address.sll_ifindex == 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0 ||
        bind(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        fprintf(stderr, "fcn-delayline: %s: %s\n", name, strerror(errno));
        exit(1);
    }
    return fd;
}

static void receive(struct direction *d, uint64_t delay)
{
    for (int i = 0; i < BATCH; i++) {
        bool full = d->tail - d->head == SLOTS;
        uint8_t none;
        struct frame *frame = &d->frames[d->tail % SLOTS];
        ssize_t len = full ? recv(d->from, &none, sizeof none, MSG_TRUNC)
                           : recv(d->from, frame->data, FRAME_MAX, MSG_TRUNC);
        if (len < 0)
            return;
        if (full || len > FRAME_MAX) {
            d->dropped++;
            continue;
        }
        frame->len = (size_t)len;
        frame->due = now_ns() + delay;
        d->tail++;
    }
}

/* Send the frames that are due; return the time at which the next one is. */
static uint64_t release(struct direction *d)
{
    while (d->head != d->tail) {
        struct frame *frame = &d->frames[d->head % SLOTS];
        if (frame->due > now_ns())
            return frame->due;
        if (send(d->to, frame->data, frame->len, 0) == (ssize_t)frame->len)
            d->carried++;
        else
            d->dropped++;
        d->head++;
    }
    return UINT64_MAX;
}

/* The signals that end the program are unblocked here only, so none is missed. */
static void wait_for(struct pollfd fds[2], uint64_t deadline)
{
    sigset_t none;
    uint64_t now = now_ns();
    uint64_t left = deadline > now ? deadline - now : 0;
    struct timespec ts = {.tv_sec = (time_t)(left / NS_PER_S), .tv_nsec = (long)(left % NS_PER_S)};

    sigemptyset(&none);
    ppoll(fds, 2, deadline == UINT64_MAX ? NULL : &ts, &none);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = request_stop};
    char *end = NULL;
    uint64_t delay_us = argc == 4 ? strtoull(argv[3], &end, 10) : 0;

    if (argc != 4 || end == argv[3] || *end || delay_us > MAX_DELAY_US) {
        fprintf(stderr, "usage: fcn-delayline INTERFACE INTERFACE MICROSECONDS\n");
        return 2;
    }
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigprocmask(SIG_BLOCK, &ending, NULL);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);

    int a = open_interface(argv[1]), b = open_interface(argv[2]);
    struct direction directions[2] = {{.from = a, .to = b}, {.from = b, .to = a}};
    struct pollfd fds[2] = {{.fd = a, .events = POLLIN}, {.fd = b, .events = POLLIN}};
    for (int i = 0; i < 2; i++) {
        directions[i].frames = calloc(SLOTS, sizeof *directions[i].frames);
        if (!directions[i].frames) {
            fprintf(stderr, "fcn-delayline: out of memory\n");
            return 1;
        }
    }
    while (!stop_requested) {
        uint64_t next = UINT64_MAX;
        for (int i = 0; i < 2; i++) {
            receive(&directions[i], delay_us * 1000);
            uint64_t due = release(&directions[i]);
            next = due < next ? due : next;
        }
        wait_for(fds, next);
    }
    for (int i = 0; i < 2; i++) {
        printf("%s to %s: carried %" PRIu64 ", dropped %" PRIu64 "\n", argv[1 + i], argv[2 - i],
               directions[i].carried, directions[i].dropped);
        free(directions[i].frames);
    }
    close(a);
    close(b);
    return 0;
}
