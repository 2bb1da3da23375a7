/* Jitter and bit errors of a direction of a link; see lab_api.h. */
#ifndef LAB_IMPAIRMENT_H
#define LAB_IMPAIRMENT_H

#include "lab_core.h"

/* What the next frame takes longer. */
uint64_t lab_jitter(lab_impairment *i);
/* Whether a bit of the next frame is wrong. */
bool lab_has_error(lab_impairment *i, const sw_frame *f);

#endif
