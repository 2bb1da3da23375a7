#include "lab_list.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_RECORDS 1024u

static bool grow(lab_list *list)
{
    size_t cap = list->cap ? list->cap * 2 : FIRST_RECORDS;
    cap = cap < list->most ? cap : list->most;
    void *records = list->n < cap ? realloc(list->records, cap * list->size) : NULL;
    if (!records)
        return false;
    list->records = records;
    list->cap = cap;
    return true;
}

void *lab_list_add(lab_list *list)
{
    if (list->n >= list->most || (list->n == list->cap && !grow(list))) {
        list->lost += list->most > 0;
        return NULL;
    }
    return (uint8_t *)list->records + list->size * list->n++;
}

size_t lab_list_take(lab_list *list, void *out, size_t n)
{
    if (n < list->n)
        return 0;
    n = list->n;
    if (n)
        memcpy(out, list->records, n * list->size);
    list->n = 0;
    return n;
}
