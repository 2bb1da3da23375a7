/* Work that waits for other work: messages that may be sent when others were received, and time that
 * hosts compute. */
#ifndef LAB_JOB_H
#define LAB_JOB_H

#include "lab_core.h"

/* A connection whose messages are waited for: the receiver took one more, to its end. */
void lab_job_received(lab *l, uint32_t channel, uint64_t now);
void lab_job_free(lab *l);
/* From now on that connection's messages are told: by the host that accepted it. */
int64_t lab_roce_tell(lab *l, uint32_t node, uint32_t responder, uint32_t channel);
#endif
