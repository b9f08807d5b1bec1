#include "workload/graph.h"

#include "base/array.h"

#include <inttypes.h>
#include <string.h>

const char *wl_node_type_name(uint32_t type)
{
    static const char *const names[] = {"INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
                                        "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"};
    return type < DSE_COUNT(names) ? names[type] : "unknown";
}

const char *wl_coll_type_name(uint32_t type)
{
    static const char *const names[] = {
        "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
        "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};
    return type < DSE_COUNT(names) ? names[type] : "unknown";
}

enum { DIGIT_BITS = 11, N_DIGITS = 1 << DIGIT_BITS };

/* One pass of a radix sort: nodes in the order of a digit of their ids above `least`; equal ones stay as they
 * are. */
static void sort_by_digit(const uint32_t *in, uint32_t n, const uint64_t *id_of, uint64_t least, int shift,
                          uint32_t *out)
{
    uint32_t place[N_DIGITS + 1] = {0};

    for (uint32_t i = 0; i < n; i++)
        place[((id_of[i] - least) >> shift) % N_DIGITS + 1]++;
    for (uint32_t d = 0; d < N_DIGITS; d++)
        place[d + 1] += place[d];
    for (uint32_t i = 0; i < n; i++)
        out[place[((id_of[in[i]] - least) >> shift) % N_DIGITS]++] = in[i];
}

/* Linear in the nodes: the ids of a rank span few digits. */
static dse_status sort_by_id(wl_graph *g, const uint64_t *id_of, const char *where, dse_arena *a,
                             dse_error *err)
{
    uint32_t n = g->n_nodes, *order = DSE_ARENA_NEW(a, uint32_t, n), *other = DSE_ARENA_NEW(a, uint32_t, n);
    uint64_t least = UINT64_MAX, greatest = 0;
    bool ascending = true;

    for (uint32_t i = 0; i < n; i++) {
        order[i] = i;
        ascending = ascending && (!i || id_of[i] > id_of[i - 1]);
        least = id_of[i] < least ? id_of[i] : least;
        greatest = id_of[i] > greatest ? id_of[i] : greatest;
    }
    for (int shift = 0; !ascending && shift < 64 && (greatest - least) >> shift; shift += DIGIT_BITS) {
        uint32_t *sorted = other;

        sort_by_digit(order, n, id_of, least, shift, sorted);
        other = order;
        order = sorted;
    }
    for (uint32_t i = 1; i < n; i++)
        if (id_of[order[i]] == id_of[order[i - 1]])
            return dse_fail_at(err, DSE_E_WORKLOAD, where, "node id %" PRIu64 " stands twice",
                               id_of[order[i]]);
    g->by_id = order;
    return DSE_OK;
}

/* Data and control dependencies in one list, each parent once: what the simulator waits for. */
static void merge_parents(wl_graph *g, dse_arena *a, dse_arena *scratch)
{
    uint32_t n = g->n_nodes, total = g->data_deps.start[n] + g->ctrl_deps.start[n];
    uint32_t *seen = DSE_ARENA_NEW(scratch, uint32_t, n);
    wl_csr *out = &g->parents;
    const wl_csr *const deps[] = {&g->data_deps, &g->ctrl_deps};

    out->start = DSE_ARENA_NEW(a, uint32_t, n + 1u);
    out->item = DSE_ARENA_NEW(a, uint32_t, total);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t end = out->start[i];

        for (int kind = 0; kind < 2; kind++) {
            for (uint32_t k = deps[kind]->start[i]; k < deps[kind]->start[i + 1]; k++) {
                uint32_t parent = deps[kind]->item[k];

                if (seen[parent] == i + 1)
                    continue;
                seen[parent] = i + 1;
                out->item[end++] = parent;
            }
        }
        out->start[i + 1] = end;
    }
}

static void link_children(wl_graph *g, dse_arena *a, dse_arena *scratch)
{
    uint32_t n = g->n_nodes, total = g->parents.start[n], *fill = DSE_ARENA_NEW(scratch, uint32_t, n + 1u);
    wl_csr *out = &g->children;

    out->start = DSE_ARENA_NEW(a, uint32_t, n + 1u);
    out->item = DSE_ARENA_NEW(a, uint32_t, total);
    for (uint32_t k = 0; k < total; k++)
        out->start[g->parents.item[k] + 1]++;
    for (uint32_t i = 0; i < n; i++)
        out->start[i + 1] += out->start[i];
    memcpy(fill, out->start, (n + 1u) * sizeof *fill);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = g->parents.start[i]; k < g->parents.start[i + 1]; k++)
            out->item[fill[g->parents.item[k]]++] = i;
}

/* Runs the graph without time: what never becomes ready is on a cycle or behind one. */
static dse_status check_cycles(const wl_graph *g, const uint64_t *id_of, const char *where,
                               dse_arena *scratch, dse_error *err)
{
    uint32_t n = g->n_nodes, done = 0, ready = 0, at;
    uint32_t *left = DSE_ARENA_NEW(scratch, uint32_t, n), *queue = DSE_ARENA_NEW(scratch, uint32_t, n);

    for (uint32_t i = 0; i < n; i++)
        if (!(left[i] = wl_n_parents(g, i)))
            queue[ready++] = i;
    while (done < ready) {
        uint32_t i = queue[done++];

        for (uint32_t k = g->children.start[i]; k < g->children.start[i + 1]; k++)
            if (!--left[g->children.item[k]])
                queue[ready++] = g->children.item[k];
    }
    if (done == n)
        return DSE_OK;
    /* From any blocked node, going to a blocked parent n times ends on the cycle itself. */
    for (at = 0; !left[at]; at++)
        ;
    for (uint32_t step = 0; step < n; step++) {
        uint32_t k = g->parents.start[at];

        while (!left[g->parents.item[k]])
            k++;
        at = g->parents.item[k];
    }
    return dse_fail_at(err, DSE_E_WORKLOAD, where,
                       "node %" PRIu64 " '%.80s' is on a dependency cycle; %" PRIu32 " of %" PRIu32
                       " nodes can never start",
                       id_of[at], g->node[at].name, n - done, n);
}

dse_status wl_graph_link(wl_graph *g, const uint64_t *id_of, const char *where, dse_arena *a,
                         dse_arena *scratch, dse_error *err)
{
    merge_parents(g, a, scratch);
    link_children(g, a, scratch);
    return check_cycles(g, id_of, where, scratch, err);
}

dse_status wl_graph_finish(wl_graph *g, const uint64_t *id_of, const char *where, dse_arena *a,
                           dse_error *err)
{
    dse_status st = sort_by_id(g, id_of, where, a, err);

    return st == DSE_OK ? wl_graph_link(g, id_of, where, a, a, err) : st;
}
