/* A job as a point of STAGE's step, and what that cannot represent: the whole batch at once, weights
 * sharded or not, activations kept or not. */
#include "base/array.h"
#include "measured/plan_parts.h"

#include <inttypes.h>

/* ---- gaps ---------------------------------------------------------------------------------- */

static void find_pipeline_gaps(msr_plan *p, dse_arena *a)
{
    const msr_job *j = p->job;

    if (!MSR_GIVEN(j->micro_batches) && j->pp > 1)
        msr_plan_gap(p, MSR_GAP_MICRO_BATCHES, a,
                     "the source does not say into how many micro-batches %" PRId64 " stages cut a batch",
                     j->pp);
    if (j->micro_batches >= 2 && MSR_GIVEN(j->micro_batch))
        msr_plan_gap(p, MSR_GAP_MICRO_BATCHES, a, "%" PRId64 " micro-batches of %" PRId64 " sequence%s",
                     j->micro_batches, j->micro_batch, j->micro_batch == 1 ? "" : "s");
    else if (j->micro_batches >= 2)
        msr_plan_gap(p, MSR_GAP_MICRO_BATCHES, a, "%" PRId64 " micro-batches", j->micro_batches);
    if (j->interleaving > 1 && j->pp > 1)
        msr_plan_gap(p, MSR_GAP_INTERLEAVED, a, "%" PRId64 " chunks of layers in each of %" PRId64 " stages",
                     j->interleaving, j->pp);
}

static void find_strategy_gaps(msr_plan *p, const msr_plan_options *o, dse_arena *a)
{
    const msr_job *j = p->job;

    if (j->float8 == 1 || (j->precision && msr_precision_is_low(j->precision)))
        msr_plan_gap(p, MSR_GAP_FLOAT8, a, "matrices are multiplied in 8 bits");
    if (o->recompute < 0 && j->recompute == MSR_RECOMPUTE_SELECTIVE)
        msr_plan_gap(p, MSR_GAP_SELECTIVE, a, "a part of the activations is recomputed");
    if (j->sequence_parallel == 1 && j->tp > 1)
        msr_plan_gap(p, MSR_GAP_SEQUENCE_PARALLEL, a,
                     "norms and dropouts are divided over the %" PRId64 " ranks of tp", j->tp);
    if ((j->zero_stage == 1 || j->zero_stage == 2) && j->dp > 1)
        msr_plan_gap(p, MSR_GAP_OPTIMIZER_SHARDED, a, "ZeRO stage %" PRId64 " over %" PRId64 " ranks",
                     j->zero_stage, j->dp);
}

/* ---- the point ----------------------------------------------------------------------------- */

strategy msr_usual_strategy(void)
{
    strategy s = strategy_default();

    s.stages = WL_STAGES_NEIGHBOURS;
    msr_placement_of(NULL, &s.placement);
    return s;
}

const char *msr_plan_point_name(const msr_plan *p, dse_arena *a)
{
    const strategy usual = msr_usual_strategy();
    char name[STRATEGY_NAME_MAX];

    strategy_name(&p->point, p->trains ? NULL : &usual, name);
    return dse_arena_strdup(a, name);
}

static dse_status make_point(msr_plan *p, const msr_plan_options *o, dse_arena *a, dse_error *err)
{
    const msr_job *j = p->job;

    p->point = strategy_default();
    p->point.dp = (uint32_t)j->dp;
    p->point.tp = (uint32_t)j->tp;
    p->point.sp = (uint32_t)j->cp;
    p->point.pp = (uint32_t)j->pp;
    p->point.recompute = o->recompute >= 0 ? o->recompute != 0 : j->recompute == MSR_RECOMPUTE_FULL;
    p->point.weight_sharded = MSR_GIVEN(j->dp_shard) && j->dp_shard > 1;
    p->point.stages = WL_STAGES_NEIGHBOURS;
    if (!msr_placement_of(j->rank_order, &p->point.placement))
        return msr_plan_refuse_order(j, err);
    if (o->recompute < 0 && j->recompute == MSR_RECOMPUTE_UNKNOWN)
        msr_plan_assume(p, a, "no recomputation: the source does not say");
    if (!MSR_GIVEN(j->dp_shard) && j->dp > 1)
        msr_plan_assume(p, a, "weights replicated over dp %" PRId64 ": the source does not say", j->dp);
    if (MSR_GIVEN(j->dp_replicate) && j->dp_replicate > 1 && p->point.weight_sharded)
        msr_plan_assume(p, a,
                        "weights sharded over all of dp %" PRId64 ", not over %" PRId64 " with %" PRId64
                        " replicas",
                        j->dp, j->dp_shard, j->dp_replicate);
    if (!MSR_GIVEN(j->micro_batches) && j->pp == 1)
        msr_plan_assume(p, a, "one micro-batch: the source does not say");
    return DSE_OK;
}

/* Sizes that a degree divides among ranks. */
static void find_uneven(msr_plan *p, const card_model *m, dse_arena *a)
{
    const struct {
        const char *degree, *size;
        int64_t by, of;
    } shares[] = {{"dp", "a batch", p->job->dp, m->batch},
                  {"cp", "a sequence", p->job->cp, m->sequence},
                  {"tp", "attention heads", p->job->tp, m->heads},
                  {"tp", "a width", p->job->tp, m->d_model},
                  {"tp", "a feed-forward width", p->job->tp, m->d_ff}};

    for (size_t i = 0; i < DSE_COUNT(shares); i++)
        if (shares[i].of % shares[i].by)
            msr_plan_gap(p, MSR_GAP_UNEVEN, a, "%s %" PRId64 " does not divide %s of %" PRId64,
                         shares[i].degree, shares[i].by, shares[i].size, shares[i].of);
    if (p->job->pp > DESIGN_MAX_STAGES(m->layers))
        msr_plan_gap(p, MSR_GAP_UNEVEN, a, "pp %" PRId64 " has more stages than %" PRId64 " layers can fill",
                     p->job->pp, m->layers);
}

dse_status msr_plan_stage(msr_plan *p, const card_model *m, const msr_plan_options *o, dse_arena *a,
                          dse_error *err)
{
    find_pipeline_gaps(p, a);
    find_strategy_gaps(p, o, a);
    find_uneven(p, m, a);
    return make_point(p, o, a, err);
}
