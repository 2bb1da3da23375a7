/* A mark of each packet in a window that moves on: a ring of octets, 0 beyond what was marked. */
#ifndef FCN_ROCE_MARKS_H
#define FCN_ROCE_MARKS_H

#include <stdbool.h>
#include <stdint.h>

struct marks {
    uint8_t *of;
    uint32_t size; /* a power of two up to 2^23, so that numbers may be PSNs, which wrap; 0: none */
};

/* Mark packet `number`; those before `first` have been cleared. False: there is no memory. */
bool marks_set(struct marks *m, uint32_t first, uint32_t number, uint8_t mark);
/* Its mark, which is cleared. */
uint8_t marks_take(struct marks *m, uint32_t number);
/* `number` is at most as far from `first` as was marked. */
uint8_t marks_get(const struct marks *m, uint32_t number);
void marks_free(struct marks *m);

#endif
