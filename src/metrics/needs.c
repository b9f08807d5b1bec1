#include "metrics/needs.h"

#include "base/array.h"
#include "base/names.h"
#include "metrics/kinds.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the kinds of trace -------------------------------------------------------------------- */

/* `original`: the kinds that the original rule takes, if that is not what was asked for. */
static dse_status refuse_kind(unsigned taken, unsigned original, const metric_context *x, dse_error *err)
{
    char name[TRACE_KINDS][40], list[300];
    const char *names[TRACE_KINDS];
    const char *kind;
    size_t n = 0;

    for (int k = 0; k < TRACE_KINDS; k++)
        if (taken & METRIC_ON(k)) {
            snprintf(name[n], sizeof name[n], "%ss", trace_kind_name((trace_kind)k));
            names[n] = name[n];
            n++;
        }
    dse_join(list, sizeof list, names, n);
    if (!x->record->n_ranks)
        return metric_absent(err, "no trace in '%.300s'; it takes %s", x->record->path ? x->record->path : "",
                             list);
    kind = trace_kind_name(x->record->rank[0].kind);
    return metric_absent(err, "it is not defined for %s %s; it takes %s%s",
                         strchr("aeioAEINX", kind[0]) ? "an" : "a", kind, list,
                         original & METRIC_ON(x->record->rank[0].kind)
                             ? "; with --compat it is the original rule, which takes this one"
                             : "");
}

dse_status metric_narrow(const metric *m, const metric_context *x, bool compat, metric_context *out,
                         dse_error *err)
{
    unsigned taken = metric_kinds_of(m, compat);
    trace_record *record;
    uint32_t n = 0;

    for (uint32_t i = 0; i < x->n_views; i++)
        n += (taken & METRIC_ON(x->view[i].rank->kind)) != 0;
    if (!n && (x->n_views || !(taken & METRIC_ON_NONE)))
        return refuse_kind(taken, compat ? 0 : m->compat_kinds, x, err);
    *out = *x;
    if (n == x->n_views)
        return DSE_OK;
    record = DSE_ARENA_NEW(x->arena, trace_record, 1);
    out->view = DSE_ARENA_NEW(x->arena, metric_view, n);
    record->rank = DSE_ARENA_NEW(x->arena, trace_rank, n);
    record->path = x->record->path;
    for (uint32_t i = 0; i < x->n_views; i++) {
        if (!(taken & METRIC_ON(x->view[i].rank->kind)))
            continue;
        record->rank[record->n_ranks] = *x->view[i].rank;
        out->view[record->n_ranks] = x->view[i];
        out->view[record->n_ranks].rank = &record->rank[record->n_ranks];
        record->n_ranks++;
    }
    out->record = record;
    out->n_views = n;
    return DSE_OK;
}

/* ---- the trace ----------------------------------------------------------------------------- */

/* When a rank was at work, on the clock of its trace: its GPU events, or all there is. Nanoseconds. */
static metric_span work_of(const metric_view *v)
{
    const trace_rank *r = v->rank;
    bool gpu = v->gpu_span.end > v->gpu_span.start;
    int64_t first = gpu ? v->gpu_span.start : r->all_first_ps, last = gpu ? v->gpu_span.end : r->all_last_ps;

    if (first > last)
        return (metric_span){0, 0};
    return (metric_span){r->base_ns + first / TRACE_PS_PER_NS, r->base_ns + last / TRACE_PS_PER_NS};
}

static dse_status check_ranks(const metric_context *x, dse_error *err)
{
    if (x->n_views == 1 && x->view[0].rank->world_size > 1)
        return metric_absent(err,
                             "it compares ranks, and only rank %" PRIu32 " of %" PRIu32
                             " is here; give the directory with the files of the others",
                             x->view[0].rank->rank, x->view[0].rank->world_size);
    if (x->n_views < 2)
        return metric_absent(err,
                             "it compares ranks, and the trace has one; give a directory with a file a rank");
    return DSE_OK;
}

static dse_status check_clock(const metric_context *x, dse_error *err)
{
    const metric_view *latest = x->view, *earliest = x->view;

    for (uint32_t i = 1; i < x->n_views; i++) {
        latest = work_of(&x->view[i]).start > work_of(latest).start ? &x->view[i] : latest;
        earliest = work_of(&x->view[i]).end < work_of(earliest).end ? &x->view[i] : earliest;
    }
    if (!metric_aligns_clocks(x) && work_of(latest).start >= work_of(earliest).end)
        return metric_absent(err,
                             "rank %" PRIu32 " ended before rank %" PRIu32
                             " began: they are not of one run, or their clocks differ (then --align end)",
                             earliest->rank->rank, latest->rank->rank);
    return DSE_OK;
}

static dse_status check_steps(const metric_context *x, dse_error *err)
{
    for (uint32_t i = 0; i < x->n_views; i++)
        if (!x->view[i].n_steps)
            return metric_absent(err,
                                 "rank %" PRIu32
                                 " has no step markers (ProfilerStep#); record with a schedule and "
                                 "profiler.step(), or mark iterations with NVTX ranges for Nsight Systems",
                                 x->view[i].rank->rank);
    return DSE_OK;
}

/* The first plane of a device that is neither a TPU nor a GPU, whose lines mean nothing known. */
static const char *other_plane(const trace_rank *r)
{
    for (uint32_t i = 0; i < r->n_lanes; i++)
        if (metric_begins(tpu_process_of(r, i), "/device:") &&
            !metric_begins(tpu_process_of(r, i), TPU_PLANE))
            return tpu_process_of(r, i);
    return "";
}

static dse_status fail_no_gpu(const trace_rank *r, dse_error *err)
{
    const trace_accelerator *a = trace_accelerator_of(r);

    if (a)
        return metric_absent(err,
                             "rank %" PRIu32 " ran on %s, and has no events of the device; record with "
                             "ProfilerActivity.%s",
                             r->rank, a->name, a->activity);
    if (r->kind == TRACE_XLA)
        return metric_absent(err,
                             "'%.300s' has no operations of a TPU or a GPU%s%.100s; record while one works",
                             r->path, *other_plane(r) ? ", but of " : "", other_plane(r));
    if (r->kind == TRACE_XLA_GPU)
        return metric_absent(err,
                             "GPU %" PRIu32 " of '%.300s' has no events on a stream; record while it works",
                             r->rank, r->path);
    return metric_absent(
        err, "rank %" PRIu32 " has no GPU events; record with ProfilerActivity.CUDA, or nsys --trace=cuda",
        r->rank);
}

static dse_status check_gpu(const metric_context *x, dse_error *err)
{
    for (uint32_t i = 0; i < x->n_views; i++)
        if (!x->view[i].kernels.n && !x->view[i].memory_ops.n)
            return fail_no_gpu(x->view[i].rank, err);
    return DSE_OK;
}

static dse_status check_evidence(const metric_context *x, dse_error *err)
{
    for (uint32_t i = 0; i < x->n_views; i++)
        if (x->view[i].kernels.n || x->view[i].memory_ops.n || x->view[i].comm.n || x->view[i].tpu.n)
            return DSE_OK;
    return x->n_views ? fail_no_gpu(x->view[0].rank, err) : DSE_OK;
}

static dse_status check_comm(const metric_context *x, dse_error *err)
{
    for (uint32_t i = 0; i < x->n_views; i++)
        if (x->view[i].comm.n)
            return DSE_OK;
    return metric_absent(err,
                         "nothing communicates: there is neither a communication kernel nor an nccl: range");
}

static dse_status check_snapshot(const metric_context *x, dse_error *err)
{
    for (uint32_t i = 0; i < x->n_views; i++)
        if (x->view[i].rank->allocator)
            return DSE_OK;
    return metric_absent(
        err, "there is no memory snapshot; record with torch.cuda.memory._record_memory_history() "
             "and put what _dump_snapshot() writes beside the traces");
}

static bool has_device_plane(const trace_rank *r)
{
    for (uint32_t i = 0; i < r->n_lanes; i++)
        if (metric_begins(tpu_process_of(r, i), TPU_PLANE))
            return true;
    return false;
}

/* ---- the card ------------------------------------------------------------------------------ */

#define NO_CARD                                                                                              \
    "there is no workload card; write workload_card.yaml beside the traces, or name one with --card"

/* A key of the card, and whether it is there. */
typedef struct {
    const char *key;
    bool given;
} card_key;

static bool is_given(int64_t v) { return v != TRACE_CARD_NONE; }

static dse_status check_keys(const metric_context *x, const card_key *key, size_t n, dse_error *err)
{
    const char *lacks[16];
    char list[400];
    size_t n_lacks = 0;

    for (size_t i = 0; i < n && i < 16; i++)
        if (!key[i].given)
            lacks[n_lacks++] = key[i].key;
    if (!n_lacks)
        return DSE_OK;
    dse_join(list, sizeof list, lacks, n_lacks);
    return metric_absent(err, "the workload card '%.200s' lacks %s", x->card->path ? x->card->path : "",
                         list);
}

static dse_status check_card(const metric_context *x, dse_error *err)
{
    return x->card ? DSE_OK : metric_absent(err, NO_CARD);
}

static dse_status check_tokens(const metric_context *x, dse_error *err)
{
    const trace_card *c = x->card;

    if (!c)
        return metric_absent(err, NO_CARD " (it takes batch_size and seq_len from it)");
    return check_keys(x,
                      (card_key[]){{"workload.data.batch_size", is_given(c->batch_size)},
                                   {"workload.data.seq_len",
                                    is_given(c->seq_len) || (metric_phase_of(x) == TRACE_PHASE_INFERENCE &&
                                                             is_given(c->output_len))}},
                      2, err);
}

static dse_status check_pipeline(const metric_context *x, dse_error *err)
{
    if (x->options->force)
        return DSE_OK;
    if (!x->card)
        return metric_absent(err, NO_CARD " (its pp says whether there is a pipeline); --force does without");
    if (!is_given(x->card->pp))
        return metric_absent(err,
                             "the workload card '%.200s' lacks Model-executor.model_plan_parallelization.pp; "
                             "--force does without",
                             x->card->path ? x->card->path : "");
    if (x->card->pp < 2)
        return metric_absent(err,
                             "there is no pipeline: pp is %" PRId64
                             " in the workload card; --force computes it "
                             "nevertheless",
                             x->card->pp);
    return DSE_OK;
}

static dse_status check_model(const metric_context *x, dse_error *err)
{
    const trace_card *c = x->card;

    if (!c)
        return metric_absent(err, NO_CARD " (it takes the model's size from it)");
    return check_keys(x,
                      (card_key[]){{"workload.model.model_arch.num_params (or num_params_active)",
                                    !isnan(c->num_params) || !isnan(c->num_params_active)},
                                   {"num_layers", is_given(c->num_layers)},
                                   {"num_heads", is_given(c->num_heads)},
                                   {"head_dim", is_given(c->head_dim)},
                                   {"workload.hardware.xpu_spec.total_count", is_given(c->total_count)},
                                   {"workload.hardware.xpu_spec.model", c->xpu_model != NULL}},
                      6, err);
}

static dse_status check_inference(const metric_context *x, dse_error *err)
{
    switch (metric_phase_of(x)) {
    case TRACE_PHASE_INFERENCE: return DSE_OK;
    case TRACE_PHASE_TRAINING:
        return metric_absent(err, "it is of inference, and this is training, as %s says",
                             x->options->phase != TRACE_PHASE_UNKNOWN ? "--phase" : "the workload card");
    case TRACE_PHASE_UNKNOWN: break;
    }
    return metric_absent(err, "it is of inference, and nothing says that this is; --phase inference, or "
                              "workload.model.phase of a workload card, does");
}

static dse_status check_training(const metric_context *x, dse_error *err)
{
    if (x->options->force || metric_phase_of(x) != TRACE_PHASE_INFERENCE)
        return DSE_OK;
    return metric_absent(
        err, "it is of training, and this is inference, as %s says; --force computes it nevertheless",
        x->options->phase != TRACE_PHASE_UNKNOWN ? "--phase" : "the workload card");
}

static dse_status check_chips(const metric_context *x, dse_error *err)
{
    if (x->options->n_chips > 0 || (x->card && is_given(x->card->total_count)))
        return DSE_OK;
    for (uint32_t i = 0; i < x->n_views; i++)
        if (has_device_plane(x->view[i].rank))
            return DSE_OK;
    return metric_absent(
        err, "neither the trace nor a workload card says how many chips there are; --n_chips does");
}

/* ---- all ----------------------------------------------------------------------------------- */

/* In the order of reporting: what the trace lacks comes before what the card lacks. */
static const struct {
    unsigned need;
    dse_status (*check)(const metric_context *x, dse_error *err);
} checks[] = {
    {METRIC_NEEDS_SNAPSHOT, check_snapshot},   {METRIC_NEEDS_GPU, check_gpu},
    {METRIC_NEEDS_COMM, check_comm},           {METRIC_NEEDS_STEPS, check_steps},
    {METRIC_NEEDS_RANKS, check_ranks},         {METRIC_NEEDS_CLOCK, check_clock},
    {METRIC_NEEDS_INFERENCE, check_inference}, {METRIC_NEEDS_CARD, check_card},
    {METRIC_NEEDS_TOKENS, check_tokens},       {METRIC_NEEDS_MODEL, check_model},
    {METRIC_NEEDS_PIPELINE, check_pipeline},   {METRIC_NEEDS_CHIPS, check_chips},
    {METRIC_NEEDS_TRAINING, check_training},   {METRIC_NEEDS_EVIDENCE, check_evidence},
};

dse_status metric_check_needs(unsigned needs, const metric_context *x, dse_error *err)
{
    dse_status st = DSE_OK;

    for (size_t i = 0; st == DSE_OK && i < DSE_COUNT(checks); i++)
        if (needs & checks[i].need)
            st = checks[i].check(x, err);
    return st;
}
