/* Flow control by priority (IEEE 802.1Qbb) at one port of a switch or host. */
#ifndef LAB_PFC_H
#define LAB_PFC_H

#include "lab_core.h"

struct lab_pfc {
    lab_actor actor;
    lab *lab;
    lab_pfc_options options;
    lab_switch *at_switch; /* or, when NULL, */
    lab_host *at_host;
    uint32_t node, port;
    /* By the frames received: nothing of a priority is sent before. */
    uint64_t paused_until[SW_PRIORITIES];
    uint8_t asked; /* bit per priority the other end was told to pause */
    uint64_t refresh_at;
    /* The memory of a host, emptied at a constant rate: what was in it at drained_at. */
    uint64_t octets, drained_at, resume_at;
    lab_pfc_stats stats;
};

/* Whether the frame was a PAUSE, which has been honoured; the caller gives it back. */
bool lab_pfc_on_frame(lab_pfc *p, uint64_t now, const sw_frame *f);
/* The other end is to pause a priority, or to go on. */
void lab_pfc_ask(lab_pfc *p, uint64_t now, uint32_t priority, bool pause);
/* A host received a frame; false: its memory has no room for it. */
bool lab_pfc_receive(lab_pfc *p, uint64_t now, const sw_frame *f);
/* The switch has another engine, or none. */
void lab_pfc_attach(lab_pfc *p);
/* Send again what must be repeated. */
void lab_pfc_act(lab_pfc *p, uint64_t now);
#endif
