/* dse_list -- indexes of an array in a row: what comes first is taken first.
 *
 * Each element has the index behind its own in `link`, a uint32_t that a free slot of base/alloc.h may have
 * for itself; so an element is in one list at most. */
#ifndef DSE_BASE_LIST_H
#define DSE_BASE_LIST_H

#include "base/alloc.h"

typedef struct {
    uint32_t head, tail; /* head DSE_NONE: empty, whatever the tail is */
} dse_list;

#define DSE_LIST_EMPTY ((dse_list){DSE_NONE, DSE_NONE})

static inline void dse_list_add(dse_list *l, void *v, uint32_t id, size_t elem_size, size_t link)
{
    char *links = (char *)v + link;

    *(uint32_t *)(void *)(links + id * elem_size) = DSE_NONE;
    if (l->head == DSE_NONE)
        l->head = id;
    else
        *(uint32_t *)(void *)(links + l->tail * elem_size) = id;
    l->tail = id;
}
#define DSE_LIST_ADD(l, v, id, type, link) dse_list_add((l), (v), (id), sizeof(type), offsetof(type, link))

/* Takes the first of a list that is not empty; it keeps its link. */
#define DSE_LIST_DROP_HEAD(l, v, link) ((void)((l)->head = (v)[(l)->head].link))

#endif
