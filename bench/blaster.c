/* Sends frames on an interface at a given rate for a given time.
 *
 * usage: blaster INTERFACE FRAMES SECONDS PPS [PAUSE]
 * FRAMES: file of frames, each preceded by its length (16 bits, big-endian); sent cyclically.
 * PPS 0: as fast as possible. PAUSE: seconds from one look at the clock to the next at least, after
 * which what is due is sent, at the end too: waking up for each frame takes more time than sending
 * it. Prints the number of frames sent, the nanoseconds it took, and when it began (nanoseconds of
 * the monotonic clock). */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_FRAMES = 1 << 18, BATCH = 32 };

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void die(const char *what) {
    fprintf(stderr, "blaster: %s: %s\n", what, strerror(errno));
    exit(1);
}

static size_t load(const char *path, struct iovec *frames) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) die(path);
    size_t count = 0;
    uint16_t length;
    while (count < MAX_FRAMES && fread(&length, sizeof length, 1, file) == 1) {
        length = ntohs(length);
        void *data = malloc(length);
        if (data == NULL || fread(data, 1, length, file) != length) die("frames file");
        frames[count].iov_base = data;
        frames[count].iov_len = length;
        count++;
    }
    fclose(file);
    return count;
}

int main(int argc, char **argv) {
    if (argc != 5 && argc != 6) {
        fprintf(stderr, "usage: blaster INTERFACE FRAMES SECONDS PPS [PAUSE]\n");
        return 2;
    }
    static struct iovec frames[MAX_FRAMES];
    size_t count = load(argv[2], frames);
    uint64_t duration = (uint64_t)(atof(argv[3]) * 1e9);
    double pps = atof(argv[4]);
    uint64_t pause = argc == 6 ? (uint64_t)(atof(argv[5]) * 1e9) : 0;
    if (count == 0 || duration == 0) {
        fprintf(stderr, "blaster: no frames or no time\n");
        return 2;
    }

    int fd = socket(AF_PACKET, SOCK_RAW, 0);
    if (fd < 0) die("socket");
    int on = 1;
    if (setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on) < 0) die("qdisc bypass");
    struct sockaddr_ll to = {.sll_family = AF_PACKET, .sll_ifindex = (int)if_nametoindex(argv[1])};
    if (to.sll_ifindex == 0) die(argv[1]);
    if (bind(fd, (struct sockaddr *)&to, sizeof to) < 0) die("bind");

    struct mmsghdr batch[BATCH];
    memset(batch, 0, sizeof batch);
    for (size_t i = 0; i < BATCH; i++) batch[i].msg_hdr.msg_iovlen = 1;

    uint64_t start = now_ns(), end = start + duration, sent = 0, now = start;
    size_t next = 0;
    for (;;) {
        uint64_t until = now < end ? now : end - 1;
        uint64_t due =
            pps == 0 ? BATCH : (uint64_t)((double)(until - start) * pps / 1e9) + 1 - sent;
        if (now >= end && (due == 0 || pps == 0 || pause == 0)) break;
        if (due == 0) {
            uint64_t at = start + (uint64_t)((double)sent * 1e9 / pps);
            if (at < now + pause) at = now + pause;
            struct timespec wake = {(time_t)(at / 1000000000u), (long)(at % 1000000000u)};
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
            now = now_ns();
            continue;
        }
        unsigned int size = due < BATCH ? (unsigned int)due : BATCH;
        for (unsigned int i = 0; i < size; i++)
            batch[i].msg_hdr.msg_iov = &frames[(next + i) % count];
        int done = sendmmsg(fd, batch, size, 0);
        if (done < 0 && errno != EAGAIN && errno != ENOBUFS) die("sendmmsg");
        if (done > 0) {
            sent += (uint64_t)done;
            next = (next + (size_t)done) % count;
        }
        now = now_ns();
    }
    printf("%llu %llu %llu\n", (unsigned long long)sent, (unsigned long long)(now - start),
           (unsigned long long)start);
    close(fd);
    return 0;
}
