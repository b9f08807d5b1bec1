#include "workload/name_pool.h"

#include <string.h>

#define POOL_BYTES 16384u

static char *take(wl_name_pool *p, size_t n)
{
    char *out;

    if (n > p->left) {
        size_t room = n > POOL_BYTES ? n : POOL_BYTES;

        p->at = dse_arena_alloc(p->arena, room);
        p->left = room;
    }
    out = p->at;
    p->at += n;
    p->left -= n;
    return out;
}

const char *wl_name_join(wl_name_pool *p, const wl_piece *piece, int n, uint32_t *len)
{
    size_t total = 0;
    char *out, *end;

    for (int i = 0; i < n; i++)
        total += piece[i].n;
    out = end = take(p, total + 1);
    for (int i = 0; i < n; i++) {
        memcpy(end, piece[i].text, piece[i].n);
        end += piece[i].n;
    }
    *end = '\0';
    if (len)
        *len = (uint32_t)total;
    return out;
}
