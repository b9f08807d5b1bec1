#include "workload/collective_match.h"

#include "workload/graph.h"

#include <string.h>

const char *const wl_parallel_names[WL_N_PARALLEL] = {[WL_DP] = "dp", [WL_TP] = "tp", [WL_SP] = "sp"};

typedef enum { WHOLE, SHARDED, PARTIAL } state;

typedef struct {
    state state;
    const wl_dim *by; /* the tensor dimension that carries the degree */
} placement;

int wl_parallel_index(const char *symbol)
{
    for (int i = 0; i < WL_N_PARALLEL; i++)
        if (!strcmp(symbol, wl_parallel_names[i]))
            return i;
    return -1;
}

/* Each tensor dimension takes the first degree in it that is not yet taken. */
static void place(const wl_parallel *p, const wl_shape *shape, state s, placement out[WL_N_PARALLEL])
{
    for (uint32_t i = 0; i < shape->n; i++) {
        for (int k = 0; k < WL_N_PARALLEL; k++) {
            if (p->degree[k] > 1 && out[k].state == WHOLE && wl_dim_has(&shape->dim[i], p->symbol[k])) {
                out[k] = (placement){s, &shape->dim[i]};
                break;
            }
        }
    }
}

dse_status wl_match_collectives(const wl_parallel *p, const wl_shape *have, const wl_shape *reduced,
                                const wl_shape *need, const wl_shape *unsummed, wl_match *out, uint32_t *n,
                                dse_error *err)
{
    placement from[WL_N_PARALLEL] = {{0}}, to[WL_N_PARALLEL] = {{0}};

    place(p, have, SHARDED, from);
    place(p, reduced, PARTIAL, from);
    place(p, need, SHARDED, to);
    if (unsummed)
        place(p, unsummed, PARTIAL, to);
    *n = 0;
    for (int k = 0; k < WL_N_PARALLEL; k++) {
        uint8_t coll;

        if (from[k].state == to[k].state && from[k].state != SHARDED)
            continue;
        if (to[k].state == PARTIAL)
            return dse_fail(err, DSE_E_CONFIG, "it is taken as partial sums along %s, and is none",
                            wl_parallel_names[k]);
        if (from[k].state == WHOLE)
            return dse_fail(err, DSE_E_CONFIG, "no collective shards along %s what every rank holds whole",
                            wl_parallel_names[k]);
        if (from[k].state == SHARDED && to[k].state == SHARDED) {
            if (wl_dim_equal(from[k].by, to[k].by))
                continue;
            coll = WL_ALL_TO_ALL;
        } else if (from[k].state == SHARDED) {
            coll = WL_ALL_GATHER;
        } else {
            coll = to[k].state == SHARDED ? WL_REDUCE_SCATTER : WL_ALL_REDUCE;
        }
        out[(*n)++] = (wl_match){coll, (uint8_t)k};
    }
    return DSE_OK;
}
