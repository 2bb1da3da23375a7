/* The thread that moves frames between interfaces. It sleeps in ppoll until a frame arrives, the
 * traffic manager has something due, or the control plane changed something. */
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sw_ctl.h"
#include "sw_port.h"
#include "sw_qdisc.h"

#define YIELDS 100
/* Held packets come round at a port without an interface, each at its time; to sleep until every
 * single one is due costs more than its round. */
#define INNER_TICK_NS 500000u
/* Of what is overdue then, at once: frames that arrive meanwhile wait no longer than that. */
#define INNER_SLICE_NS 100000u
/* What comes round may be behind the clock by so much, beyond that it waits: a processor that cannot keep up with it,
 * or did not run, still forwards, and what has a time is on time. */
#define INNER_LAG_NS 10000000u
/* How often links are looked at while there is always work. */
#define LINKS_NS 10000000u

typedef struct sw_loop {
    pthread_t thread;
    bool running, stop;
    uint64_t asleep_until; /* or until a frame arrives, or it is woken; 0: it is not */
    int wake, link;
    sw_netif *netifs[SW_PORTS];
    uint32_t n_netifs;
    bool queueing[SW_PORTS]; /* by place in netifs */
    struct pollfd fds[2 * SW_PORTS + 2];
} sw_loop;

static sw_loop *loop_of(sw_engine *e)
{
    if (e->loop)
        return e->loop;
    sw_loop *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    struct sockaddr_nl at = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK | RTMGRP_TC};
    l->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    l->link = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (l->wake < 0 || l->link < 0 || bind(l->link, (struct sockaddr *)&at, sizeof at)) {
        if (l->wake >= 0)
            close(l->wake);
        if (l->link >= 0)
            close(l->link);
        free(l);
        return NULL;
    }
    e->loop = l;
    return l;
}

void sw_wake(sw_engine *e)
{
    uint64_t one = 1;
    if (e->loop && write(e->loop->wake, &one, 8) != 8)
        return; /* the eventfd's counter is full: a wake-up is pending */
}

static void mark_queueing(void *context, int index)
{
    sw_loop *l = context;
    for (uint32_t i = 0; i < l->n_netifs; i++)
        if (l->netifs[i]->index == index)
            l->queueing[i] = true;
}

/* An interface may have a queueing discipline where the kernel does not tell. */
static void check_queueing(sw_engine *e, sw_loop *l)
{
    memset(l->queueing, false, sizeof l->queueing);
    bool told = sw_qdisc_each(mark_queueing, l);
    for (uint32_t i = 0; i < l->n_netifs; i++)
        sw_netif_set_queueing(e, l->netifs[i], l->queueing[i] || !told);
}

static void check_links(sw_engine *e, sw_loop *l)
{
    check_queueing(e, l);
    for (uint32_t i = 0; i < l->n_netifs; i++) {
        sw_port *p = &e->ports[l->netifs[i]->port];
        bool up = sw_netif_running(l->netifs[i]);
        if (up)
            sw_netif_up(l->netifs[i]);
        if (up != p->up) {
            p->up = up;
            sw_emit_event(e, SW_EV_PORT, l->netifs[i]->port, up, NULL, 0);
        }
    }
}

/* Whether anything was there, or was too much for the socket. */
static bool drain_fd(int fd)
{
    char buf[8192];
    bool any = false;
    ssize_t got;
    while ((got = read(fd, buf, sizeof buf)) > 0 || (got < 0 && errno == ENOBUFS))
        any = true;
    return any;
}

static void heed_links(sw_engine *e, sw_loop *l)
{
    if (!drain_fd(l->link))
        return;
    pthread_mutex_lock(&e->lock);
    check_links(e, l);
    pthread_mutex_unlock(&e->lock);
}

/* Do what is due; the time still to be caught up with. */
static uint64_t catch_up(sw_engine *e)
{
    uint64_t now = sw_clock_ns() - e->start_ns;
    sw_idle_put_off(e, now);
    uint64_t left = now > e->now_ns ? now - e->now_ns : 0;
    uint64_t step = left;
    if (sw_inner_due(e)) {
        uint64_t late = left > INNER_LAG_NS ? left - INNER_LAG_NS : 0;
        if (late)
            sw_inner_defer(e, now - INNER_LAG_NS);
        uint64_t half = (left - late) / 2;
        step = late + (half > INNER_SLICE_NS ? half : INNER_SLICE_NS);
    }
    if (step > left)
        step = left;
    sw_run_until(e, e->now_ns + step);
    return left - step;
}

/* One iteration under the lock; whether there is more to do at once. */
static bool turn(sw_engine *e, sw_loop *l)
{
    uint32_t work = 0;
    for (uint32_t i = 0; i < l->n_netifs; i++)
        if (e->ports[l->netifs[i]->port].held && sw_netif_has_room(l->netifs[i]))
            sw_port_hold(e, l->netifs[i]->port, false);
    uint64_t behind = catch_up(e);
    for (uint32_t i = 0; i < l->n_netifs; i++)
        work += sw_netif_poll(e, l->netifs[i], SW_BATCH);
    for (uint32_t i = 0; i < l->n_netifs; i++)
        sw_netif_flush(e, l->netifs[i]);
    return work || behind;
}

/* When the loop must go on, should no frame arrive. */
static uint64_t wake_at(const sw_engine *e)
{
    uint64_t due = sw_next_due(e);
    if (due <= e->now_ns || !sw_inner_due(e))
        return due;
    uint64_t outer = sw_outer_due(e), tick = e->now_ns + INNER_TICK_NS;
    return outer < tick ? outer : tick > due ? tick : due;
}

void sw_wake_if_due(sw_engine *e)
{
    if (e->loop && wake_at(e) < e->loop->asleep_until)
        sw_wake(e);
}

static uint32_t list_fds(const sw_engine *e, const sw_loop *l, struct pollfd *fds)
{
    fds[0] = (struct pollfd){.fd = l->wake, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = l->link, .events = POLLIN};
    for (uint32_t i = 0; i < l->n_netifs; i++)
        fds[i + 2] = (struct pollfd){.fd = l->netifs[i]->rx, .events = POLLIN};
    uint32_t n = l->n_netifs + 2;
    for (uint32_t i = 0; i < l->n_netifs; i++)
        if (e->ports[l->netifs[i]->port].held)
            fds[n++] = (struct pollfd){.fd = l->netifs[i]->tx, .events = POLLOUT};
    return n;
}

/* A socket whose interface was removed reports an error until SO_ERROR is read. */
static void clear_errors(const struct pollfd *fds, uint32_t n)
{
    for (uint32_t i = 2; i < n; i++)
        if (fds[i].revents & POLLERR) {
            int error;
            socklen_t size = sizeof error;
            getsockopt(fds[i].fd, SOL_SOCKET, SO_ERROR, &error, &size);
        }
}

static void *run(void *arg)
{
    sw_engine *e = arg;
    sw_loop *l = e->loop;
    uint64_t looked = 0;
    prctl(PR_SET_TIMERSLACK, 1);
    prctl(PR_SET_NAME, "softswitch");
    while (!__atomic_load_n(&l->stop, __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(&e->lock);
        bool work = turn(e, l);
        uint64_t due = work ? 0 : wake_at(e);
        uint32_t n = work ? 0 : list_fds(e, l, l->fds);
        l->asleep_until = due;
        pthread_mutex_unlock(&e->lock);
        for (int i = 0; i < YIELDS && __atomic_load_n(&e->waiters, __ATOMIC_RELAXED); i++)
            sched_yield();
        uint64_t now = sw_clock_ns() - e->start_ns;
        if (work) {
            if (now - looked > LINKS_NS) {
                looked = now;
                heed_links(e, l);
            }
            continue;
        }
        uint64_t left = due > now ? due - now : 0;
        struct timespec t = {(time_t)(left / 1000000000u), (long)(left % 1000000000u)};
        if (ppoll(l->fds, n, due == UINT64_MAX ? NULL : &t, NULL) <= 0)
            continue;
        clear_errors(l->fds, n);
        if (l->fds[0].revents)
            drain_fd(l->wake);
        if (l->fds[1].revents)
            heed_links(e, l);
    }
    return NULL;
}

int64_t sw_ctl_port_attach(sw_engine *e, uint32_t port, const char *ifname)
{
    if (port >= SW_PORTS)
        return SW_ERR_INDEX;
    sw_lock(e);
    sw_loop *l = loop_of(e);
    bool taken = e->ports[port].netif != NULL;
    sw_netif *n = l && !taken ? sw_netif_open(port, ifname) : NULL;
    if (n && l->running && !sw_netif_listen(n)) {
        int failed = errno;
        sw_netif_close(n);
        errno = failed;
        n = NULL;
    }
    if (n) {
        l->netifs[l->n_netifs++] = n;
        e->ports[port].netif = n;
        check_links(e, l);
    }
    int why = errno;
    sw_unlock(e);
    sw_wake(e);
    errno = why;
    return n ? 0 : taken ? SW_ERR_EXISTS : SW_ERR_SYSTEM;
}

int64_t sw_ctl_port_keep(sw_engine *e, uint32_t port, int in, int out)
{
    if (port >= SW_PORTS)
        return SW_ERR_INDEX;
    sw_lock(e);
    sw_netif *n = e->ports[port].netif;
    if (n) {
        n->kept_in = in;
        n->kept_out = out;
    }
    sw_unlock(e);
    return n ? 0 : SW_ERR_NOT_FOUND;
}

int64_t sw_ctl_port_detach(sw_engine *e, uint32_t port)
{
    if (port >= SW_PORTS)
        return SW_ERR_INDEX;
    sw_lock(e);
    sw_netif *n = e->ports[port].netif;
    if (n) {
        sw_loop *l = e->loop;
        for (uint32_t i = 0; i < l->n_netifs; i++)
            if (l->netifs[i] == n) {
                l->netifs[i] = l->netifs[--l->n_netifs];
                break;
            }
        e->ports[port].netif = NULL;
        sw_port_hold(e, port, false);
        if (e->ports[port].up) {
            e->ports[port].up = false;
            sw_emit_event(e, SW_EV_PORT, port, 0, NULL, 0);
        }
        sw_netif_close(n);
    }
    sw_unlock(e);
    sw_wake(e);
    return n ? 0 : SW_ERR_NOT_FOUND;
}

int64_t sw_ctl_start(sw_engine *e)
{
    sw_lock(e);
    sw_loop *l = loop_of(e);
    bool fresh = l && !l->running, ok = l != NULL;
    for (uint32_t i = 0; ok && fresh && i < l->n_netifs; i++)
        ok = sw_netif_listen(l->netifs[i]);
    if (ok && fresh) {
        check_links(e, l);
        l->stop = false;
        l->running = true;
    }
    sw_unlock(e);
    if (ok && fresh && (errno = pthread_create(&l->thread, NULL, run, e)) != 0) {
        l->running = false;
        ok = false;
    }
    return ok ? 0 : SW_ERR_SYSTEM;
}

void sw_ctl_pause(sw_engine *e)
{
    sw_loop *l = e->loop;
    if (!l || !l->running)
        return;
    __atomic_store_n(&l->stop, true, __ATOMIC_RELEASE);
    sw_wake(e);
    pthread_join(l->thread, NULL);
    l->running = false;
    for (uint32_t i = 0; i < l->n_netifs; i++)
        sw_netif_down(l->netifs[i]);
}

void sw_ctl_stop(sw_engine *e)
{
    sw_loop *l = e->loop;
    if (!l)
        return;
    sw_ctl_pause(e);
    while (l->n_netifs)
        sw_ctl_port_detach(e, l->netifs[0]->port);
    close(l->wake);
    close(l->link);
    free(l);
    e->loop = NULL;
}
