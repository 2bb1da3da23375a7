#include "marks.h"

#include <stdlib.h>

#define LEAST 64u
#define MOST (1u << 23)

static bool widen(struct marks *m, uint32_t first, uint32_t ahead)
{
    uint32_t size = m->size ? m->size : LEAST;
    while (size <= ahead)
        size *= 2;
    uint8_t *of = size > MOST ? NULL : calloc(size, 1);
    if (!of)
        return false;
    for (uint32_t i = 0; i < m->size; i++)
        of[(first + i) & (size - 1)] = m->of[(first + i) & (m->size - 1)];
    free(m->of);
    *m = (struct marks){of, size};
    return true;
}

bool marks_set(struct marks *m, uint32_t first, uint32_t number, uint8_t mark)
{
    uint32_t ahead = (number - first) & (2 * MOST - 1);
    if (ahead >= m->size && !widen(m, first, ahead))
        return false;
    m->of[number & (m->size - 1)] = mark;
    return true;
}

uint8_t marks_take(struct marks *m, uint32_t number)
{
    uint8_t mark = marks_get(m, number);
    if (mark)
        m->of[number & (m->size - 1)] = 0;
    return mark;
}

uint8_t marks_get(const struct marks *m, uint32_t number)
{
    return m->size ? m->of[number & (m->size - 1)] : 0;
}

void marks_free(struct marks *m)
{
    free(m->of);
    *m = (struct marks){0};
}
