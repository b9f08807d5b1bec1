/* The host's work in a step (forward, backward, optimizer, other), and the GPU's time for each.
 *
 * The step's time is divided among the phases, each instant once: first the optimizer's own ranges, then what
 * autograd runs on any thread, then the operators of the thread that has the steps. The rest is other,
 * including the upkeep of FSDP, which metric fsdp divides. A kernel belongs to the phase in which it was
 * launched. The original adds up nested operators, and takes ProfilerStep#, with its "step", for an
 * optimizer.
 *
 * Backward time is absent where operators are called ...Backward and no range of the autograd engine is
 * recorded, as in PyTorch before 1.10. */
#include "base/array.h"
#include "metrics/guide.h"
#include "metrics/metric.h"
#include "metrics/order.h"
#include "metrics/steps.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef enum { FORWARD, BACKWARD, OPTIMIZER, OTHER, PHASES } phase;

static const char *const phase_name[PHASES] = {"forward", "backward", "optimizer", "other"};

/* ---- ranges of the host -------------------------------------------------------------------- */

enum { NAME_STEP, NAME_OPTIMIZER, NAME_AUTOGRAD, NAME_BACKWARD, NAME_FSDP, NAME_OPERATOR, HAS_OPERATOR };

#define ON_HOST (1 << TRACE_CPU_OP | 1 << TRACE_ANNOTATION)

static const metric_pick host_ranges = METRIC_PICK(
    METRIC_LASTING, {NAME_STEP, .categories = ON_HOST, .names = "=^" METRIC_STEP_PREFIX},
    {NAME_OPTIMIZER, .categories = ON_HOST, .names = "=^Optimizer.step#|=^Optimizer.zero_grad#"},
    {NAME_AUTOGRAD, .categories = ON_HOST, .names = "=^autograd::engine::evaluate_function"},
    {NAME_FSDP, .categories = ON_HOST, .names = "fsdp::"},
    {NAME_BACKWARD, .categories = ON_HOST, .names = "=Backward"}, {NAME_OPERATOR, .categories = ON_HOST});

typedef struct {
    metric_spans set[PHASES];
    metric_spans steps;
    unsigned has; /* bits of the names above */
} host_time;

static bool has(const host_time *h, int name) { return h->has >> name & 1; }

static bool is_unknown(const host_time *h, int p)
{
    return p == BACKWARD && has(h, NAME_BACKWARD) && !has(h, NAME_AUTOGRAD);
}

/* PHASES: none of them. */
static phase phase_of(const trace_event *e, uint8_t class, uint32_t lane)
{
    if (class == NAME_OPTIMIZER)
        return OPTIMIZER;
    if (class == NAME_AUTOGRAD)
        return BACKWARD;
    if (class == NAME_STEP || class == NAME_FSDP)
        return PHASES;
    return e->category == TRACE_CPU_OP && e->lane == lane ? FORWARD : PHASES;
}

/* What there is among the ranges, of which those of a phase stay, by start, with their phases as classes. */
static void find_phases(metric_picked *ranges, dse_arena *a, host_time *h)
{
    const uint32_t n = ranges->list.n;
    uint32_t lane = DSE_NONE; /* of the steps */

    for (uint32_t i = 0; i < n && lane == DSE_NONE; i++)
        lane = ranges->class[i] == NAME_STEP ? metric_picked_at(ranges, i)->lane : DSE_NONE;
    ranges->list.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const trace_event *e = metric_picked_at(ranges, i);
        const uint8_t class = ranges->class[i];
        const phase p = phase_of(e, class, lane);

        h->has |= 1u << class;
        if (e->category == TRACE_CPU_OP && class != NAME_STEP)
            h->has |= 1u << HAS_OPERATOR;
        if (p == PHASES)
            continue;
        ranges->class[ranges->list.n] = (uint8_t)p;
        ranges->list.event[ranges->list.n++] = ranges->list.event[i];
    }
    metric_picked_sort(ranges, a);
}

/* The sets of the three phases within the steps; each leaves out what comes before it. */
static void divide(const metric_picked *ranges, host_time *h, dse_arena *a)
{
    static const phase order[] = {OPTIMIZER, BACKWARD, FORWARD};
    metric_spans left = h->steps;

    for (size_t i = 0; i < DSE_COUNT(order); i++) {
        metric_spans all =
            metric_union_of_class(ranges->rank, &ranges->list, ranges->class, (uint8_t)order[i], a);

        h->set[order[i]] = metric_spans_intersect(&all, &left, a);
        left = metric_spans_subtract(&left, &all, a);
    }
    h->set[OTHER] = left;
}

/* ---- the GPU's time ------------------------------------------------------------------------ */

enum { UNKNOWN = PHASES, OUTSIDE, KERNEL_CLASSES };

/* Time of the kernels of each phase, in ps. OUTSIDE: launched in none of the four sets, which share no time. */
static void gpu_times(const metric_view *v, const host_time *h, dse_arena *a, int64_t ps[KERNEL_CLASSES])
{
    uint8_t *class = DSE_ARENA_NEW(a, uint8_t, v->kernels.n);

    for (uint32_t i = 0; i < v->kernels.n; i++) {
        uint8_t p = 0;

        while (v->launch[i] != DSE_NONE && p < PHASES &&
               !metric_spans_at(&h->set[p], v->rank->event[v->launch[i]].start_ps))
            p++;
        class[i] = v->launch[i] == DSE_NONE ? UNKNOWN : p < PHASES ? p : OUTSIDE;
    }
    metric_class_lengths(v->rank, &v->kernels, class, KERNEL_CLASSES, ps);
}

/* ---- layers -------------------------------------------------------------------------------- */

typedef struct {
    uint64_t layer;
    metric_span span;
} layer_range;

/* Of a rank. */
typedef struct {
    uint64_t layer;
    double ms;
} layer_time;

typedef struct {
    size_t n, cap;
    layer_time *time;
} layer_times;

static bool names_layer(const char *name) { return guide_layer_of(name) != GUIDE_NO_LAYER; }

static const metric_pick layer_ranges =
                             METRIC_PICK(METRIC_LASTING, {.categories = ON_HOST, .is = names_layer}),
                         compat_layers = METRIC_PICK(0, {.is = names_layer});

METRIC_COMPARE(by_layer, layer_range, {(int64_t)x->layer, (int64_t)y->layer}, {x->span.start, y->span.start})

static int by_number(const void *a, const void *b)
{
    const layer_time *x = a, *y = b;

    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    return (x->ms > y->ms) - (x->ms < y->ms);
}

/* Adds the time of each layer that a rank names: of a step, nested ranges once; of the originals, which know no
 * steps, all of their durations. Returns whether it names any. */
static bool add_layers(const metric_context *x, const metric_view *v, layer_times *to)
{
    const bool compat = x->options->compat, trim = x->options->trim;
    dse_arena *a = metric_scratch(x);
    const metric_spans steps = metric_steps_time(v, trim, a);
    const metric_picked p = metric_pick_of(v->rank, NULL, compat ? &compat_layers : &layer_ranges, a);
    layer_range *range = DSE_ARENA_NEW(a, layer_range, p.list.n);

    for (uint32_t i = 0; i < p.list.n; i++) {
        const trace_event *e = metric_picked_at(&p, i);

        range[i] =
            (layer_range){guide_layer_of(METRIC_TEXT_OF(v->rank, e)), {metric_start(e), metric_end(e)}};
    }
    if (p.list.n)
        qsort(range, p.list.n, sizeof *range, by_layer);
    for (uint32_t i = 0; i < p.list.n;) {
        const uint64_t layer = range[i].layer;
        int64_t ps = 0, reached = INT64_MIN;

        for (; i < p.list.n && range[i].layer == layer; i++) {
            const metric_span s = range[i].span;

            ps += compat ? s.end - s.start
                         : metric_spans_within(&steps, s.start > reached ? s.start : reached, s.end);
            reached = s.end > reached ? s.end : reached;
        }
        DSE_ARENA_GROW(x->arena, to->time, to->cap, to->n + 1);
        to->time[to->n++] =
            (layer_time){layer, (double)ps / TRACE_PS_PER_MS / (compat ? 1 : metric_steps_kept(v, trim).n)};
    }
    return p.list.n > 0;
}

/* Host time of each layer, mean over the ranks that name any. */
static void put_layers(const guide_ranks *ranks, metric_value *out)
{
    const metric_context *x = ranks->x;
    metric_value *to = metric_put_object(out, "layer_breakdown_ms");
    layer_times all = {0};
    uint32_t n_ranks = 0;

    for (uint32_t r = 0; r < ranks->n; r++)
        n_ranks += add_layers(x, ranks->rank[r].view, &all);
    if (all.n)
        qsort(all.time, all.n, sizeof *all.time, by_number);
    for (size_t i = 0; i < all.n;) {
        const uint64_t layer = all.time[i].layer;
        double sum = 0;

        for (; i < all.n && all.time[i].layer == layer; i++)
            sum += all.time[i].ms;
        sum /= n_ranks;
        metric_put_number(to, dse_arena_printf(x->arena, "layer_%" PRIu64, layer),
                          x->options->compat ? metric_round(sum, 2) : sum);
    }
}

/* ---- the definition ------------------------------------------------------------------------ */

static const char unknown[] = "autograd's ranges are not recorded (PyTorch before 1.10)";

static void put_phase(metric_value *to, const char *form, int p, double v)
{
    char key[64];

    snprintf(key, sizeof key, form, phase_name[p]);
    metric_put_number_or(to, key, v, unknown);
}

/* Puts times of a step, in milliseconds; kernels whose launch is not in the file are of no step. */
static bool measure(const metric_context *x, const guide_rank *r, dse_arena *a)
{
    host_time h = {.steps = metric_steps_time(r->view, x->options->trim, a)};
    metric_picked ranges = metric_pick_of(r->rank, NULL, &host_ranges, a);
    const double each = (double)TRACE_PS_PER_MS * metric_steps_kept(r->view, x->options->trim).n,
                 all = (double)metric_spans_length(&h.steps);
    int64_t gpu[KERNEL_CLASSES];

    find_phases(&ranges, a, &h);
    *(bool *)r->own = has(&h, NAME_AUTOGRAD) || has(&h, NAME_BACKWARD) || has(&h, NAME_OPTIMIZER);
    if (!has(&h, HAS_OPERATOR))
        return false;
    divide(&ranges, &h, a);
    gpu_times(r->view, &h, a, gpu);
    metric_put_number(r->out, "step_time_ms", all / each);
    for (int p = 0; p < PHASES; p++) {
        double host = is_unknown(&h, p) ? (double)NAN : (double)metric_spans_length(&h.set[p]);

        put_phase(r->out, "%s_time_ms", p, host / each);
        put_phase(r->out, "%s_percentage", p, 100 * host / all);
    }
    for (int p = 0; p < PHASES; p++)
        put_phase(r->out, "gpu_%s_time_ms", p, is_unknown(&h, p) ? (double)NAN : (double)gpu[p] / each);
    metric_put_number(r->out, "gpu_unattributed_time_ms", (double)gpu[UNKNOWN] / TRACE_PS_PER_MS);
    return true;
}

static void put_mean(const guide_ranks *ranks, const char *form, int p, metric_value *out)
{
    guide_put_mean(ranks, dse_arena_printf(ranks->x->arena, form, phase_name[p]), unknown, out);
}

static dse_status training_phases(const metric_context *x, metric_value *out, dse_error *err)
{
    guide_ranks ranks = guide_measure(x, out, measure, sizeof(bool));
    bool trains = false;

    for (uint32_t i = 0; i < ranks.n; i++)
        trains = trains || *(const bool *)ranks.rank[i].own;
    if (ranks.left_out)
        return metric_absent(err,
                             "%s has no operators of the host (cpu_op); record with ProfilerActivity.CPU",
                             ranks.left_out);
    if (!trains && !x->options->force)
        return metric_absent(err,
                             "neither a backward pass nor an optimizer was recorded in the steps, so this is "
                             "inference; --force computes it nevertheless");
    guide_put_mean(&ranks, "step_time_ms", NULL, out);
    for (int p = 0; p < PHASES; p++) {
        put_mean(&ranks, "%s_time_ms", p, out);
        put_mean(&ranks, "%s_percentage", p, out);
    }
    for (int p = 0; p < PHASES; p++)
        put_mean(&ranks, "gpu_%s_time_ms", p, out);
    put_layers(&ranks, out);
    guide_put_ranks(&ranks, NULL, out);
    return DSE_OK;
}

/* ---- as the original ----------------------------------------------------------------------- */

enum { C_FORWARD, C_BACKWARD, C_OPTIMIZER, C_FSDP_FORWARD, C_FSDP_BACKWARD, C_FSDP_OTHER, C_OTHER, C_PHASES };

static const char *const compat_name[C_PHASES] = {"forward",       "backward",   "optimizer", "fsdp_forward",
                                                  "fsdp_backward", "fsdp_other", "other"};

#define HOST_WORDS "user_annotation|cpu_op"

static const metric_pick compat_host =
    METRIC_PICK(METRIC_LASTING, {C_FSDP_BACKWARD, HOST_WORDS, .names = "fsdp::*backward|backward*fsdp::"},
                {C_FSDP_FORWARD, HOST_WORDS, .names = "fsdp::*forward|forward*fsdp::"},
                {C_FSDP_OTHER, HOST_WORDS, .names = "fsdp::"},
                {C_OPTIMIZER, HOST_WORDS, .names = "optimizer|adam|sgd|step|zero_grad"},
                {C_BACKWARD, HOST_WORDS, .names = "backward|autograd::engine"},
                {C_FORWARD, HOST_WORDS, .names = "^aten::|forward"}, {C_OTHER, .words = HOST_WORDS});

static bool measure_compat(const metric_context *x, const guide_rank *r, dse_arena *a)
{
    metric_sums s[C_PHASES] = {{0}};
    int64_t all_ps = 0;
    double all, fsdp;

    metric_pick_sum(r->rank, &compat_host, a, s);
    for (int c = 0; c < C_PHASES; c++)
        all_ps += s[c].sum_ps;
    all = guide_us(all_ps);
    fsdp = guide_us(s[C_FSDP_FORWARD].sum_ps + s[C_FSDP_BACKWARD].sum_ps + s[C_FSDP_OTHER].sum_ps);
    metric_put_number(r->out, "total_cpu_time_ms", all / 1000);
    for (int c = 0; c < C_PHASES; c++) {
        const double us = guide_us(s[c].sum_ps);

        metric_put_number(r->out, dse_arena_printf(x->arena, "%s_time_ms", compat_name[c]), us / 1000);
        guide_put_round(r->out, dse_arena_printf(x->arena, "%s_percentage", compat_name[c]),
                        guide_percent(us, all));
        metric_put_integer(r->out, dse_arena_printf(x->arena, "%s_count", compat_name[c]), s[c].n);
    }
    metric_put_number(r->out, "fsdp_total_time_ms", fsdp / 1000);
    guide_put_round(r->out, "fsdp_total_percentage", guide_percent(fsdp, all));
    guide_put_round(r->aside, "fsdp_percentage", guide_percent(fsdp, all));
    metric_put_number(r->out, "pure_training_time_ms",
                      guide_us(s[C_FORWARD].sum_ps + s[C_BACKWARD].sum_ps + s[C_OPTIMIZER].sum_ps) / 1000);
    return true;
}

static void training_phases_compat(const metric_context *x, metric_value *out)
{
    static const char *const means[] = {"forward_time_ms",     "forward_percentage", "backward_time_ms",
                                        "backward_percentage", "optimizer_time_ms",  "optimizer_percentage",
                                        "fsdp_total_time_ms",  "fsdp_percentage",    "other_time_ms",
                                        "other_percentage"};
    guide_ranks ranks = guide_measure(x, out, measure_compat, 0);

    for (size_t i = 0; i < DSE_COUNT(means); i++)
        guide_put_mean(&ranks, means[i], NULL, out);
    put_layers(&ranks, out);
    guide_put_ranks(&ranks, "per_rank_stats", out);
}

static const metric rows[] = {
    {METRIC_ROW(
         "training_phases", "guide", "", METRIC_ON_HOST, METRIC_NEEDS_STEPS | METRIC_NEEDS_TRAINING,
         "a step's time divided into forward, backward, optimizer and other, on the host and of the GPU"),
     .compute = training_phases, .compat_put = training_phases_compat},
};

METRIC_FAMILY(training_phases);
