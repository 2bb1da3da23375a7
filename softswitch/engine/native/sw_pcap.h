/* Frames of a port in files of libpcap's format, whose headers are already written. */
#ifndef SW_PCAP_H
#define SW_PCAP_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Append a frame to a file opened for that; where there is no room, nothing of it remains, and
 * false is returned. */
bool sw_pcap_write(int fd, struct timespec at, const uint8_t *frame, uint32_t len);

#endif
