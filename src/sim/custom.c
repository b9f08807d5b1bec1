#include "sim/custom.h"

#include "sim/engine.h"
#include "sim/stream.h"

#include <inttypes.h>

/* ---- the choice ------------------------------------------------------------------------------ */

const sim_custom *sim_custom_choose(const sim_customs *c, uint64_t id, sim_collective coll)
{
    for (uint32_t i = 0; i < c->n_nodes; i++)
        if (c->node[i].id == (int32_t)id) /* the reference keeps 32 bits */
            return c->node[i].custom;
    return c->of[coll];
}

const sim_custom *sim_custom_of(const sim_engine *e, uint32_t rank, uint32_t node, sim_collective coll)
{
    const sim_rank *r = &e->rank[rank];
    const uint32_t slot = r->graph->graph->node[node].slot;
    const sim_custom *custom;
    sim_choice *kept;

    if (!e->set->customs)
        return NULL;
    custom = sim_custom_choose(e->set->customs, wl_node_id(e->w, rank, node), coll);
    if (slot == DSE_NONE)
        return custom;
    kept = &r->choice[slot * SIM_N_COLLECTIVES + (uint32_t)coll];
    if (!kept->is_made)
        *kept = (sim_choice){true, custom};
    return kept->custom;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static const wl_graph *graph_of(const sim_custom_run *run)
{
    return wl_rank_graph(&run->custom->w, run->place);
}

static void exchange(sim_engine *e, uint32_t rank, const sim_custom_run *run, uint32_t node)
{
    const wl_node *n = &graph_of(run)->node[node];
    const wl_p2p *p = &run->custom->w.rank[run->place].p2p[n->slot];
    const uint32_t n_places = run->group ? run->group->n : e->net->n_npus;

    if (n->lacks)
        sim_fail(e, DSE_E_WORKLOAD, "%s.%" PRIu32 ".et: node %" PRIu64 " lacks the attribute '%s'",
                 run->custom->prefix, run->place, p->id, n->lacks);
    else if (p->peer >= n_places)
        sim_fail(e, DSE_E_WORKLOAD,
                 "%s.%" PRIu32 ".et: node %" PRIu64 ": a message between places %" PRIu32 " and %" PRIu32
                 " of %" PRIu32,
                 run->custom->prefix, run->place, p->id, run->place, p->peer, n_places);
    else
        sim_message_native(e, rank, run->group ? run->group->rank[p->peer] : p->peer, n->comm_size, p->tag,
                           n->type == WL_NODE_SEND, (sim_call){SIM_CALL_CUSTOM, rank, node});
}

static void issue(sim_engine *e, uint32_t rank, uint32_t node)
{
    const sim_custom_run *run = &e->rank[rank].custom;
    const wl_node *n = &graph_of(run)->node[node];

    if (n->type == WL_NODE_SEND || n->type == WL_NODE_RECV)
        exchange(e, rank, run, node);
    else if (n->type == WL_NODE_COMP)
        sim_register(e, rank, SIM_RE_CUSTOM, node, 0, n->duration_us ? n->duration_us * 1000 : 1);
    /* The reference takes other nodes, and never ends them. */
}

/* Adds a node behind those of lower ids. */
static void add_ready(const sim_custom_run *run, uint32_t *ready, uint32_t n, uint32_t node)
{
    const wl_workload *w = &run->custom->w;

    for (; n > 0 && wl_node_id(w, run->place, ready[n - 1]) > wl_node_id(w, run->place, node); n--)
        ready[n] = ready[n - 1];
    ready[n] = node;
}

void sim_custom_node_done(sim_engine *e, uint32_t rank, uint32_t node)
{
    sim_custom_run *run = &e->rank[rank].custom;
    const wl_csr *children = &graph_of(run)->children;
    const uint32_t first = children->start[node], n_children = children->start[node + 1] - first;
    uint32_t *ready = dse_calloc(n_children, sizeof *ready), n = 0;

    for (uint32_t i = 0; i < n_children; i++)
        if (!--run->left[children->item[first + i]])
            add_ready(run, ready, n++, children->item[first + i]);
    run->n_ended++;
    for (uint32_t i = 0; i < n && e->status == DSE_OK; i++)
        issue(e, rank, ready[i]);
    dse_free(ready);
    if (run->n_ended == graph_of(run)->n_nodes)
        sim_stream_next_phase(e, sim_stream_at(e, run->stream));
}

/* ---- the collective -------------------------------------------------------------------------- */

/* In ascending order of the ranks; peers are counted in the order of the group. */
static uint32_t place_in(const wl_group *g, uint32_t rank)
{
    uint32_t place = 0;

    for (uint32_t i = 0; i < g->n; i++)
        place += g->rank[i] < rank;
    return place;
}

static void start_custom(sim_engine *e, sim_stream *s)
{
    const uint32_t rank = s->rank;
    const sim_custom_run *run = &e->rank[rank].custom;
    const wl_graph *g = graph_of(run);

    for (uint32_t i = 0; i < g->n_nodes && e->status == DSE_OK; i++)
        if (!wl_n_parents(g, g->by_id[i]))
            issue(e, rank, g->by_id[i]);
}

static const sim_algorithm algorithm = {.name = "custom", .start = start_custom};

void sim_custom_plan(sim_engine *e, sim_stream *s, const sim_custom *custom, const wl_group *group)
{
    sim_custom_run *run = &e->rank[s->rank].custom;
    const wl_graph *g;

    run->custom = custom;
    run->group = group;
    run->place = group ? place_in(group, s->rank) : s->rank;
    run->stream = s->id;
    run->n_ended = 0;
    g = graph_of(run);
    DSE_ARENA_GROW(e->arena, run->left, run->cap_left, g->n_nodes);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        run->left[i] = wl_n_parents(g, i);
    s->phases[s->n_phases++] = (sim_phase){.algorithm = &algorithm};
}
