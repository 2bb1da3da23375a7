/* TCP that hosts send beside what their roles do; see lab_api.h. */
#ifndef LAB_TCP_H
#define LAB_TCP_H

#include "lab_host.h"

/* Whether the frame was a segment or an acknowledgement of one of the host's flows. */
bool lab_tcp_arrive(lab_host *h, uint64_t now, const sw_frame *f);
/* Do what is due until now. */
void lab_tcp_act(lab_host *h, uint64_t now);
/* When the host's flows act next by themselves. */
uint64_t lab_tcp_due(const lab_host *h);
void lab_tcp_free(lab *l);
#endif
