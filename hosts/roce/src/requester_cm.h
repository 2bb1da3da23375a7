/* The part of a requester that speaks to the connection manager, and what it shares with the rest. */
#ifndef FCN_ROCE_REQUESTER_CM_H
#define FCN_ROCE_REQUESTER_CM_H

#include "requester.h"

/* Tell of something that concerns the other host. */
void requester_tell(const struct requester *r, const struct requester_io *io,
                    enum roce_notice what, uint64_t value, uint64_t now);
/* The connection ends. */
void requester_end(struct requester *r, const struct requester_io *io, enum requester_state state,
                   uint64_t now);
/* REQ until connected, DREQ until answered or given up. */
void requester_retry_cm(struct requester *r, const struct requester_io *io, uint64_t now);

#endif
