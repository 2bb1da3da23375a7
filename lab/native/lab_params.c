/* What a connection of a RoCEv2 host is told. */
#include "lab_params.h"

#include <string.h>

struct requester_params lab_requester_params(const lab_roce_options *o,
                                             const struct ip_address *local, uint64_t link_rate,
                                             const uint8_t *remote)
{
    struct requester_params p = {
        .local = *local,
        .remote = {.version = local->version},
        .mtu = (uint16_t)o->mtu,
        .dscp = o->dscp,
        .ecn = (enum ecn)o->ecn,
        .ack_every = o->ack_every,
        .window = o->window,
        .timeout = o->timeout,
        .selective = o->selective,
        .retries = o->retries,
        .service_id = o->service_id,
        .cm_timeout = o->cm_timeout,
        .cm_retries = o->cm_retries,
        .max_lag = o->max_lag,
        .dcqcn = {
            .line_rate = o->line_rate > 0 ? o->line_rate : (double)link_rate,
            .min_rate = o->min_rate,
            .g = o->g,
            .initial_alpha = o->initial_alpha,
            .additive_increase = o->additive_increase,
            .hyper_increase = o->hyper_increase,
            .alpha_period = o->alpha_period,
            .increase_period = o->increase_period,
            .byte_counter = o->byte_counter,
            .fast_recovery_steps = o->fast_recovery_steps,
            .cut_interval = o->cut_interval,
            .cut_period = o->cut_period,
            .alpha_by_timer = o->alpha_by_timer,
            .clamp_target = o->clamp_target,
        },
        .delay = {
            .kind = (enum delay_kind)o->control,
            .timely = {
                .ewma = o->timely.ewma,
                .beta = o->timely.beta,
                .additive_increase = o->timely.additive_increase,
                .low = o->timely.low,
                .high = o->timely.high,
                .least_rtt = o->timely.least_rtt,
                .hyper_after = o->timely.hyper_after,
                .hyper_factor = o->timely.hyper_factor,
            },
            .swift = {
                .additive_increase = o->swift.window_increase,
                .beta = o->swift.beta,
                .max_decrease = o->swift.max_decrease,
                .least_window = o->swift.least_window,
                .most_window = o->swift.most_window,
                .base_target = o->swift.base_target,
                .scaling = o->swift.scaling,
                .scaling_least = o->swift.scaling_least,
                .scaling_most = o->swift.scaling_most,
            },
        },
    };
    p.delay.line_rate = p.dcqcn.line_rate;
    p.delay.min_rate = p.dcqcn.min_rate;
    memcpy(p.remote.octets, remote, sizeof p.remote.octets);
    return p;
}
