/* Where the time of kernels goes: dominant_kernel_concentration, moe_fraction, memory_bound_fraction. */
#include "metrics/later.h"
#include "metrics/later_tpu.h"
#include "metrics/numbers.h"
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
        later_kernels k = later_kernels_of(x, i, later_comm_plain);

        for (uint32_t e = 0; e < k.n; e++)
            ps[r->event[k.event[e]].name] += (double)r->event[k.event[e]].dur_ps;
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
        return metric_absent(err, "the trace has no kernels");
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

static dse_status moe_fraction(const metric_context *x, metric_value *out, dse_error *err)
{
    later_result r = later_begin(x, out, "moe_fraction", 100);
    metric_classify *words = later_kind(x) == TRACE_NSYS ? later_moe_nsys : later_moe;

    for (uint32_t i = 0; i < x->n_views; i++) {
        const trace_rank *rank = x->view[i].rank;
        double moe = 0, all = 0;
        metric_classes names = metric_classes_of(rank, words, x->arena);
        later_kernels k = later_kernels_of(x, i, later_comm_plain);

        for (uint32_t e = 0; e < k.n; e++) {
            const trace_event *v = &rank->event[k.event[e]];
            all += (double)v->dur_ps;
            moe += metric_class_of(&names, v) ? (double)v->dur_ps : 0;
        }
        later_add(&r, rank, moe, all);
    }
    return later_end(&r, x, -1, "the trace has no kernels", err);
}

/* ---- memory_bound_fraction ----------------------------------------------------------------- */

/* Whether the tool takes the class for bound by memory. */
static uint8_t is_bound(const char *name)
{
    static const bool bound[LATER_OTHER + 1] = {[LATER_TRANSFER] = true,
                                                [LATER_SOFTMAX] = true,
                                                [LATER_NORM] = true,
                                                [LATER_ELEMENTWISE] = true,
                                                [LATER_REDUCTION] = true};

    return bound[later_class_of(name)];
}

/* The definition takes the view's kernels; the tool takes all events with one of its category words. */
static void bound_by_name(const metric_context *x, later_result *out)
{
    for (const metric_view *v = x->view; v < x->view + x->n_views; v++) {
        const trace_rank *r = v->rank;
        metric_words kernel = later_kernel_words(r);
        bool all_events = x->options->compat;
        size_t n = all_events ? r->n_events : v->kernels.n;
        double bound = 0, all = 0;
        metric_classes names = metric_classes_of(r, is_bound, x->arena);

        for (size_t k = 0; k < n; k++) {
            const trace_event *e = &r->event[all_events ? k : v->kernels.event[k]];

            if (all_events && (e->instant || !kernel.is[e->word]))
                continue;
            all += (double)e->dur_ps;
            bound += metric_class_of(&names, e) ? (double)e->dur_ps : 0;
        }
        later_add(out, r, bound, all);
    }
}

/* For TPUs: the leaf operations of the devices, classified by the same words. */
static void bound_of_devices(const metric_context *x, later_result *out)
{
    tpu_run run = tpu_run_of(x);

    for (uint32_t i = 0; i < run.n; i++) {
        const trace_rank *r = run.rank[i];
        double bound = 0, all = 0;
        metric_classes names = metric_classes_of(r, is_bound, x->arena);

        for (size_t k = 0; k < run.device[i]->n; k++) {
            const tpu_op *op = &run.device[i]->op[k];
            double ps = (double)(op->span.end - op->span.start);
            all += ps;
            bound += metric_class_of(&names, &r->event[op->event]) ? ps : 0;
        }
        later_add(out, NULL, bound, all);
    }
}

/* Blocks a processor. Where an export does not say how many processors there are, the original takes an
 * A100's. */
static double filled(const metric_context *x, const trace_rank *r, const trace_event *e)
{
    const trace_args *a = e->args == DSE_NONE ? NULL : &r->args[e->args];

    if (!a || !isnan(a->blocks_per_sm) || !x->options->compat || a->blocks == TRACE_UNKNOWN)
        return a ? a->blocks_per_sm : (double)NAN;
    return (double)a->blocks / 108;
}

/* Nsight Systems: kernels whose blocks would fill less than half of the processors. */
static dse_status bound_by_coverage(const metric_context *x, later_result *out, dse_error *err)
{
    for (uint32_t i = 0; i < x->n_views; i++) {
        const trace_rank *r = x->view[i].rank;
        double bound = 0, all = 0;
        later_kernels k = later_kernels_of(x, i, later_comm_nsys);

        for (uint32_t e = 0; e < k.n; e++) {
            const trace_event *v = &r->event[k.event[e]];
            double blocks = filled(x, r, v);

            if (isnan(blocks))
                return metric_absent(err, "the export does not say how many processors device %u has",
                                     r->rank);
            all += (double)v->dur_ps;
            bound += blocks < 0.5 ? (double)v->dur_ps : 0;
        }
        later_add(out, r, bound, all);
    }
    return DSE_OK;
}

static dse_status memory_bound_fraction(const metric_context *x, metric_value *out, dse_error *err)
{
    later_result r = later_begin(x, out, "memory_bound_fraction", 100);
    bool nsys = later_kind(x) == TRACE_NSYS;
    dse_status st = DSE_OK;

    if (nsys)
        st = bound_by_coverage(x, &r, err);
    else if (later_kind(x) == TRACE_XLA && !x->options->compat)
        bound_of_devices(x, &r);
    else
        bound_by_name(x, &r);
    return st == DSE_OK ? later_end(&r, x, nsys ? -1 : 4, "the trace has no kernels", err) : st;
}

static const metric rows[] = {
    LATER_ROW(dominant_kernel_concentration, "%", LATER_ON_ALL,
              "largest total of one kernel name over all kernels; of a TPU of one HLO category"),
    LATER_ROW(memory_bound_fraction, "%", LATER_ON_ALL,
              "kernels whose name is elementwise, norm, softmax, reduction or copy; Nsight: small grids"),
    LATER_ROW(moe_fraction, "%", LATER_ON_GPU,
              "kernels of mixtures of experts, by their names, over all kernels"),
};

METRIC_FAMILY(later_kernels);
