/* JSON lines: one object per event, stamped with CLOCK_MONOTONIC nanoseconds. */
#ifndef FCN_ROCE_LOG_H
#define FCN_ROCE_LOG_H

#include "net.h"

#include <stdio.h>

/* Write {"time_ns":..., "event":"...", <members>}; the format yields the members after these. */
void log_event(FILE *log, uint64_t time, const char *event, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The sockets' counters, as the last line of a log. */
void log_port_summary(FILE *log, uint64_t time, struct roce_port *port, uint64_t unknown_qp);

#endif
