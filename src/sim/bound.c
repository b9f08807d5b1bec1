#include "sim/bound_parts.h"
#include "sim/kernel_time.h"

static const char *const names[SIM_N_BOUNDS] = {
    [SIM_BOUND_COMPUTE] = "the compute of the longest rank",
    [SIM_BOUND_COMM] = "the communication of the busiest rank",
    [SIM_BOUND_CHAIN] = "the chain of dependencies",
};

const char *sim_bound_name(sim_bound_kind kind) { return names[kind]; }

dse_status sim_bounds_make(const sim_settings *set, const net_network *net, dse_arena *a, sim_bounds **out,
                           dse_error *err)
{
    sim_bounds *b = DSE_ARENA_NEW(a, sim_bounds, 1);

    *out = b;
    b->set = set;
    b->net = net;
    sim_distances_init(&b->distances, net);
    return sim_logicals_init(set, net, b->logical, err);
}

void sim_bounds_free(sim_bounds *b)
{
    if (!b)
        return;
    sim_distances_free(&b->distances);
    dse_free(b->time);
    dse_free(b->path_time);
    dse_free(b->path_end);
}

/* As a rank issues its nodes (rank.c). Generated ones have no duration of their own, and are replayed in a
 * tick. */
static dse_time compute_ticks(const sim_bounds *b, const wl_total *k)
{
    const sim_device device = sim_device_of(b->set);

    if (b->set->replay_only || !b->set->roofline)
        return 1;
    return k->kernel.bytes ? sim_kernel_time(&k->kernel, &device).ticks : 0;
}

sim_sum bound_computation(const sim_bounds *b, const wl_totals *t, const wl_total *k)
{
    return (sim_sum)compute_ticks(b, k) * t->ranks_per_stage;
}

/* ---- a stage ------------------------------------------------------------------------------- */

/* Stages that are not outermost lie in pieces, of as many ranks as count faster than the stage. */
static sim_ranks ranks_of(const wl_totals *t, uint32_t stage)
{
    uint32_t piece = t->mesh.axis[t->pipeline].stride;

    return (sim_ranks){
        .first = stage * piece, .count = t->ranks_per_stage, .piece = piece, .period = t->n_stages * piece};
}

/* Groups of equally distant ranks: those along one axis, or along axes that follow each other in the
 * numbering of ranks. Then the last member is as far from the first as so many steps of the least stride. */
static bool are_regular(const mesh *m, mesh_set axes, uint32_t *stride, uint32_t *n)
{
    uint64_t reach = 0;

    *n = (uint32_t)mesh_size(m, axes);
    *stride = UINT32_MAX;
    for (uint32_t i = 0; i < m->n; i++) {
        const mesh_axis *x = &m->axis[i];

        if (!mesh_has(axes, i) || x->degree == 1)
            continue;
        reach += (x->degree - 1u) * (uint64_t)x->stride;
        *stride = x->stride < *stride ? x->stride : *stride;
    }
    return reach == (*n - 1u) * (uint64_t)*stride;
}

/* Of the collectives of a kind; what is replayed takes a tick. Nothing is claimed of groups that are not
 * regular. */
sim_sum bound_collectives(sim_bounds *b, const wl_totals *t, uint32_t stage, const wl_total *k)
{
    bound_groups g = {.ranks = ranks_of(t, stage)};

    if (b->set->replay_only)
        return t->ranks_per_stage;
    return are_regular(&t->mesh, k->axes, &g.stride, &g.n) ? bound_collective(b, &g, k->coll, k->comm_size)
                                                           : 0;
}

static void find_times(sim_bounds *b, const wl_totals *t, uint32_t stage)
{
    const uint32_t *count = &t->count[(size_t)stage * t->n_kinds];

    DSE_GROW(b->time, b->cap_time, t->n_kinds);
    for (uint32_t i = 0; i < t->n_kinds; i++) {
        const wl_total *k = &t->kind[i];

        b->time[i] = 0;
        if (!count[i])
            continue;
        b->time[i] = k->type == WL_NODE_COMP ? bound_computation(b, t, k) : bound_collectives(b, t, stage, k);
    }
}

/* A send lasts until its message arrives. */
sim_sum bound_send(sim_bounds *b, const wl_totals *t, uint32_t from, uint32_t to, uint64_t bytes)
{
    const sim_pairs pairs = {.pairing = SIM_PAIRS_OFFSET,
                             .senders = ranks_of(t, from),
                             .distance = (to - from) * t->mesh.axis[t->pipeline].stride};

    return b->set->replay_only ? t->ranks_per_stage : sim_distances_sum(&b->distances, &pairs, bytes);
}

/* All nodes of the stage, by what keeps them from running at once. */
static void stage_sums(sim_bounds *b, const wl_totals *t, uint32_t stage, sim_sum *compute, sim_sum *comm)
{
    const uint32_t *count = &t->count[(size_t)stage * t->n_kinds];

    *compute = *comm = 0;
    for (uint32_t i = 0; i < t->n_kinds; i++)
        *(t->kind[i].type == WL_NODE_COMP ? compute : comm) += b->time[i] * count[i];
    for (uint32_t i = 0; i < t->n_sends; i++)
        if (t->sends[i].from == stage)
            *comm += t->sends[i].n * bound_send(b, t, stage, t->sends[i].to, t->sends[i].comm_size);
}

/* The pieces of the chain that are on the stage. */
static sim_sum stage_chain(const sim_bounds *b, const wl_totals *t, uint32_t stage)
{
    sim_sum chain = 0;

    for (uint32_t i = 0; i < t->n_segments; i++) {
        const wl_segment *s = &t->segment[i];
        uint32_t n = t->segment_count[stage * t->n_segments + i];
        sim_sum compute = 0, comm = 0;

        for (uint32_t k = s->first; n && k < s->first + s->n; k++)
            *(t->kind[t->segment_kind[k]].type == WL_NODE_COMP ? &compute : &comm) +=
                b->time[t->segment_kind[k]];
        chain += (compute > comm ? compute : comm) * n;
    }
    return chain;
}

/* What is held when the loss begins is held for a tick only if the loss takes one. What is replayed does not
 * wait for messages, nor one stage for another. */
static uint64_t stage_held(const sim_bounds *b, const wl_totals *t, uint32_t stage)
{
    const wl_held *h = &t->held[stage];
    bool lasts = !b->set->replay_only && t->loss != DSE_NONE && compute_ticks(b, &t->kind[t->loss]) > 0;

    if (!b->set->track_memory)
        return 0;
    return lasts && h->at_loss > h->at_start ? h->at_loss : h->at_start;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Sums over the ranks of a stage, as what the average rank takes; the slowest takes no less than that, in
 * whole ticks. What does not fit 64 bits is beyond any result. */
static dse_time per_rank(const wl_totals *t, sim_sum sum)
{
    sim_sum v = (sum + t->ranks_per_stage - 1) / t->ranks_per_stage;

    return v > DSE_TIME_NONE ? DSE_TIME_NONE : (dse_time)v;
}

static void raise_part(sim_bound *out, sim_bound_kind kind, dse_time ticks)
{
    if (ticks > out->part[kind])
        out->part[kind] = ticks;
}

void sim_bounds_of(sim_bounds *b, const wl_totals *t, const wl_paths *p, sim_bound *out)
{
    sim_sum compute, comm, chain = 0;

    *out = (sim_bound){.by = SIM_BOUND_COMPUTE};
    for (uint32_t s = 0; s < t->n_stages; s++) {
        uint64_t held = stage_held(b, t, s);

        find_times(b, t, s);
        stage_sums(b, t, s, &compute, &comm);
        chain += stage_chain(b, t, s);
        raise_part(out, SIM_BOUND_COMPUTE, per_rank(t, compute));
        raise_part(out, SIM_BOUND_COMM, per_rank(t, comm));
        out->held = held > out->held ? held : out->held;
    }
    if (!b->set->replay_only)
        raise_part(out, SIM_BOUND_CHAIN, per_rank(t, chain));
    if (p)
        raise_part(out, SIM_BOUND_CHAIN, per_rank(t, bound_path(b, t, p, false)));
    for (int k = 0; k < SIM_N_BOUNDS; k++)
        if (out->part[k] > out->wall) {
            out->wall = out->part[k];
            out->by = (sim_bound_kind)k;
        }
    if (out->wall < DSE_TIME_NONE - b->set->step_overhead)
        out->wall += b->set->step_overhead;
}

dse_time sim_bounds_without_network(sim_bounds *b, const wl_totals *t, const wl_paths *p)
{
    sim_sum longest = p ? bound_path(b, t, p, true) : 0, compute, comm;
    dse_time ticks;

    for (uint32_t s = 0; s < t->n_stages; s++) {
        find_times(b, t, s);
        stage_sums(b, t, s, &compute, &comm);
        longest = compute > longest ? compute : longest;
    }
    ticks = per_rank(t, longest);
    return ticks < DSE_TIME_NONE - b->set->step_overhead ? ticks + b->set->step_overhead : ticks;
}
