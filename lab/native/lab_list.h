/* Records that wait to be taken: as many as were allowed, and how many found no room. */
#ifndef LAB_LIST_H
#define LAB_LIST_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    void *records;
    size_t size;         /* octets of a record */
    size_t n, cap, most; /* records: now, that fit the memory, that are kept */
    uint64_t lost;
} lab_list;

/* Room for one more record, NULL when there is none. */
void *lab_list_add(lab_list *list);
/* Copy all records and forget them; 0 when there are more than `n`. */
size_t lab_list_take(lab_list *list, void *out, size_t n);
#endif
