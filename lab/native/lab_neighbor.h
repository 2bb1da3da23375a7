/* Answers of a host to those who look for its MAC address. */
#ifndef LAB_NEIGHBOR_H
#define LAB_NEIGHBOR_H

#include "lab_host.h"
#include "packet.h"

/* The answer to a frame that asks for this address; NULL when it does not, or is malformed. */
sw_frame *lab_neighbor_answer(lab_host *h, const uint8_t mac[6], const struct ip_address *address,
                              const sw_frame *question);
#endif
