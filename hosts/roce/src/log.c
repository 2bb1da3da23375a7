#include "log.h"

#include <inttypes.h>
#include <stdarg.h>

void log_event(FILE *log, uint64_t time, const char *event, const char *format, ...)
{
    va_list arguments;

    fprintf(log, "{\"time_ns\":%" PRIu64 ",\"event\":\"%s\",", time, event);
    va_start(arguments, format);
    vfprintf(log, format, arguments);
    va_end(arguments);
    fputs("}\n", log);
}

void log_port_summary(FILE *log, uint64_t time, struct roce_port *port, uint64_t unknown_qp)
{
    fprintf(log, "{\"time_ns\":%" PRIu64 ",\"event\":\"summary\"", time);
    for (int i = 0; i < ROCE_VERDICTS; i++)
        fprintf(log, ",\"%s\":%" PRIu64, roce_verdict_name((enum roce_verdict)i),
                port->verdicts[i]);
    fprintf(log,
            ",\"unknown_qp\":%" PRIu64 ",\"send_errors\":%" PRIu64 ",\"socket_lost\":%" PRIu64
            "}\n",
            unknown_qp, port->send_errors, roce_port_lost(port));
    fflush(log);
}
