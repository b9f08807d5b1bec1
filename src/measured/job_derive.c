/* Derives the rest of a job from a row: degrees from one another, batches from their parts, a step time from
 * a rate. Two values for one thing must agree; a value that does not follow stays unknown. */
#include "base/array.h"
#include "measured/job_row.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct {
    const msr_row_place *at;
    msr_row *row;
    msr_job *job;
    const msr_framework *framework;
    bool counts; /* the row has, or may have, a step time: its figures must fit together */
} deriving;

/* a * b; MSR_JOB_NONE if one is not given, or it is larger than any count. */
static int64_t times(int64_t a, int64_t b)
{
    int64_t product;

    return MSR_GIVEN(a) && MSR_GIVEN(b) && !__builtin_mul_overflow(a, b, &product) ? product : MSR_JOB_NONE;
}

/* a / b if that is whole. */
static int64_t part(int64_t a, int64_t b)
{
    return MSR_GIVEN(a) && MSR_GIVEN(b) && a % b == 0 ? a / b : MSR_JOB_NONE;
}

static dse_status disagree(const deriving *d, const char *one, int64_t a, const char *other, int64_t b,
                           dse_error *err)
{
    return dse_fail_at(err, DSE_E_CONFIG, d->at->where,
                       "%s is %" PRId64 ", but %s is %" PRId64 "; correct one, or leave it out", one, a,
                       other, b);
}

/* ---- framework --------------------------------------------------------------------------- */

/* The text of a launcher says nothing ("torchrun"): then a note may, or whose repository the figure is of. */
static void find_framework(deriving *d)
{
    const char *texts[] = {d->row->job.framework, d->row->framework_note, d->row->repository};

    for (int i = 0; !d->framework && i < 3; i++)
        d->framework = msr_framework_find(texts[i]);
    if (d->framework && !msr_framework_find(d->job->framework))
        d->job->framework = d->framework->name;
}

/* What is taken though the source does not say it. */
static void note(deriving *d, const char *text)
{
    if (d->job->n_notes < MSR_JOB_NOTES)
        d->job->note[d->job->n_notes++] = text;
}

/* The number in "full (5 layers a stage)". */
static int64_t layers_a_stage(const char *text)
{
    static const char words[] = " layers a stage)";
    const char *bracket = strchr(text, '(');
    char *end = NULL;
    long n = bracket ? strtol(bracket + 1, &end, 10) : 0;

    return n > 0 && n <= INT32_MAX && !strncmp(end, words, strlen(words)) ? n : MSR_JOB_NONE;
}

static bool has_experts(const deriving *d)
{
    const msr_job *j = d->job;

    if (MSR_GIVEN(j->moe))
        return j->moe == 1;
    return MSR_GIVEN(j->experts) ? j->experts > 1 : j->family && msr_name_has_experts(j->family);
}

static void derive_recompute(deriving *d)
{
    const int64_t flag = d->row->checkpointing;
    const char *text = d->row->recompute || MSR_GIVEN(flag) ? d->row->recompute : d->row->policy,
               *nearest = NULL;

    d->job->recompute = msr_recompute_of(text, d->framework, &nearest);
    if (text && d->job->recompute == MSR_RECOMPUTE_SELECTIVE)
        d->job->recompute_parts = msr_recompute_parts(text, d->framework);
    if (text && !strcmp(text, "custom") && d->row->lists_kept && d->framework && d->framework->has_policies &&
        !has_experts(d))
        d->job->recompute = msr_recompute_of_kept(d->row->kept, &d->job->recompute_parts, &nearest);
    if (nearest)
        note(d, nearest);
    if (text && d->job->recompute == MSR_RECOMPUTE_FULL && !MSR_GIVEN(d->job->recompute_layers))
        d->job->recompute_layers = layers_a_stage(text);
    if (text || !MSR_GIVEN(flag))
        return;
    if (d->framework)
        d->job->recompute = flag ? d->framework->when_on : d->framework->when_off;
    else if (!flag)
        d->job->recompute = MSR_RECOMPUTE_NONE;
}

/* ---- the strategy -------------------------------------------------------------------------- */

/* Whether weights are sharded over dp: 0, 1; -1: the row does not say. */
static int is_sharded(const deriving *d)
{
    if (MSR_GIVEN(d->job->zero_stage))
        return d->job->zero_stage == 3;
    return d->framework ? d->framework->sharded : -1;
}

/* dp, of which dp_replicate and dp_shard are the parts. */
static dse_status split_dp(deriving *d, dse_error *err)
{
    msr_job *j = d->job;
    const int64_t product = times(j->dp_replicate, j->dp_shard);

    if (MSR_GIVEN(product) && MSR_GIVEN(j->dp) && product != j->dp)
        return disagree(d, "dp", j->dp, "dp_replicate * dp_shard", product, err);
    if (MSR_GIVEN(product))
        j->dp = product;
    if (!MSR_GIVEN(j->dp))
        return DSE_OK;
    if (MSR_GIVEN(j->dp_shard) && j->dp % j->dp_shard)
        return disagree(d, "dp_shard", j->dp_shard, "dp, which it does not divide,", j->dp, err);
    if (MSR_GIVEN(j->dp_replicate) && j->dp % j->dp_replicate)
        return disagree(d, "dp_replicate", j->dp_replicate, "dp, which it does not divide,", j->dp, err);
    if (MSR_GIVEN(j->dp_shard)) {
        j->dp_replicate = j->dp / j->dp_shard;
    } else if (MSR_GIVEN(j->dp_replicate)) {
        j->dp_shard = j->dp / j->dp_replicate;
    } else if (j->dp == 1 || is_sharded(d) >= 0) {
        j->dp_shard = is_sharded(d) == 1 ? j->dp : 1;
        j->dp_replicate = j->dp / j->dp_shard;
    }
    return DSE_OK;
}

/* Some tables count dp of a model with experts by groups of ep, as NVIDIA's do of Grok: then tp x pp x cp x dp
 * is a part of the devices, and what is missing is ep, or, where experts are not split by tp and cp, tp x cp
 * times less. Any other part is a mistake. */
static void count_dp_of_groups(deriving *d, dse_arena *a)
{
    msr_job *j = d->job;
    const int64_t whole = part(j->n_devices, times(times(j->tp, j->pp), j->cp)), missing = part(whole, j->dp);

    if (!MSR_GIVEN(missing) || missing == 1 || MSR_GIVEN(j->dp_shard) || MSR_GIVEN(j->dp_replicate))
        return;
    if (missing != j->ep && times(times(missing, j->tp), j->cp) != j->ep)
        return;
    note(d, dse_arena_printf(a,
                             "dp %" PRId64 ", which the devices leave: the source counts %" PRId64
                             ", by groups of experts",
                             whole, j->dp));
    j->dp = whole;
}

static dse_status derive_degrees(deriving *d, dse_arena *a, dse_error *err)
{
    msr_job *j = d->job;

    /* The format's defaults: what is not mentioned is not used. */
    if (!MSR_GIVEN(j->cp))
        j->cp = 1;
    if (!MSR_GIVEN(j->ep))
        j->ep = 1;
    if (!MSR_GIVEN(j->zero_stage) && MSR_GIVEN(d->row->optimizer_sharding))
        j->zero_stage = d->row->optimizer_sharding;
    if (!MSR_GIVEN(j->dp) && !MSR_GIVEN(times(j->dp_replicate, j->dp_shard)))
        j->dp = part(j->n_devices, times(times(j->tp, j->pp), j->cp));
    count_dp_of_groups(d, a);
    return split_dp(d, err);
}

/* ---- the work ------------------------------------------------------------------------------ */

static dse_status derive_batch(deriving *d, dse_error *err)
{
    msr_job *j = d->job;
    const int64_t local = times(d->row->local_batch, j->dp);
    const int64_t micro = times(times(j->micro_batch, j->micro_batches), j->dp);

    if (MSR_GIVEN(local) && MSR_GIVEN(j->batch) && local != j->batch)
        return disagree(d, "global_batch", j->batch, "local_batch * dp", local, err);
    if (!MSR_GIVEN(j->batch))
        j->batch = local;
    if (!MSR_GIVEN(j->batch))
        j->batch = times(d->row->chip_batch, j->n_devices);
    if (!MSR_GIVEN(j->batch))
        j->batch = micro;
    if (d->counts && MSR_GIVEN(micro) && MSR_GIVEN(j->batch) && micro != j->batch)
        return disagree(d, "the batch", j->batch, "micro_batch * micro_batches * dp", micro, err);
    return DSE_OK;
}

static dse_status derive_micro_batches(deriving *d, dse_error *err)
{
    msr_job *j = d->job;
    const int64_t at_once = times(j->micro_batch, j->dp);

    if (MSR_GIVEN(j->batch) && MSR_GIVEN(at_once) && !MSR_GIVEN(j->micro_batches)) {
        j->micro_batches = part(j->batch, at_once);
        if (!MSR_GIVEN(j->micro_batches) && d->counts)
            return dse_fail_at(err, DSE_E_CONFIG, d->at->where,
                               "global_batch, %" PRId64 ", is no multiple of micro_batch * dp, %" PRId64
                               " * %" PRId64 "; correct one of them",
                               j->batch, j->micro_batch, j->dp);
    }
    if (!MSR_GIVEN(j->micro_batch))
        j->micro_batch = part(part(j->batch, j->dp), j->micro_batches);
    return DSE_OK;
}

static dse_status derive_work(deriving *d, dse_error *err)
{
    msr_job *j = d->job;
    dse_status st;

    if (d->framework && d->framework->micro_batches_need_pp && j->pp == 1) {
        j->micro_batch = MSR_JOB_NONE; /* set, and without effect */
        j->micro_batches = 1;
    }
    if (MSR_GIVEN(d->row->accumulation) && MSR_GIVEN(j->micro_batches) &&
        d->row->accumulation != j->micro_batches)
        return disagree(d, "gradient_accumulation_steps", d->row->accumulation, "micro_batches",
                        j->micro_batches, err);
    if (MSR_GIVEN(d->row->accumulation))
        j->micro_batches = d->row->accumulation;
    st = derive_batch(d, err);
    return st == DSE_OK ? derive_micro_batches(d, err) : st;
}

/* A program's configuration of a model says how long its sequences are. */
static void derive_sequence(deriving *d, dse_arena *a)
{
    msr_job *j = d->job;
    char form[64];

    if (MSR_GIVEN(j->sequence) || !d->framework || !d->framework->llama3_sequence || !j->family)
        return;
    msr_normal_form(j->family, form, sizeof form);
    if (!strstr(form, "llama3"))
        return;
    j->sequence = d->framework->llama3_sequence;
    note(d, dse_arena_printf(a,
                             "sequences of %" PRId64
                             " tokens, as %s's configuration of the model has: the source does not say",
                             j->sequence, d->framework->title));
}

static void derive_model(deriving *d)
{
    static const char float8[] = "float8";
    msr_job *j = d->job;

    if (d->row->mlp)
        j->gated = !strcasecmp(d->row->mlp, "gated")   ? 1
                   : !strcasecmp(d->row->mlp, "plain") ? 0
                                                       : MSR_JOB_NONE;
    else if (d->row->activation)
        j->gated = msr_gate_of(d->row->activation);

    if (!MSR_GIVEN(j->d_ff))
        j->d_ff = times(d->row->ff_ratio, j->d_model);
    if (!MSR_GIVEN(j->moe) && MSR_GIVEN(j->experts))
        j->moe = j->experts > 1;
    if (!MSR_GIVEN(j->mtp_layers) && d->row->remark)
        j->mtp_layers = msr_mtp_of(d->row->remark);
    if (!MSR_GIVEN(j->float8) && j->quantization)
        j->float8 = !strncasecmp(j->quantization, float8, sizeof float8 - 1);
}

/* What changes a step, and no point has. */
static void derive_unmodelled(deriving *d)
{
    if (d->row->compiled == 0)
        note(d, "the source says: not compiled (compile false); not modelled");
}

/* ---- what was measured --------------------------------------------------------------------- */

static bool has_failed(const msr_row *row)
{
    static const char *const good[] = {"success", "ok", "done", "completed"};

    for (size_t i = 0; row->status && i < DSE_COUNT(good); i++)
        if (!strcasecmp(row->status, good[i]))
            return false;
    return row->status != NULL;
}

/* The rate that a row gives to a device; NaN: it gives none. */
static double device_rate(const deriving *d)
{
    return isnan(d->row->tokens_per_s_per_device) && d->framework && d->framework->rates_a_device
               ? d->row->tokens_per_s
               : d->row->tokens_per_s_per_device;
}

/* Tokens of a step over a rate: of the whole job, or of a device. */
static double time_of_rate(deriving *d, dse_arena *a)
{
    const msr_row *row = d->row;
    const msr_job *j = d->job;
    const int64_t tokens = times(j->batch, j->sequence);

    if (MSR_GIVEN(tokens) && !isnan(row->tokens_per_s_total))
        return (double)tokens / row->tokens_per_s_total;
    if (!MSR_GIVEN(tokens) || !MSR_GIVEN(j->n_devices) || isnan(device_rate(d)))
        return NAN;
    if (isnan(row->tokens_per_s_per_device))
        note(d,
             dse_arena_printf(a, "a rate of tokens is a device's, as %s prints it: the source does not say",
                              d->framework->title));
    return (double)tokens / ((double)j->n_devices * device_rate(d));
}

static const char *lacking(const deriving *d, dse_arena *a)
{
    const msr_row *row = d->row;
    const msr_job *j = d->job;
    const bool has_rate = !isnan(device_rate(d)) || !isnan(row->tokens_per_s_total);

    if (has_rate)
        return !MSR_GIVEN(j->sequence) ? "a rate of tokens, but no sequence length"
               : !MSR_GIVEN(j->batch)  ? "a rate of tokens, but no batch"
                                       : "a rate of tokens per device, but no number of devices";
    if (!isnan(row->tokens_per_s))
        return "a rate of tokens, of the job or of a device is not said";
    return row->quantity ? dse_arena_printf(a, "no step time, but '%s'", row->quantity) : "no step time";
}

/* Within the reach of a simulation: whole ns, and a step of thirty years is one of a wrong unit. */
#define LEAST_STEP_S 1e-9
#define MOST_STEP_S  1e9

static dse_status check_step(const deriving *d, dse_error *err)
{
    const double s = d->job->step_time_s;

    if (s >= LEAST_STEP_S && s <= MOST_STEP_S)
        return DSE_OK;
    return dse_fail_at(err, DSE_E_CONFIG, d->at->where,
                       "the step takes %g s, and what can be compared is between %g and %g s; check the unit",
                       s, LEAST_STEP_S, MOST_STEP_S);
}

static dse_status derive_measured(deriving *d, dse_arena *a, dse_error *err)
{
    const msr_row *row = d->row;
    msr_job *j = d->job;

    if (isnan(j->peak_memory_bytes))
        j->peak_memory_bytes = row->resident_bytes + row->activation_bytes;
    if (isnan(j->step_time_s))
        j->step_time_s = time_of_rate(d, a);
    if (has_failed(row))
        j->not_measured = dse_arena_printf(a, "failed: status '%s'", row->status);
    else if (row->repeat_of)
        j->not_measured =
            dse_arena_printf(a, "the same number as that of '%s', which counts once", row->repeat_of);
    else if (isnan(j->step_time_s))
        j->not_measured = lacking(d, a);
    else
        return check_step(d, err);
    j->step_time_s = NAN;
    return DSE_OK;
}

/* ---- all of it ----------------------------------------------------------------------------- */

/* "llama-3.1-8b/dp8_tp1_pp1_mb2" of a row without a name; a degree that is not known is left out. */
static const char *name_of(const msr_job *j, dse_arena *a)
{
    const struct {
        const char *letters;
        int64_t v;
    } parts[] = {
        {"dp", j->dp},          {"tp", j->tp},   {"pp", j->pp},     {"cp", j->cp == 1 ? MSR_JOB_NONE : j->cp},
        {"mb", j->micro_batch}, {"b", j->batch}, {"s", j->sequence}};
    char text[256];
    int n;

    if (j->family)
        n = snprintf(text, sizeof text, "%.80s/", j->family);
    else if (MSR_GIVEN(j->layers) && MSR_GIVEN(j->d_model))
        n = snprintf(text, sizeof text, "%" PRId64 "x%" PRId64 "/", j->layers, j->d_model);
    else
        n = snprintf(text, sizeof text, "model/");
    for (size_t i = 0; i < DSE_COUNT(parts); i++)
        if (MSR_GIVEN(parts[i].v))
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%s%" PRId64, text[n - 1] == '/' ? "" : "_",
                          parts[i].letters, parts[i].v);
    return dse_arena_strdup(a, text);
}

dse_status msr_row_derive(const msr_row_place *at, msr_row *row, dse_arena *a, msr_job *out, dse_error *err)
{
    deriving d = {.at = at, .row = row, .job = out, .counts = !has_failed(row)};
    dse_status st;

    *out = row->job;
    out->where = at->where;
    find_framework(&d);
    derive_recompute(&d);
    derive_model(&d);
    derive_sequence(&d, a);
    derive_unmodelled(&d);
    if ((st = derive_degrees(&d, a, err)) != DSE_OK || (st = derive_work(&d, err)) != DSE_OK ||
        (st = derive_measured(&d, a, err)) != DSE_OK)
        return st;
    if (!out->name)
        out->name = row->workload_name ? row->workload_name : row->trace ? row->trace : name_of(out, a);
    return DSE_OK;
}
