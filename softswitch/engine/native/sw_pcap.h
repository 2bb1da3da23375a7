/* Frames of a port in files of libpcap's format, whose headers are already written. */
#ifndef SW_PCAP_H
#define SW_PCAP_H

#include <stdint.h>
#include <time.h>

/* Append a frame to a file opened for that; nothing of it remains where there is no room. */
void sw_pcap_write(int fd, struct timespec at, const uint8_t *frame, uint32_t len);

#endif
