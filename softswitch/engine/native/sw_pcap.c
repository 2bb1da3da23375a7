#include "sw_pcap.h"

#include <sys/uio.h>
#include <unistd.h>

bool sw_pcap_write(int fd, struct timespec at, const uint8_t *frame, uint32_t len)
{
    /* pcap_pkthdr of the file format: seconds, microseconds, octets kept, octets there were. */
    uint32_t header[4] = {(uint32_t)at.tv_sec, (uint32_t)(at.tv_nsec / 1000), len, len};
    struct iovec parts[2] = {{header, sizeof header}, {(void *)frame, len}};
    ssize_t written = writev(fd, parts, 2);
    if (written > 0 && (size_t)written < sizeof header + len) {
        off_t end = lseek(fd, 0, SEEK_END);
        if (end < written || ftruncate(fd, end - written))
            return false; /* the file ends with a part of a frame, as its readers say */
    }
    return written == (ssize_t)(sizeof header + len);
}
