/* The two roles of fcn-roce. Both return the process's exit status and stop when asked to. */
#ifndef FCN_ROCE_ROLES_H
#define FCN_ROCE_ROLES_H

#include "options.h"

#include <signal.h>

extern volatile sig_atomic_t stop_requested;
/* SIGUSR1: send no more, but stay connected for as long as `hold` says. */
extern volatile sig_atomic_t finish_requested;

/* Connect, send for the given time, disconnect. Fails when a QP cannot be connected. */
int run_sender(const struct options *options);

/* Accept connections and receive until asked to stop. */
int run_receiver(const struct options *options);

#endif
