/* Queueing disciplines somebody put on interfaces. */
#ifndef SW_QDISC_H
#define SW_QDISC_H

#include <stdbool.h>

/* Calls `found` with the index of every interface that frames have to queue at: one with a qdisc
 * (or filters, clsact) that was configured, other than those every interface has from the kernel.
 * False: the kernel does not tell. */
bool sw_qdisc_each(void (*found)(void *context, int index), void *context);

#endif
