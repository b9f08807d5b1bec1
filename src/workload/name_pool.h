/* wl_name_pool -- thousands of short names in few pieces of an arena.
 *
 * An arena aligns each thing that it hands out; names stand side by side here. They live as long as the
 * arena. */
#ifndef DSE_WORKLOAD_NAME_POOL_H
#define DSE_WORKLOAD_NAME_POOL_H

#include "base/alloc.h"

typedef struct {
    dse_arena *arena; /* the one field to fill */
    char *at;
    size_t left;
} wl_name_pool;

/* Part of a name: so many bytes. */
typedef struct {
    const char *text;
    size_t n;
} wl_piece;

#define WL_PIECE(literal)                                                                                    \
    {                                                                                                        \
        literal, sizeof literal - 1                                                                          \
    }

/* The pieces in a row; *len (NULL: not asked for) without the end. */
const char *wl_name_join(wl_name_pool *p, const wl_piece *piece, int n, uint32_t *len);

#endif
