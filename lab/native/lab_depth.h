/* Depths of queues from now on: the most, and over time. */
#ifndef LAB_DEPTH_H
#define LAB_DEPTH_H

#include "lab_core.h"

/* The switch has done something: look at its queues, if any of them is measured. */
void lab_depth_look(const lab_switch *s, uint64_t now);
void lab_depth_free(lab_depth *first);
#endif
