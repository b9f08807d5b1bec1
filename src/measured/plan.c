/* A job as a point, and what is in its way: one row a gap. */
#include "measured/job_row.h"
#include "measured/plan_parts.h"

#include "base/array.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const msr_gap_row msr_gap_rows[MSR_GAPS] = {
    [MSR_GAP_MICRO_BATCHES] = {"several micro-batches", "one micro-batch of the whole batch"},
    [MSR_GAP_INTERLEAVED] = {"interleaved pipeline schedule", "stages of neighbouring layers"},
    [MSR_GAP_EXPERTS] = {"experts", NULL},
    [MSR_GAP_INFERENCE] = {"inference", NULL},
    [MSR_GAP_PARTIAL_STEP] = {"less than a training step", NULL},
    [MSR_GAP_OFFLOADED] = {"activations offloaded to the host", "activations that stay on the device"},
    [MSR_GAP_SELECTIVE] = {"selective recomputation", "no recomputation"},
    [MSR_GAP_SEQUENCE_PARALLEL] = {"sequence parallelism along tp", "tensor parallelism without it"},
    [MSR_GAP_OPTIMIZER_SHARDED] = {"optimizer state sharded alone", "optimizer state on every rank"},
    [MSR_GAP_FLOAT8] = {"8-bit arithmetic", "16-bit arithmetic"},
    [MSR_GAP_MICRO_BATCH_UNSAID] = {"an unknown micro-batch",
                                    "a rank's part of the batch at once, in a pipeline one sequence"},
    [MSR_GAP_FLOAT32] = {"32-bit arithmetic", "16-bit arithmetic"},
    [MSR_GAP_RANK_ORDER] = {"another order of ranks", "tp, cp, dp, pp from the innermost"},
    [MSR_GAP_REFUSED] = {"a strategy that the step refuses", NULL},
    [MSR_GAP_UNEVEN] = {"a degree that does not divide", NULL},
    [MSR_GAP_UNKNOWN_FACT] = {"an unknown fact", NULL},
    [MSR_GAP_OTHER_DEVICE] = {"another device", NULL},
    [MSR_GAP_NOT_MEASURED] = {"not measured", NULL},
};

/* ---- a plan that grows --------------------------------------------------------------------- */

static const char *print(dse_arena *a, const char *fmt, va_list ap)
{
    char text[512];

    vsnprintf(text, sizeof text, fmt, ap);
    return dse_arena_strdup(a, text);
}

void msr_plan_gap(msr_plan *p, msr_gap_kind kind, dse_arena *a, const char *fmt, ...)
{
    va_list ap;

    DSE_ARENA_GROW(a, p->gap, p->cap_gaps, p->n_gaps + 1);
    va_start(ap, fmt);
    p->gap[p->n_gaps++] = (msr_gap){kind, print(a, fmt, ap)};
    va_end(ap);
}

void msr_plan_assume(msr_plan *p, dse_arena *a, const char *fmt, ...)
{
    va_list ap;

    DSE_ARENA_GROW(a, p->assumed, p->cap_assumed, p->n_assumed + 1);
    va_start(ap, fmt);
    p->assumed[p->n_assumed++] = print(a, fmt, ap);
    va_end(ap);
}

/* Whether nothing is in the way, or nothing that `approximate` does not take a substitute for. */
static bool can_run(const msr_plan *p, bool approximate)
{
    for (size_t i = 0; i < p->n_gaps; i++)
        if (!approximate || !msr_gap_rows[p->gap[i].kind].substitute)
            return false;
    return true;
}

/* ---- what the source must say -------------------------------------------------------------- */

/* A missing dp is what the devices leave, and they leave none. */
static dse_status check_rest(const msr_job *j, dse_error *err)
{
    int64_t product;

    if (!MSR_GIVEN(j->tp) || !MSR_GIVEN(j->pp) || !MSR_GIVEN(j->cp) || !MSR_GIVEN(j->n_devices) ||
        __builtin_mul_overflow(j->tp, j->pp, &product) || __builtin_mul_overflow(product, j->cp, &product) ||
        j->n_devices % product == 0)
        return DSE_OK;
    return dse_fail_at(err, DSE_E_CONFIG, j->where,
                       "tp %" PRId64 " * pp %" PRId64 " * cp %" PRId64 " is %" PRId64
                       ", which does not divide the number of devices, %" PRId64
                       "; correct a degree or the number",
                       j->tp, j->pp, j->cp, product, j->n_devices);
}

/* The degrees multiply to the devices; where experts have devices of their own, with ep. */
static dse_status check_product(const msr_job *j, dse_error *err)
{
    const int64_t degrees[] = {j->dp, j->tp, j->pp, j->cp};
    int64_t product = 1, with_experts;

    for (size_t i = 0; i < DSE_COUNT(degrees); i++)
        if (!MSR_GIVEN(degrees[i]) || !MSR_GIVEN(j->n_devices))
            return DSE_OK;
    for (size_t i = 0; i < DSE_COUNT(degrees); i++)
        if (__builtin_mul_overflow(product, degrees[i], &product))
            return dse_fail_at(err, DSE_E_CONFIG, j->where,
                               "the product of dp, tp, pp and cp is no number of devices");
    if (product == j->n_devices)
        return DSE_OK;
    if (MSR_GIVEN(j->ep) && !__builtin_mul_overflow(product, j->ep, &with_experts) &&
        with_experts == j->n_devices)
        return DSE_OK;
    return dse_fail_at(err, DSE_E_CONFIG, j->where,
                       "dp %" PRId64 " * tp %" PRId64 " * pp %" PRId64 " * cp %" PRId64 " is %" PRId64
                       ", but the number of devices is %" PRId64 "; correct a degree or the number",
                       j->dp, j->tp, j->pp, j->cp, product, j->n_devices);
}

/* A point holds them in 32 bits. */
static dse_status check_degrees(const msr_job *j, dse_error *err)
{
    const struct {
        const char *name, *what;
        int64_t v;
    } counts[] = {{"dp_replicate", "a degree", j->dp_replicate},
                  {"dp_shard", "a degree", j->dp_shard},
                  {"dp", "a degree", j->dp},
                  {"tp", "a degree", j->tp},
                  {"pp", "a degree", j->pp},
                  {"cp", "a degree", j->cp},
                  {"ep", "a degree", j->ep},
                  {"micro_batch", "a count", j->micro_batch},
                  {"micro_batches", "a count", j->micro_batches},
                  {"interleaving", "a count", j->interleaving}};

    for (size_t i = 0; i < DSE_COUNT(counts); i++)
        if (MSR_GIVEN(counts[i].v) && (counts[i].v < 1 || counts[i].v > UINT32_MAX))
            return dse_fail_at(err, DSE_E_CONFIG, j->where,
                               "%s is %" PRId64 "; %s is at least 1, and below 2^32", counts[i].name,
                               counts[i].v, counts[i].what);
    return MSR_GIVEN(j->dp) ? check_product(j, err) : check_rest(j, err);
}

void msr_plan_unknown(msr_plan *p, const msr_fact *facts, size_t n, dse_arena *a)
{
    for (size_t i = 0; i < n; i++)
        if (!MSR_GIVEN(facts[i].v))
            msr_plan_gap(p, MSR_GAP_UNKNOWN_FACT, a, "the source lacks %s", facts[i].text);
}

dse_status msr_plan_refuse_order(const msr_job *j, dse_error *err)
{
    return dse_fail_at(
        err, DSE_E_CONFIG, j->where,
        "rank_order '%.60s' is to name tp, cp, dp_shard, dp_replicate and pp once, both dp together",
        j->rank_order);
}

/* ---- gaps ---------------------------------------------------------------------------------- */

static bool is_said_to_have_experts(const msr_job *j, const msr_plan_options *o)
{
    return j->ep > 1 || j->moe == 1 ||
           (!MSR_GIVEN(j->moe) && !o->model && j->family && msr_name_has_experts(j->family));
}

/* A model with experts is one of a card, or one whose source says how many experts it has and how many a token
 * takes. */
static void add_experts_gap(msr_plan *p, dse_arena *a)
{
    const msr_job *j = p->job;

    if (j->ep > 1)
        msr_plan_gap(p, MSR_GAP_EXPERTS, a, "a mixture of experts, ep %" PRId64, j->ep);
    else if (j->moe == 1)
        msr_plan_gap(p, MSR_GAP_EXPERTS, a, "a mixture of experts");
    else
        msr_plan_gap(p, MSR_GAP_EXPERTS, a, "a mixture of experts, by its name '%.60s'", j->family);
}

/* Tables of models with experts count dp in several ways. */
static void find_experts_gaps(msr_plan *p, const msr_plan_options *o, dse_arena *a)
{
    dse_error err = DSE_ERROR_INIT;

    if (!is_said_to_have_experts(p->job, o))
        return;
    if (!msr_plan_knows_experts(p->job, o, a))
        add_experts_gap(p, a);
    else if (check_degrees(p->job, &err) != DSE_OK)
        msr_plan_gap(p, MSR_GAP_EXPERTS, a, "a mixture of experts whose degrees do not agree: %s", err.text);
}

/* Over NVLink-C2C, which brings some 200 GB/s to a GPU each way, copies go on beside the layers, if not more
 * than half of them go to the host: of Llama 3 70B with two sequences of 8192 the 80 layers keep 324.9 GB, one
 * 4.06 GB, which take 20 ms, and a layer of the forward pass takes 15 ms of a GB200. So copies of 40 layers
 * take 0.8 s beside 1.2 s, and those of all would take longer than the layers. Over PCI Express one takes
 * several times longer than a layer. */
static bool hides_offloading(const msr_job *j)
{
    return j->device && msr_device_has_fast_host(j->device) && j->offloaded_layers > 0 &&
           MSR_GIVEN(j->layers) && j->offloaded_layers <= j->layers / 2;
}

static void find_offload_gaps(msr_plan *p, dse_arena *a)
{
    const msr_job *j = p->job;

    if (j->offloaded_layers <= 0 && j->offloads != 1)
        return;
    if (hides_offloading(j))
        msr_plan_assume(p, a,
                        "activations that go to the host and back beside the layers, over NVLink-C2C; memory "
                        "counts them on the device");
    else if (j->offloaded_layers > 0)
        msr_plan_gap(p, MSR_GAP_OFFLOADED, a, "activations of %" PRId64 " layers are offloaded to the host",
                     j->offloaded_layers);
    else
        msr_plan_gap(p, MSR_GAP_OFFLOADED, a, "activations are offloaded to the host");
}

/* "Not measured" follows the batch and the sequence: without these a rate of tokens is no time. */
static void find_work_gaps(msr_plan *p, const msr_plan_options *o, dse_arena *a)
{
    const msr_job *j = p->job;
    const msr_fact facts[] = {{"the sequence length ('seq_len')", j->sequence},
                              {"the batch ('global_batch', 'batch_size')", j->batch}};

    msr_plan_unknown(p, facts, DSE_COUNT(facts), a);
    if (j->not_measured)
        msr_plan_gap(p, MSR_GAP_NOT_MEASURED, a, "%s", j->not_measured);
    if (j->phase == TRACE_PHASE_INFERENCE)
        msr_plan_gap(p, MSR_GAP_INFERENCE, a, "the phase is inference; the generator makes training steps");
    find_experts_gaps(p, o, a);
    find_offload_gaps(p, a);
    if (j->granularity && strcmp(j->granularity, "model_fwd_bwd_pass") != 0 &&
        strcmp(j->granularity, "step") != 0)
        msr_plan_gap(p, MSR_GAP_PARTIAL_STEP, a, "the granularity is '%.60s'", j->granularity);
}

static void find_strategy_gaps(msr_plan *p, const msr_plan_options *o, dse_arena *a)
{
    const msr_job *j = p->job;
    const msr_fact facts[] = {{"the degree of data parallelism ('dp')", j->dp},
                              {"the degree 'tp'", j->tp},
                              {"the degree 'pp'", j->pp},
                              {"the degree 'cp'", j->cp}};
    uint32_t modules;

    msr_plan_unknown(p, facts, DSE_COUNT(facts), a);
    if (o->recompute < 0 && j->recompute_parts && !msr_recompute_modules(j, &modules))
        msr_plan_gap(p, MSR_GAP_UNKNOWN_FACT, a,
                     "selective recomputation '%.60s', of which attention and the modules of Megatron-LM can "
                     "be simulated; give --recompute",
                     j->recompute_parts);
    if (!o->precision && j->precision && !msr_precision_word(j->precision) &&
        !msr_precision_is_low(j->precision))
        msr_plan_gap(p, MSR_GAP_UNKNOWN_FACT, a, "the precision '%.60s' is none of ours; give --precision",
                     j->precision);
}

dse_status msr_plan_make(const msr_job *job, const msr_plan_options *o, dse_arena *a, msr_plan *out,
                         dse_error *err)
{
    card_model m;
    dse_status st = DSE_OK;

    *out = (msr_plan){.job = job};
    /* What failed may have failed by this. */
    if (!job->not_measured && job->moe != 1)
        st = check_degrees(job, err);
    if (st != DSE_OK)
        return st;
    find_work_gaps(out, o, a);
    find_strategy_gaps(out, o, a);
    if (!can_run(out, o->approximate))
        return DSE_OK;
    if ((st = msr_plan_model(out, o, a, err)) != DSE_OK ||
        (st = card_model_read(&out->model, o->settings, &m, err)) != DSE_OK ||
        (st = card_model_settle_profile(&m, a, err)) != DSE_OK)
        return st;
    if (!m.experts && is_said_to_have_experts(job, o)) /* it has other sizes than its family's card */
        add_experts_gap(out, a);
    if (card_model_trains(&m))
        msr_plan_stages(out, &m, a);
    st = card_model_trains(&m) ? msr_plan_train(out, o, a, err) : msr_plan_stage(out, &m, o, a, err);
    out->can_run = st == DSE_OK && can_run(out, o->approximate);
    return st;
}
