/* Where the time of kernels goes: dominant_kernel_concentration, moe_fraction, memory_bound_fraction. */
#include "metrics/later.h"
#include "metrics/later_tpu.h"

#include <math.h>
#include <string.h>

/* ---- dominant_kernel_concentration --------------------------------------------------------- */

/* The time of each name of a rank: of kernels; of a TPU, whose fusions have names of their own, of the categories
 * of its operations. */
static void gpu_times(const metric_context *x, uint32_t i, double *ps)
{
    later_kernels k = later_kernels_of(x, i, LATER_COMM_PLAIN);

    for (uint32_t e = 0; e < k.n; e++) {
        const trace_event *v = &k.rank->event[k.event[e]];

        ps[x->options->compat ? v->name : metric_kernel_name(k.rank, v)] += (double)v->dur_ps;
    }
}

static void tpu_times(const metric_context *x, uint32_t i, double *ps)
{
    const trace_rank *r = x->view[i].rank;

    for (const tpu_device *d = x->view[i].tpu.device; d < x->view[i].tpu.device + x->view[i].tpu.n; d++)
        for (const tpu_op *op = d->op; op < d->op + d->n; op++)
            if (*later_tpu_category(r, &r->event[op->event]))
                ps[r->args[r->event[op->event].args].hlo_category] += (double)(op->span.end - op->span.start);
}

/* All lines of a device have some; of the first file alone. */
static void tpu_upstream_times(const metric_context *x, uint32_t i, double *ps)
{
    later_tpu t = later_tpu_of(x);

    for (size_t k = 0; !i && k < t.rank->n_events; k++) {
        const trace_event *e = &t.rank->event[k];

        if (later_tpu_has(&t, e) && *later_tpu_category(t.rank, e))
            ps[t.rank->args[e->args].hlo_category] += later_tpu_ps(&t, k);
    }
}

static dse_status dominant_kernel_concentration(const metric_context *x, metric_value *out, dse_error *err)
{
    trace_names names = {0}; /* of all ranks, each of which numbers its names itself */
    double *sum = NULL, all = 0, most = 0;
    const char *which = NULL;
    size_t cap = 0;

    for (uint32_t i = 0; i < x->n_views; i++) {
        const trace_names *own = &x->view[i].rank->names;
        double *ps = DSE_ARENA_NEW(x->arena, double, (size_t)own->n + 1);

        (later_kind(x) != TRACE_XLA ? gpu_times
         : x->options->compat       ? tpu_upstream_times
                                    : tpu_times)(x, i, ps);
        for (uint32_t k = 0; k < own->n; k++)
            if (ps[k] > 0) {
                const uint32_t known = names.n,
                               id = trace_names_add(&names, own->text[k], strlen(own->text[k]));

                DSE_ARENA_GROW(x->arena, sum, cap, (size_t)id + 1);
                sum[id] = (id < known ? sum[id] : 0) + ps[k];
            }
    }
    for (uint32_t i = 0; i < names.n; i++) {
        all += sum[i];
        which = sum[i] > most ? names.text[i] : which;
        most = sum[i] > most ? sum[i] : most;
    }
    if (all > 0)
        metric_put_number(out, "dominant_kernel_concentration", 100 * most / all);
    if (all > 0 && !x->options->compat)
        metric_put_text(out, "kernel", which);
    trace_names_free(&names);
    return all > 0 ? DSE_OK : metric_absent(err, LATER_NO_KERNELS);
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
