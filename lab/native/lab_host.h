/* A host: a network interface of one port, and a role that decides what it sends. */
#ifndef LAB_HOST_H
#define LAB_HOST_H

#include "lab_core.h"
#include "lab_random.h"

typedef struct lab_role lab_role;

/* What a host does; all at the host's virtual time. */
struct lab_role {
    /* A frame was received; the host gives it back afterwards. */
    void (*arrive)(lab_role *r, lab_host *h, uint64_t now, const sw_frame *f);
    /* Do what is due until now. */
    void (*act)(lab_role *r, lab_host *h, uint64_t now);
    /* When the role acts next by itself. */
    uint64_t (*due)(const lab_role *r, const lab_host *h);
    void (*free)(lab_role *r);
};

struct lab_host {
    lab_actor actor;
    lab *lab;
    lab_link *out;
    sw_line line;
    /* In the interface, waiting for the line, by priority; all in the first one without flow control
     * by priority. A frame's `at` is its number among them all. */
    struct {
        sw_frame *first, *last;
    } queues[SW_PRIORITIES];
    uint32_t waiting; /* bit per queue that is not empty */
    uint64_t numbered;
    lab_pfc *pfc; /* NULL: no flow control */
    lab_host_stats stats;   /* queued is not kept up */
    lab_random random;
    lab_role *role;
    lab_tcp *tcp; /* a flow it sends, of a ring; NULL: none */
};

/* A frame of this length to be filled in, NULL without memory. */
sw_frame *lab_host_frame(lab_host *h, uint32_t len);
/* The same of one with nothing but zeros between its headers and its last octets. */
sw_frame *lab_host_frame_of_zeros(lab_host *h, uint32_t len);
/* What a frame of these octets may leave out, and such a frame. */
uint32_t lab_host_gap(const uint8_t *octets, uint32_t len);
sw_frame *lab_host_copy(lab_host *h, uint32_t len, uint32_t gap, const uint8_t *octets);
/* Send it after what is waiting; consumes it. */
void lab_host_send(lab_host *h, uint64_t now, sw_frame *f);
/* Send it before all that is waiting; consumes it. */
void lab_host_control(lab_host *h, uint64_t now, sw_frame *f);
/* The queue of frames of this DSCP. */
unsigned lab_host_queue(const lab_host *h, uint8_t dscp);
/* When a frame of this queue would be sent at once: nothing that may be sent waits, nothing of this
 * queue, and the last bit has left. LAB_NEVER while something waits. */
uint64_t lab_host_free_at(const lab_host *h, unsigned queue);
/* Say anew when the host acts, after the role changed its mind. */
void lab_host_reschedule(lab_host *h);
#endif
