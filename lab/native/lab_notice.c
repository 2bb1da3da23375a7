/* What hosts report, in the order in which it happens. */
#include <stdlib.h>
#include <string.h>

#include "lab_core.h"

#define FIRST_NOTICES 1024u

void lab_keep_notices(lab *l, size_t most) { l->most_notices = most; }

static bool has_room(lab *l)
{
    if (l->n_notices < l->notices_cap)
        return true;
    size_t cap = l->notices_cap ? l->notices_cap * 2 : FIRST_NOTICES;
    cap = cap < l->most_notices ? cap : l->most_notices;
    lab_notice *all = l->n_notices < cap ? realloc(l->notices, cap * sizeof *all) : NULL;
    if (!all)
        return false;
    l->notices = all;
    l->notices_cap = cap;
    return true;
}

void lab_notify(lab *l, const lab_notice *notice)
{
    if (!l->most_notices)
        return;
    if (has_room(l))
        l->notices[l->n_notices++] = *notice;
    else
        l->notices_lost++;
}

size_t lab_notices(const lab *l) { return l->n_notices; }
uint64_t lab_notices_lost(const lab *l) { return l->notices_lost; }

size_t lab_take_notices(lab *l, lab_notice *out, size_t n)
{
    if (n < l->n_notices)
        return 0;
    n = l->n_notices;
    if (n)
        memcpy(out, l->notices, n * sizeof *out);
    l->n_notices = 0;
    return n;
}
