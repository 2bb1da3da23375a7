/* Whose turn it is, and what time: of the control plane, or of the thread that moves frames. */
#include <time.h>

#include "sw_ctl.h"

uint64_t sw_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void sw_lock(sw_engine *e)
{
    __atomic_add_fetch(&e->waiters, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&e->lock);
    __atomic_sub_fetch(&e->waiters, 1, __ATOMIC_RELAXED);
}

void sw_unlock(sw_engine *e) { pthread_mutex_unlock(&e->lock); }

void sw_catch_up(sw_engine *e)
{
    if (e->memory)
        return;
    uint64_t now = sw_clock_ns() - e->start_ns;
    sw_idle_put_off(e, now);
    sw_run_until(e, now);
}
