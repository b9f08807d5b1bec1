#include "sim/bound_parts.h"
#include "sim/engine.h"

static const char *const names[SIM_N_BOUNDS] = {
    [SIM_BOUND_COMPUTE] = "the compute of the longest rank",
    [SIM_BOUND_COMM] = "the communication of the busiest rank",
};

const char *sim_bound_name(sim_bound_kind kind) { return names[kind]; }

dse_status sim_bounds_make(const sim_settings *set, const net_network *net, dse_arena *a, sim_bounds **out,
                           dse_error *err)
{
    sim_bounds *b = DSE_ARENA_NEW(a, sim_bounds, 1);
    dse_status st = b ? DSE_OK : dse_fail_nomem(err);

    *out = b;
    if (st != DSE_OK)
        return st;
    b->set = set;
    b->net = net;
    sim_distances_init(&b->distances, net);
    for (int i = 0; st == DSE_OK && i < SIM_N_COLLECTIVES; i++)
        st = sim_logical_init(&set->implementations[i], net, &b->logical[i], err);
    return st;
}

void sim_bounds_free(sim_bounds *b)
{
    if (b)
        sim_distances_free(&b->distances);
}

/* Added up, the ticks of all ranks of a stage may not fit 64 bits; a rank's do if there is a result. */
static dse_time clamp(sim_sum v) { return v > DSE_TIME_NONE ? DSE_TIME_NONE : (dse_time)v; }

/* As a rank issues its nodes (rank.c). Generated ones have no duration of their own, and are replayed in a tick. */
static dse_time compute_ticks(const sim_bounds *b, const wl_total *k)
{
    const wl_node node = {.num_ops = k->num_ops, .tensor_size = k->tensor_size};
    sim_cost cost;

    if (b->set->replay_only || !b->set->roofline)
        return 1;
    if (!k->tensor_size)
        return 0;
    sim_cost_of(b->set, &node, &cost);
    return cost.ticks;
}

/* ---- a stage ------------------------------------------------------------------------------- */

static bool add_collectives(sim_bounds *b, const wl_totals *t, uint32_t stage, const wl_total *k, uint32_t n,
                            sim_sum *sum)
{
    bound_groups g = {stage * t->ranks_per_stage, t->ranks_per_stage, 1, t->degree[k->dimension]};
    sim_sum time = t->ranks_per_stage;

    for (uint32_t i = 0; i < k->dimension; i++)
        g.stride *= t->degree[i];
    if (!b->set->replay_only && !bound_collective(b, &g, k->coll, k->comm_size, &time))
        return false;
    *sum += time * n;
    return true;
}

/* A send lasts until its message arrives. */
static bool add_sends(sim_bounds *b, const wl_totals *t, const wl_total_sends *s, sim_sum *sum)
{
    uint32_t n = t->ranks_per_stage;
    const sim_pairs pairs = {
        .pairing = SIM_PAIRS_OFFSET, .first = s->from * n, .count = n, .distance = (s->to - s->from) * n};
    sim_sum time = n;

    if (!b->set->replay_only && !sim_distances_sum(&b->distances, &pairs, s->comm_size, &time))
        return false;
    *sum += time * s->n;
    return true;
}

/* Of one rank, on the average of the stage: the slowest takes no less than that, in whole ticks. */
static bool stage_comm(sim_bounds *b, const wl_totals *t, uint32_t stage, dse_time *out)
{
    const uint32_t *count = &t->count[stage * t->n_kinds];
    sim_sum sum = 0;

    for (uint32_t i = 0; i < t->n_kinds; i++)
        if (count[i] && t->kind[i].type == WL_NODE_COLL &&
            !add_collectives(b, t, stage, &t->kind[i], count[i], &sum))
            return false;
    for (uint32_t i = 0; i < t->n_sends; i++)
        if (t->sends[i].from == stage && !add_sends(b, t, &t->sends[i], &sum))
            return false;
    *out = clamp((sum + t->ranks_per_stage - 1) / t->ranks_per_stage);
    return true;
}

static dse_time stage_compute(const sim_bounds *b, const wl_totals *t, uint32_t stage)
{
    const uint32_t *count = &t->count[stage * t->n_kinds];
    sim_sum sum = 0;

    for (uint32_t i = 0; i < t->n_kinds; i++)
        if (count[i] && t->kind[i].type == WL_NODE_COMP)
            sum += (sim_sum)compute_ticks(b, &t->kind[i]) * count[i];
    return clamp(sum);
}

/* What is held when the loss begins is held for a tick only if the loss takes one. What is replayed does not wait for
 * messages, nor one stage for another. */
static uint64_t stage_held(const sim_bounds *b, const wl_totals *t, uint32_t stage)
{
    const wl_held *h = &t->held[stage];
    bool lasts = !b->set->replay_only && t->loss != DSE_NONE && compute_ticks(b, &t->kind[t->loss]) > 0;

    if (!b->set->track_memory)
        return 0;
    return lasts && h->at_loss > h->at_start ? h->at_loss : h->at_start;
}

dse_status sim_bounds_of(sim_bounds *b, const wl_totals *t, sim_bound *out, dse_error *err)
{
    *out = (sim_bound){.by = SIM_BOUND_COMPUTE};
    for (uint32_t s = 0; s < t->n_stages; s++) {
        dse_time part[SIM_N_BOUNDS];
        uint64_t held = stage_held(b, t, s);

        part[SIM_BOUND_COMPUTE] = stage_compute(b, t, s);
        if (!stage_comm(b, t, s, &part[SIM_BOUND_COMM]))
            return dse_fail_nomem(err);
        for (int k = 0; k < SIM_N_BOUNDS; k++)
            out->part[k] = part[k] > out->part[k] ? part[k] : out->part[k];
        out->held = held > out->held ? held : out->held;
    }
    for (int k = 0; k < SIM_N_BOUNDS; k++)
        if (out->part[k] > out->wall) {
            out->wall = out->part[k];
            out->by = (sim_bound_kind)k;
        }
    return DSE_OK;
}
