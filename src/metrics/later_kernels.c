/* Where the time of kernels goes: dominant_kernel_concentration, moe_fraction, memory_bound_fraction. */
#include "metrics/later.h"
#include "metrics/later_tpu.h"
#include "metrics/tpu_run.h"

#include <math.h>
#include <string.h>

/* ---- dominant_kernel_concentration --------------------------------------------------------- */

/* Time by name over all ranks, each of which numbers its names itself. */
typedef struct {
    trace_names names;
    double *ps;
    size_t cap;
} by_name;

static void add_time(by_name *b, const char *name, double ps)
{
    uint32_t id = trace_names_add(&b->names, name, strlen(name));
    size_t old = b->cap;

    DSE_GROW(b->ps, b->cap, (size_t)id + 1);
    for (size_t i = old; i < b->cap; i++)
        b->ps[i] = 0;
    b->ps[id] += ps;
}

/* The times of a rank's names, then those of the names that have any. */
static void add_rank(const trace_rank *r, const double *ps, by_name *b)
{
    for (uint32_t i = 0; i < r->names.n; i++)
        if (ps[i] > 0)
            add_time(b, r->names.text[i], ps[i]);
}

static void gpu_times(const metric_context *x, by_name *b)
{
    for (uint32_t i = 0; i < x->n_views; i++) {
        const trace_rank *r = x->view[i].rank;
        double *ps = DSE_ARENA_NEW(x->arena, double, (size_t)r->names.n + 1);
        later_kernels k = later_kernels_of(x, i, LATER_COMM_PLAIN);

        for (uint32_t e = 0; e < k.n; e++)
            ps[x->options->compat ? r->event[k.event[e]].name
                                  : metric_kernel_name(r, &r->event[k.event[e]])] +=
                (double)r->event[k.event[e]].dur_ps;
        add_rank(r, ps, b);
    }
}

/* Fusions have names of their own, so of a TPU it is the categories. All lines of a device have some. */
static void tpu_upstream_times(const metric_context *x, by_name *b)
{
    const trace_rank *r = &x->record->rank[0];
    double *ps = DSE_ARENA_NEW(x->arena, double, (size_t)r->names.n + 1);
    later_tpu t = later_tpu_of(x);

    for (size_t i = 0; i < r->n_events; i++) {
        const trace_event *e = &r->event[i];

        if (later_tpu_has(&t, e) && *later_tpu_category(r, e))
            ps[r->args[e->args].hlo_category] += later_tpu_ps(&t, i);
    }
    add_rank(r, ps, b);
}

static void tpu_times(const metric_context *x, by_name *b)
{
    double *ps = NULL; /* of a rank's devices together: they may be as many as its names */
    tpu_run run = tpu_run_of(x);

    for (uint32_t i = 0; i < run.n; i++) {
        const trace_rank *r = run.rank[i];

        if (!i || r != run.rank[i - 1])
            ps = DSE_ARENA_NEW(x->arena, double, (size_t)r->names.n + 1);
        for (size_t k = 0; k < run.device[i]->n; k++) {
            const tpu_op *op = &run.device[i]->op[k];
            const trace_event *e = &r->event[op->event];

            if (*later_tpu_category(r, e))
                ps[r->args[e->args].hlo_category] += (double)(op->span.end - op->span.start);
        }
        if (i + 1 == run.n || run.rank[i + 1] != r)
            add_rank(r, ps, b);
    }
}

static dse_status put_dominant(const metric_context *x, const by_name *b, metric_value *out, dse_error *err)
{
    double all = 0, most = 0;
    uint32_t which = 0;

    for (uint32_t i = 0; i < b->names.n; i++) {
        all += b->ps[i];
        if (b->ps[i] > most) {
            most = b->ps[i];
            which = i;
        }
    }
    if (!(all > 0))
        return metric_absent(err, LATER_NO_KERNELS);
    metric_put_number(out, "dominant_kernel_concentration", 100 * most / all);
    if (!x->options->compat)
        metric_put_text(out, "kernel", b->names.text[which]);
    return DSE_OK;
}

static dse_status dominant_kernel_concentration(const metric_context *x, metric_value *out, dse_error *err)
{
    by_name b = {0};
    dse_status st;

    (later_kind(x) != TRACE_XLA ? gpu_times : x->options->compat ? tpu_upstream_times : tpu_times)(x, &b);
    st = put_dominant(x, &b, out, err);
    trace_names_free(&b.names);
    dse_free(b.ps);
    return st;
}

/* ---- moe_fraction -------------------------------------------------------------------------- */

static const metric_pick moe = METRIC_PICK(0, {1, .names = LATER_MOE}, {0}),
                         moe_nsys = METRIC_PICK(0, {1, .names = LATER_MOE_NSYS}, {0});

/* ---- memory_bound_fraction ----------------------------------------------------------------- */

/* The classes that the tool takes for bound by memory; by the tool of events with one of its category
 * words. */
#define BOUND(of_words)                                                                                      \
    METRIC_PICK(0, {0, (of_words), .names = LATER_COMM_NAMED}, {1, (of_words), .names = LATER_MEMCPY},       \
                {0, (of_words), .names = LATER_GEMM}, {1, (of_words), .names = LATER_BOUND},                 \
                {0, .words = (of_words)})

static const metric_pick bound_by_memory = BOUND(NULL), bound_upstream = BOUND(LATER_KERNEL_WORDS);

static void upstream_bound(const metric_context *x, const later_kernels *k, later_result *r)
{
    metric_sums s[2] = {{0}};

    metric_pick_sum(k->rank, &bound_upstream, x->arena, s);
    later_add(r, k->rank, (double)s[1].sum_ps, (double)s[0].sum_ps + (double)s[1].sum_ps);
}

static void tpu_upstream_bound(const metric_context *x, later_result *r)
{
    for (uint32_t i = 0; i < x->n_views; i++)
        upstream_bound(x, &(later_kernels){.rank = x->view[i].rank}, r);
}

/* Blocks a processor. Where an export does not say how many processors there are, the original takes an
 * A100's. */
static double filled(const metric_context *x, const trace_rank *r, const trace_event *e)
{
    const trace_args *a = metric_args_of(r, e);

    if (!a || !isnan(a->blocks_per_sm) || !x->options->compat || a->blocks == TRACE_UNKNOWN)
        return a ? a->blocks_per_sm : (double)NAN;
    return (double)a->blocks / 108;
}

/* Nsight Systems: kernels whose blocks would fill less than half of the processors. */
static void add_uncovered(const metric_context *x, const later_kernels *k, later_result *r)
{
    double bound = 0, all = 0;

    for (uint32_t e = 0; e < k->n; e++) {
        const trace_event *v = &k->rank->event[k->event[e]];
        double blocks = filled(x, k->rank, v);

        if (isnan(blocks)) {
            r->st = metric_absent(r->err, "the export does not say how many processors device %u has",
                                  k->rank->rank);
            return;
        }
        all += (double)v->dur_ps;
        bound += blocks < 0.5 ? (double)v->dur_ps : 0;
    }
    later_add(r, k->rank, bound, all);
}

static const metric rows[] = {
    {LATER_ROW("dominant_kernel_concentration", "%", LATER_ON_ALL, dominant_kernel_concentration,
               "largest total of one kernel name over all kernels; of a TPU of one HLO category")},
    {LATER_VALUE("memory_bound_fraction", "%", LATER_ON_ALL,
                 "kernels whose name is elementwise, norm, softmax, reduction or copy; Nsight: small grids"),
     LATER_RULE(.fold = later_add_picked, .pick = &bound_by_memory, .compat = upstream_bound,
                .nsys = add_uncovered, .words = LATER_COMM_NSYS, .tpu_compat = tpu_upstream_bound,
                .scale = 100, .digits = 4, .why = LATER_NO_KERNELS)},
    {LATER_VALUE("moe_fraction", "%", METRIC_ON_GPU,
                 "kernels of mixtures of experts, by their names, over all kernels"),
     LATER_RULE(.fold = later_add_picked, .pick = &moe, .nsys_pick = &moe_nsys, .words = LATER_COMM_PLAIN,
                .scale = 100, .why = LATER_NO_KERNELS)},
};

METRIC_FAMILY(later_kernels);
