/* A rank's workload: nodes become ready, are issued when their unit is free, and end.
 *
 * A rank computes one node at a time, runs one collective or send at a time, one CPU node at a time, and any
 * number of receives. Whenever something ends, the nodes that are ready at that moment are tried in ascending
 * id. A compute node that moves no data ends at once but wakes no other node: its children wait for the
 * rank's next event. Source: Workload.cc and HardwareResource.cc of the reference, and Chakra's feeder for
 * dependencies. */
#include "sim/engine.h"
#include "sim/figures.h"
#include "sim/stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS_OF_GROUP 1000000u

/* ---- ready nodes --------------------------------------------------------------------------- */

static void heap_push(sim_ready *h, uint32_t place)
{
    uint32_t i = h->n++;

    for (; i > 0 && h->place[(i - 1) / 2] > place; i = (i - 1) / 2)
        h->place[i] = h->place[(i - 1) / 2];
    h->place[i] = place;
}

static uint32_t heap_pop(sim_ready *h)
{
    uint32_t top = h->place[0], last = h->place[--h->n], i = 0;

    for (;;) {
        uint32_t child = 2 * i + 1;

        if (child >= h->n)
            break;
        if (child + 1 < h->n && h->place[child + 1] < h->place[child])
            child++;
        if (h->place[child] >= last)
            break;
        h->place[i] = h->place[child];
        i = child;
    }
    if (h->n)
        h->place[i] = last;
    return top;
}

static void make_ready(sim_rank *r, uint32_t node)
{
    r->n_ready++;
    if (r->issuing)
        r->freed[r->n_freed++] = node;
    else
        heap_push(&r->ready[r->graph->unit[node]], r->graph->position[node]);
}

/* The ready node of the lowest id whose unit is free, or DSE_NONE. */
static uint32_t next_issuable(sim_rank *r)
{
    uint32_t best = DSE_NONE;
    int unit = -1;

    for (int u = 0; u < SIM_N_UNITS; u++) {
        if (r->ready[u].n && !r->busy[u] && r->ready[u].place[0] < best) {
            best = r->ready[u].place[0];
            unit = u;
        }
    }
    if (unit < 0)
        return DSE_NONE;
    return r->graph->graph->by_id[heap_pop(&r->ready[unit])];
}

/* ---- ending and issuing -------------------------------------------------------------------- */

static void end_node(sim_engine *e, uint32_t rank, uint32_t node)
{
    sim_rank *r = &e->rank[rank];
    const wl_csr *children = &r->graph->graph->children;
    uint8_t unit = r->graph->unit[node];

    r->busy[unit] = false;
    r->end[node] = e->now;
    r->n_ongoing--;
    if (r->tensor) {
        r->ended[r->n_ended++] = node;
        sim_memory_record(e, rank, node);
    }
    for (uint32_t k = children->start[node]; k < children->start[node + 1]; k++)
        if (!--r->left[children->item[k]])
            make_ready(r, children->item[k]);
}

static dse_time replay_ticks(const wl_node *n) { return n->duration_us ? n->duration_us * 1000 : 1; }

static void replay(sim_engine *e, uint32_t rank, uint32_t node)
{
    const wl_node *n = &e->rank[rank].graph->graph->node[node];
    dse_time ticks = replay_ticks(n);

    if (!n->is_cpu_op)
        e->rank[rank].compute_ticks += ticks;
    e->backend->end_node(e, rank, node, ticks);
}

static void issue_compute(sim_engine *e, uint32_t rank, uint32_t node)
{
    sim_rank *r = &e->rank[rank];
    const wl_node *n = &r->graph->graph->node[node];

    if (!e->set->roofline || n->is_cpu_op) {
        replay(e, rank, node);
    } else if (!n->tensor_size) {
        end_node(e, rank, node);
    } else {
        r->compute_ticks += r->graph->cost[node].ticks;
        e->backend->end_node(e, rank, node, r->graph->cost[node].ticks);
    }
}

static void issue_collective(sim_engine *e, uint32_t rank, uint32_t node)
{
    const wl_node *n = &e->rank[rank].graph->graph->node[node];

    if (n->coll == WL_BROADCAST) /* the reference replays it */
        e->backend->end_node(e, rank, node, replay_ticks(n));
    else
        e->backend->start_collective(e, rank, node);
}

static void issue(sim_engine *e, uint32_t rank, uint32_t node)
{
    sim_rank *r = &e->rank[rank];
    const wl_node *n = &r->graph->graph->node[node];
    sim_unit unit = sim_unit_of(n);

    r->n_ready--;
    r->n_ongoing++;
    r->busy[unit] = unit != SIM_UNIT_RECV;
    r->start[node] = e->now;
    r->issued[r->n_issued++] = node;
    e->n_nodes++;
    if (e->set->replay_only) {
        replay(e, rank, node);
        return;
    }
    if (n->lacks && (n->type != WL_NODE_COMP || e->set->roofline)) {
        sim_fail(e, DSE_E_WORKLOAD, "%s lacks the attribute '%s'", sim_where(e, rank, node).text, n->lacks);
        return;
    }
    if (n->is_cpu_op && n->type >= WL_NODE_SEND) {
        sim_fail(e, DSE_E_WORKLOAD, "%s: a communication node is marked as a CPU operation",
                 sim_where(e, rank, node).text);
        return;
    }
    switch ((wl_node_type)n->type) {
    case WL_NODE_COMP: issue_compute(e, rank, node); break;
    case WL_NODE_COLL: issue_collective(e, rank, node); break;
    case WL_NODE_SEND:
    case WL_NODE_RECV: e->backend->start_message(e, rank, node); break;
    case WL_NODE_MEM_LOAD:
    case WL_NODE_MEM_STORE: sim_remote_issue(e, rank, node); break;
    case WL_NODE_INVALID: end_node(e, rank, node); break;
    case WL_NODE_METADATA:
        sim_fail(e, DSE_E_WORKLOAD, "%s: METADATA_NODE is a node type that the simulator cannot run",
                 sim_where(e, rank, node).text);
        break;
    }
}

/* Tries the nodes that are ready now; those that become ready meanwhile wait for the next event. */
static void issue_ready(sim_engine *e, uint32_t rank)
{
    sim_rank *r = &e->rank[rank];
    uint32_t node;

    r->issuing = true;
    while (e->status == DSE_OK && (node = next_issuable(r)) != DSE_NONE)
        issue(e, rank, node);
    r->issuing = false;
    r->n_ready -= r->n_freed;
    for (uint32_t i = 0; i < r->n_freed; i++)
        make_ready(r, r->freed[i]);
    r->n_freed = 0;
}

static void continue_rank(sim_engine *e, uint32_t rank)
{
    sim_rank *r = &e->rank[rank];

    issue_ready(e, rank);
    if (r->n_ready || r->n_ongoing || r->finished || e->status != DSE_OK)
        return;
    r->finished = true;
    e->finish_order[e->n_finished++] = rank;
    sim_stats_collect(e, rank, &e->stats[rank]);
}

void sim_rank_start(sim_engine *e, uint32_t rank) { continue_rank(e, rank); }

void sim_node_done(sim_engine *e, uint32_t rank, uint32_t node)
{
    end_node(e, rank, node);
    continue_rank(e, rank);
}

void sim_rank_collective_ended(sim_engine *e, uint32_t rank)
{
    sim_node_done(e, rank, e->rank[rank].coll_node);
}

/* ---- setting up ---------------------------------------------------------------------------- */

static void init_graphs(sim_engine *e)
{
    const sim_device device = sim_device_of(e->set);

    e->graph = DSE_ARENA_NEW(e->arena, sim_graph, e->w->n_graphs);
    for (uint32_t i = 0; i < e->w->n_graphs; i++) {
        const wl_graph *wg = &e->w->graph[i];
        sim_graph *g = &e->graph[i];

        g->graph = wg;
        g->cost = DSE_ARENA_NEW(e->arena, sim_cost, wg->n_nodes);
        g->position = DSE_ARENA_NEW(e->arena, uint32_t, wg->n_nodes);
        g->unit = DSE_ARENA_NEW(e->arena, uint8_t, wg->n_nodes);
        g->type = DSE_ARENA_NEW(e->arena, uint8_t, wg->n_nodes);
        g->all_have_io = true;
        for (uint32_t k = 0; k < wg->n_nodes; k++) {
            g->unit[k] = (uint8_t)sim_unit_of(&wg->node[k]);
            g->type[k] = wg->node[k].type;
            g->n_of_unit[g->unit[k]]++;
            g->all_have_io &= wg->node[k].has_io;
            g->position[wg->by_id[k]] = k;
            if (wg->node[k].type == WL_NODE_COMP && wg->node[k].tensor_size && e->set->roofline) {
                const wl_kernel kernel = wl_node_kernel(wg, k);

                g->cost[k] = sim_kernel_time(&kernel, &device);
            }
        }
    }
}

void sim_rank_init_collectives(sim_engine *e, uint32_t rank, uint32_t n_group_slots)
{
    sim_rank *r = &e->rank[rank];
    uint32_t lanes = e->net->n_dims * e->set->queues_per_dim;

    r->lane = DSE_ARENA_NEW(e->arena, sim_lane, lanes);
    r->next_queue = DSE_ARENA_NEW(e->arena, uint32_t, (size_t)e->net->n_dims * SIM_N_QUEUE_USES);
    r->trees = DSE_ARENA_NEW(e->arena, uint32_t, (size_t)SIM_N_COLLECTIVES * NET_MAX_DIMS);
    r->group_streams = DSE_ARENA_NEW(e->arena, uint32_t, n_group_slots);
    for (uint32_t i = 0; i < lanes; i++)
        r->lane[i] = (sim_lane){.waiting = DSE_LIST_EMPTY, .last_came = DSE_TIME_NONE};
    for (uint32_t i = 0; i < n_group_slots; i++)
        r->group_streams[i] = STREAMS_OF_GROUP;
}

/* The tags of a group begin at its number, if groups have one; modulo 2^32, as in the reference. */
static void number_groups(sim_engine *e, uint32_t rank, uint32_t n_group_slots)
{
    if (!sim_settings_version(e->set)->tags_by_group)
        return;
    for (uint32_t i = 0; i < n_group_slots; i++) {
        const char *name = e->w->group[e->w->rank[rank].group[i]].name;

        e->rank[rank].group_streams[i] = (uint32_t)strtoul(name, NULL, 10) * STREAMS_OF_GROUP;
    }
}

static void init_rank(sim_engine *e, uint32_t rank)
{
    sim_rank *r = &e->rank[rank];
    const wl_graph *g = wl_rank_graph(e->w, rank);
    uint32_t n = g->n_nodes;

    r->graph = &e->graph[e->w->rank[rank].graph];
    r->left = DSE_ARENA_NEW(e->arena, uint32_t, n);
    r->start = DSE_ARENA_NEW(e->arena, dse_time, n);
    r->end = DSE_ARENA_NEW(e->arena, dse_time, n);
    r->issued = DSE_ARENA_NEW(e->arena, uint32_t, n);
    r->freed = DSE_ARENA_NEW(e->arena, uint32_t, n);
    sim_rank_init_collectives(e, rank, g->n_group_slots);
    number_groups(e, rank, g->n_group_slots);
    if (e->set->customs)
        r->choice = DSE_ARENA_NEW(e->arena, sim_choice, (size_t)g->n_group_slots * SIM_N_COLLECTIVES);
    for (int u = 0; u < SIM_N_UNITS; u++) {
        r->ready[u].place = DSE_ARENA_NEW(e->arena, uint32_t, r->graph->n_of_unit[u]);
    }
    if (e->set->track_memory) {
        r->tensor = DSE_ARENA_NEW(e->arena, sim_tensor, g->n_tensors);
        r->ended = DSE_ARENA_NEW(e->arena, uint32_t, n);
        for (uint32_t i = 0; i < g->n_tensors; i++)
            r->tensor[i] = (sim_tensor){DSE_TIME_NONE, DSE_TIME_NONE, 0, DSE_NONE};
    }
    sim_bus_init(e, rank);
    for (uint32_t i = 0; i < n; i++) {
        r->start[i] = r->end[i] = DSE_TIME_NONE;
        r->left[i] = wl_n_parents(g, i);
        if (!r->left[i])
            make_ready(r, i);
    }
}

void sim_ranks_init(sim_engine *e)
{
    init_graphs(e);
    e->rank = DSE_ARENA_NEW(e->arena, sim_rank, e->w->n_ranks);
    e->stats = DSE_ARENA_NEW(e->arena, sim_rank_stats, e->w->n_ranks);
    e->finish_order = DSE_ARENA_NEW(e->arena, uint32_t, e->w->n_ranks);
    for (uint32_t r = 0; r < e->w->n_ranks; r++)
        init_rank(e, r);
}
