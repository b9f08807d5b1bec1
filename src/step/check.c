#include "step/run.h"

#include "step/buckets.h"
#include "step/module.h"

#include <inttypes.h>
#include <stdio.h>

/* "2 or 4": the nearest numbers below and above `value` that divide, or are multiples of, what they must. */
typedef bool fits(uint64_t value, uint64_t of);

static bool divides(uint64_t value, uint64_t of) { return value && of % value == 0; }
static bool is_multiple(uint64_t value, uint64_t of) { return value % of == 0; }

static const char *nearest(uint64_t value, uint64_t of, fits *ok, char out[64])
{
    uint64_t below = value, above = value, limit = ok == divides ? of : value + of;

    while (below && !ok(below, of))
        below--;
    while (above <= limit && !ok(above, of))
        above++;
    if (!below)
        snprintf(out, 64, "%" PRIu64, above);
    else if (above > limit)
        snprintf(out, 64, "%" PRIu64, below);
    else
        snprintf(out, 64, "%" PRIu64 " or %" PRIu64, below, above);
    return out;
}

static dse_status check_split(const char *name, uint64_t value, const char *what, uint64_t of, dse_error *err)
{
    char near[64];

    return divides(value, of)
               ? DSE_OK
               : dse_fail(err, DSE_E_RANGE, "%s %" PRIu64 " does not divide the %" PRIu64 " %s; take %s",
                          name, value, of, what, nearest(value, of, divides, near));
}

static dse_status check_stages(const step_model *m, const step_options *o, dse_error *err)
{
    const uint64_t n_stages = (uint64_t)o->pp * o->vp;

    if (n_stages <= m->n_layers + 2 && step_stages_fit(m, (uint32_t)n_stages, o->vp > 1))
        return DSE_OK;
    if (m->n_laid_out)
        return dse_fail(err, DSE_E_RANGE,
                        "pipeline_layout has %" PRIu32 " stages, but pp %" PRIu32 " x vp %" PRIu32
                        " = %" PRIu64 "; take a product of %" PRIu32,
                        m->n_laid_out, o->pp, o->vp, n_stages, m->n_laid_out);
    return check_split("pp x vp", n_stages, "layers", m->n_layers, err);
}

static dse_status check_recomputed(const step_model *m, const step_options *o, dse_error *err)
{
    const uint32_t n = o->pp * o->vp;

    if (m->n_recomputed && o->recompute != STEP_RECOMPUTE_FULL)
        return dse_fail(err, DSE_E_RANGE,
                        "recompute_layout needs recompute_granularity full; take that, or leave it out");
    if (m->n_recomputed && (o->recompute_layers || o->recompute_every > 1))
        return dse_fail(err, DSE_E_RANGE,
                        "recompute_layout says which layers of each stage are made again, and so does "
                        "recompute_%s; leave one of them out",
                        o->recompute_layers ? "layers" : "every");
    if (m->n_recomputed && m->n_recomputed != n)
        return dse_fail(err, DSE_E_RANGE,
                        "recompute_layout has %" PRIu32 " stages, but pp %" PRIu32 " x vp %" PRIu32
                        " = %" PRIu32 "; take a product of %" PRIu32,
                        m->n_recomputed, o->pp, o->vp, n, m->n_recomputed);
    for (uint32_t i = 0; i < m->n_recomputed; i++) {
        const uint32_t layers = step_stage_of(m, i, n).n_layers;

        if (m->recomputed[i] > layers)
            return dse_fail(err, DSE_E_RANGE,
                            "recompute_layout makes %" PRIu32 " layers of stage %" PRIu32
                            " again, counted from 0, which has %" PRIu32 "; take at most these",
                            m->recomputed[i], i, layers);
    }
    return DSE_OK;
}

/* The ranks that experts are spread over, and split over. */
static dse_status check_experts(const step_module *m, const step_options *o, dse_error *err)
{
    const uint64_t ranks = (uint64_t)o->tp * o->cp * o->dp, spread = (uint64_t)step_ep(o) * step_etp(o);
    char near[64];
    dse_status st = check_split("ep", step_ep(o), "experts", m->n_experts, err);

    if (st == DSE_OK && ranks % spread)
        st = dse_fail(err, DSE_E_RANGE,
                      "ep %" PRIu32 " x etp %" PRIu32 " = %" PRIu64
                      " does not divide the tp x cp x dp = %" PRIu64
                      " ranks of a pipeline stage; take a product of %s",
                      step_ep(o), step_etp(o), spread, ranks, nearest(spread, ranks, divides, near));
    if (st == DSE_OK)
        st = check_split("replicas", o->replicas, "ranks with the same experts", ranks / spread, err);
    if (st == DSE_OK && o->tp > 1 && !o->sequence_parallel)
        st = dse_fail(err, DSE_E_RANGE,
                      "experts with tp %" PRIu32
                      " need sequence parallelism, as each rank sends its own tokens to "
                      "them; take sequence_parallel on, or tp 1",
                      o->tp);
    if (st == DSE_OK && o->dispatch == STEP_DISPATCH_ALL_GATHER && o->capacity != STEP_CAPACITY_NONE)
        st = dse_fail(err, DSE_E_RANGE,
                      "a limit of each expert's tokens needs dispatch alltoall; take that, or capacity none");
    if (st == DSE_OK && o->dispatch == STEP_DISPATCH_DEEPEP && o->capacity == STEP_CAPACITY_PAD)
        st = dse_fail(
            err, DSE_E_RANGE,
            "dispatch deepep does not pad tokens to a limit; take capacity none, or dispatch alltoall");
    return st;
}

static dse_status check_module(const step_module *m, const step_options *o, dse_error *err)
{
    dse_status st = DSE_OK;

    if (m->kind == &step_module_attention) {
        st = check_split("tp", o->tp, "attention heads", m->heads, err);
        if (st == DSE_OK && o->whole_kv_heads)
            st = o->context == STEP_CONTEXT_ALL_TO_ALL && o->cp > 1
                     ? check_split("tp x cp", (uint64_t)o->tp * o->cp, "heads of keys and values",
                                   m->kv_heads, err)
                     : check_split("tp", o->tp, "heads of keys and values", m->kv_heads, err);
        if (st == DSE_OK && m->kv_heads % o->tp && o->tp % m->kv_heads)
            st = dse_fail(err, DSE_E_RANGE,
                          "tp %" PRIu32 " neither divides the %" PRIu64
                          " heads of keys and values nor is a multiple of them",
                          o->tp, m->kv_heads);
        if (st == DSE_OK && o->context == STEP_CONTEXT_ALL_TO_ALL && o->cp > 1)
            st = check_split("tp x cp", (uint64_t)o->tp * o->cp, "attention heads", m->heads, err);
    }
    if (m->kind == &step_module_dispatch)
        st = check_experts(m, o, err);
    if (st == DSE_OK && m->kind == &step_module_activation && m->n_experts)
        st = check_split("etp", step_etp(o), "features of an expert", m->in, err);
    else if (st == DSE_OK && m->kind == &step_module_activation)
        st = check_split("tp", o->tp, "features of the feed-forward network", m->in, err);
    return st;
}

/* Micro-batches of a rank follow from the batch. */
static dse_status check_batch(const step_options *o, uint32_t batch, dse_error *err)
{
    uint64_t at_once = (uint64_t)o->dp * o->micro_batch;
    char near[64];

    if (batch % at_once)
        return dse_fail(err, DSE_E_RANGE,
                        "dp %" PRIu32 " x micro-batch %" PRIu32 " = %" PRIu64
                        " does not divide the batch of %" PRIu32 " sequences; take a batch of %s",
                        o->dp, o->micro_batch, at_once, batch, nearest(batch, at_once, is_multiple, near));
    return DSE_OK;
}

/* Causal attention is balanced by two pieces of the sequence for each rank, but for Ulysses, where each has
 * all of it. */
static dse_status check_context(const step_options *o, uint64_t sequence, dse_error *err)
{
    if (o->cp == 1 || o->context == STEP_CONTEXT_ALL_TO_ALL)
        return check_split("cp", o->cp, "tokens of a sequence", sequence, err);
    return check_split("2 x cp", 2 * (uint64_t)o->cp, "tokens of a sequence", sequence, err);
}

dse_status step_check(const step_model *m, const step_options *o, uint32_t batch, dse_error *err)
{
    dse_status st;

    if (o->vp > 1 && o->pp == 1)
        return dse_fail(err, DSE_E_RANGE, "vp %" PRIu32 " needs a pipeline; take vp 1, or pp above 1", o->vp);
    if ((st = check_batch(o, batch, err)) != DSE_OK || (st = check_stages(m, o, err)) != DSE_OK ||
        (st = check_recomputed(m, o, err)) != DSE_OK || (st = check_context(o, m->sequence, err)) != DSE_OK)
        return st;
    if (o->sequence_parallel &&
        (st = check_split("with sequence parallelism tp", o->tp, "tokens of a sequence on a rank",
                          m->sequence / o->cp, err)) != DSE_OK)
        return st;
    if (o->dp % o->replicas)
        return check_split("replicas", o->replicas, "data parallel ranks", o->dp, err);
    if (o->reshard_ranks && (st = check_split("reshard ranks", o->reshard_ranks, "ranks that shard them",
                                              step_group_size(o, STEP_GROUP_SHARD), err)) != DSE_OK)
        return st;
    for (uint32_t k = STEP_LAYER; k < m->n_blocks; k++)
        for (uint32_t i = 0; st == DSE_OK && i < m->block[k].n; i++)
            st = check_module(&m->block[k].module[i], o, err);
    return st;
}
