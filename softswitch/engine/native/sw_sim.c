/* An engine as a part of a simulation (sw_frame.h): one thread, so the lock is not taken. */
#include "sw_ctl.h"

static void sim_attach(sw_engine *e, sw_pool *pool, sw_sink *sink, void *context)
{
    e->pool = pool;
    e->sink = sink;
    e->sink_context = context;
}

static uint64_t sim_run_until(sw_engine *e, uint64_t now)
{
    sw_run_until(e, now);
    return sw_next_due(e);
}

static uint64_t sim_arrive(sw_engine *e, uint64_t now, uint32_t port, sw_frame *f)
{
    sw_run_until(e, now);
    sw_receive_frame(e, port, f);
    return sw_next_due(e);
}

static void sim_set_now(sw_engine *e, uint64_t now)
{
    if (now > e->now_ns)
        e->now_ns = now;
}

static void sim_set_link(sw_engine *e, uint32_t port, bool up)
{
    if (port < SW_PORTS && e->ports[port].up != up) {
        e->ports[port].up = up;
        sw_emit_event(e, SW_EV_PORT, port, up, NULL, 0);
    }
}

static bool sim_limit_ingress(sw_engine *e, uint32_t port, const sw_ingress_limits *limits)
{
    return port < SW_PORTS && sw_ingress_set(e, port, limits);
}

static void sim_set_pauser(sw_engine *e, sw_pauser *pauser, void *context)
{
    e->pauser = pauser;
    e->pauser_context = context;
}

static const sw_ingress_use *sim_ingress_use(const sw_engine *e, uint32_t port)
{
    return port < SW_PORTS && e->ports[port].ingress ? &e->ports[port].ingress->use : NULL;
}

static void sim_pause_queue(sw_engine *e, uint32_t port, uint32_t queue, uint64_t until)
{
    if (port < SW_PORTS && queue < SW_QUEUES)
        sw_queue_pause(e, port, queue, until);
}

static const uint32_t *sim_waiting_events(const sw_engine *e) { return &e->events_size; }

/* `held` is left to whoever wants it. */
static sw_balance balance_of(const sw_engine *e)
{
    return (sw_balance){
        .received = e->received,
        .copied = e->copied,
        .refused = e->refused,
        .sent = e->ended[SW_SENT],
        .to_cpu = e->ended[SW_TO_CPU],
        .replaced = e->ended[SW_REPLACED],
        .ingress_drops = e->ended[SW_INGRESS_DROP],
        .egress_drops = e->ended[SW_EGRESS_DROP],
        .queue_full_drops = e->ended[SW_QUEUE_FULL],
        .no_queue_drops = e->ended[SW_NO_QUEUE],
        .no_link_drops = e->ended[SW_NO_LINK],
        .buffer_full_drops = e->ended[SW_BUFFER_FULL],
        .ingress_full_drops = e->ended[SW_INGRESS_FULL],
        .input_full_drops = e->ended[SW_INPUT_FULL],
        .failed_drops = e->ended[SW_FAILED],
    };
}

static uint64_t sim_look(const sw_engine *e, uint32_t what, uint32_t a, uint32_t b)
{
    if (what == SW_LOOK_COUNTER)
        return a < prog->n_counters && b < prog->counter_sizes[a] ? e->counters[a][b].packets : 0;
    if (what == SW_LOOK_BALANCE) {
        sw_balance balance = balance_of(e);
        uint64_t values[sizeof balance / sizeof(uint64_t)];
        memcpy(values, &balance, sizeof values);
        return a < sizeof values / sizeof *values ? values[a] : 0;
    }
    if (a >= SW_PORTS)
        return 0;
    return what == SW_LOOK_QUEUED ? e->ports[a].queued : e->ports[a].queued_octets;
}

const sw_sim_api *sw_ctl_sim_api(void)
{
    static const sw_sim_api api = {
        .attach = sim_attach,
        .arrive = sim_arrive,
        .run_until = sim_run_until,
        .next_due = sw_next_due,
        .set_link = sim_set_link,
        .set_now = sim_set_now,
        .limit_ingress = sim_limit_ingress,
        .set_pauser = sim_set_pauser,
        .ingress_use = sim_ingress_use,
        .pause_queue = sim_pause_queue,
        .send_control = sw_port_control,
        .waiting_events = sim_waiting_events,
        .look = sim_look,
    };
    return &api;
}

void sw_ctl_balance(sw_engine *e, sw_balance *out)
{
    sw_lock(e);
    *out = balance_of(e);
    out->held = e->input.n;
    for (uint32_t i = 0; i < SW_PORTS; i++)
        out->held += e->ports[i].queued + e->ports[i].wire.n;
    sw_unlock(e);
}

int64_t sw_ctl_port_buffer(sw_engine *e, uint32_t port, uint32_t octets)
{
    if (port >= SW_PORTS)
        return SW_ERR_INDEX;
    sw_lock(e);
    e->ports[port].depth_octets = octets;
    sw_unlock(e);
    return 0;
}

void sw_ctl_buffer(sw_engine *e, uint64_t octets)
{
    sw_lock(e);
    e->buffer_octets = octets;
    sw_unlock(e);
}

int64_t sw_ctl_port_overhead(sw_engine *e, uint32_t port, uint32_t octets)
{
    if (port >= SW_PORTS || octets > SW_MAX_FRAME)
        return SW_ERR_INDEX;
    sw_lock(e);
    e->ports[port].line.overhead = octets;
    sw_unlock(e);
    return 0;
}
