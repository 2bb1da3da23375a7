/* What a connection of a RoCEv2 host is told. */
#ifndef LAB_PARAMS_H
#define LAB_PARAMS_H

#include "lab_api.h"
#include "requester.h"

/* link_rate: of the host's link, in bit/s. remote: its address, of the version of `local`. */
struct requester_params lab_requester_params(const lab_roce_options *o,
                                             const struct ip_address *local, uint64_t link_rate,
                                             const uint8_t *remote);

#endif
