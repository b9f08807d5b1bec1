#include "sim/collective.h"

#include "base/array.h"
#include "base/names.h"
#include "sim/collective_list.h"
#include "workload/graph.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(id) extern const sim_algorithm sim_algorithm_##id;
SIM_ALGORITHM_LIST(DECLARE)

#define ROW(id) &sim_algorithm_##id,
static const sim_algorithm *const rows[] = {SIM_ALGORITHM_LIST(ROW)};
#define N_ROWS DSE_COUNT(rows)

/* "name" or, where a window is allowed, "name<digits>". */
static bool matches(const char *text, const char *name, bool takes_window, int32_t *window)
{
    size_t n = strlen(name), digits = 0;

    *window = 0;
    if (strncmp(text, name, n))
        return false;
    if (!text[n])
        return true;
    while (isdigit((unsigned char)text[n + digits]))
        digits++;
    if (!takes_window || !digits || digits > 5 || text[n + digits])
        return false;
    *window = (int32_t)strtol(text + n, NULL, 10);
    return *window > 0; /* with a window of 0 nothing would ever be sent */
}

dse_status sim_implementation_parse(const char *text, sim_implementation *out, dse_error *err)
{
    const char *known[2 * N_ROWS], *nearest;
    char list[256];
    size_t n = 0;

    for (size_t i = 0; i < N_ROWS; i++) {
        const char *names[] = {rows[i]->name, rows[i]->one_name};

        for (int one = 0; one < 2; one++) {
            int32_t window;

            if (!names[one])
                continue;
            known[n++] = names[one];
            if (!matches(text, names[one], rows[i]->takes_window, &window))
                continue;
            if (out)
                *out = (sim_implementation){rows[i], one, window};
            return DSE_OK;
        }
    }
    nearest = dse_nearest(text, known, n);
    dse_join(list, sizeof list, known, n);
    return dse_fail(
        err, DSE_E_CONFIG,
        "unknown collective implementation '%.60s';%s%s%s known: %s (direct and oneDirect may carry a "
        "window: direct4)",
        text, nearest ? " did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "", list);
}

dse_status sim_logical_init(const sim_implementations *impl, const net_network *net, sim_logical *out,
                            dse_error *err)
{
    *out = (sim_logical){0};
    if (impl->n_dims > net->n_dims)
        return dse_fail(err, DSE_E_CONFIG,
                        "a list of %" PRIu32 " collective implementations for a network of %" PRIu32
                        " dimensions",
                        impl->n_dims, net->n_dims);
    for (uint32_t i = 0; i < impl->n_dims; i++) {
        bool all = impl->dim[i].over_all;

        out->dim[i].how = impl->dim[i];
        out->dim[i].n = all ? net->n_npus : net->dim[i].shape.n;
        out->dim[i].stride = all ? 1 : net->dim[i].stride;
        out->n_dims++;
        if (all)
            break;
    }
    return DSE_OK;
}

dse_status sim_logicals_init(const sim_settings *set, const net_network *net,
                             sim_logical out[SIM_N_COLLECTIVES], dse_error *err)
{
    dse_status st = DSE_OK;

    for (int i = 0; st == DSE_OK && i < SIM_N_COLLECTIVES; i++)
        st = sim_logical_init(&set->implementations[i], net, &out[i], err);
    return st;
}

/* ---- chunks, queues and phases -------------------------------------------------------------- */

bool sim_collective_of(uint32_t chakra, sim_collective *out)
{
    static const uint32_t types[SIM_N_COLLECTIVES] = {[SIM_ALL_REDUCE] = WL_ALL_REDUCE,
                                                      [SIM_ALL_GATHER] = WL_ALL_GATHER,
                                                      [SIM_REDUCE_SCATTER] = WL_REDUCE_SCATTER,
                                                      [SIM_ALL_TO_ALL] = WL_ALL_TO_ALL};

    for (int c = 0; c < SIM_N_COLLECTIVES; c++) {
        if (types[c] == chakra) {
            *out = (sim_collective)c;
            return true;
        }
    }
    return false;
}

/* Chunks of size / splits, rounded down; what is left over makes one more of full size. All but an all-gather
 * are first raised to one byte per NPU and chunk. */
sim_chunks sim_cut_chunks(const sim_settings *set, uint32_t n_npus, sim_collective coll, uint64_t size)
{
    sim_chunks c = {size / set->splits, 0};

    if (coll != SIM_ALL_GATHER && c.bytes < n_npus) {
        c.bytes = n_npus;
        size = set->splits * c.bytes;
    }
    if (c.bytes)
        c.n = size / c.bytes + (size % c.bytes != 0);
    return c;
}

sim_queues sim_queues_for(const sim_settings *set, sim_queue_use use)
{
    uint32_t n = set->queues_per_dim, half = n / 2;

    switch (use) {
    case SIM_QUEUE_UP: return (sim_queues){0, half ? half : 1};
    case SIM_QUEUE_DOWN: return (sim_queues){half, n - half};
    default: return (sim_queues){0, n};
    }
}

sim_queue_use sim_group_queue_use(const sim_settings *set, sim_collective coll)
{
    return coll == SIM_ALL_REDUCE && set->local_bw_aware ? SIM_QUEUE_UP : SIM_QUEUE_ANY;
}

uint32_t sim_order_phases(const sim_settings *set, const sim_logical *logical, sim_collective coll,
                          uint32_t involved, sim_dim_phase out[2 * NET_MAX_DIMS])
{
    bool up_and_down = coll == SIM_ALL_REDUCE && set->local_bw_aware;
    uint32_t n = 0, n_up;

    for (uint32_t i = 0; i < logical->n_dims; i++) {
        uint32_t dim = coll == SIM_ALL_GATHER ? logical->n_dims - 1 - i : i;

        if (involved >> dim & 1)
            out[n++] = (sim_dim_phase){dim, coll, SIM_QUEUE_ANY};
    }
    if (!up_and_down || !n)
        return n;
    n_up = n;
    for (uint32_t i = 0; i < n_up; i++) {
        out[i].coll = i + 1 < n_up ? SIM_REDUCE_SCATTER : SIM_ALL_REDUCE;
        out[i].use = SIM_QUEUE_UP;
    }
    for (uint32_t i = n_up - 1; i-- > 0;)
        out[n++] = (sim_dim_phase){out[i].dim, SIM_ALL_GATHER, SIM_QUEUE_DOWN};
    return n;
}

const sim_implementation *sim_group_implementation(const sim_settings *set, sim_collective coll)
{
    static const sim_implementation ring = {&sim_algorithm_ring, false, 0};
    const sim_implementations *list = &set->implementations[coll];

    return sim_settings_version(set)->groups_by_algorithm && list->n_dims == 1 ? &list->dim[0] : &ring;
}

const char *sim_group_phase(const sim_implementation *how, const sim_ring *ring, sim_collective coll,
                            uint64_t bytes, sim_phase *p)
{
    *p = (sim_phase){
        .algorithm = how->algorithm, .coll = (uint8_t)coll, .bytes = bytes, .in_group = true, .ring = *ring};
    return how->algorithm->plan(how, true, 0, p);
}
