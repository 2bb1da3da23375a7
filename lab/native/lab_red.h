#ifndef LAB_RED_H
#define LAB_RED_H

#include "lab_core.h"
#include "lab_random.h"

/* A frame leaves a port behind which this many octets wait. */
void lab_red_pass(lab_red *r, uint64_t octets, sw_frame *f);

#endif
