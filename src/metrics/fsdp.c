/* The cost of fully sharded data parallelism: the share of a step in which its ranges are open on the host,
 * by range.
 *
 * Ranges nest (pre_forward holds all_gather holds copy_in), so each instant counts for the innermost range:
 * its own time. GPU time is the union of the kernels launched while a class is innermost. The original adds
 * up nested ranges, of the whole recording; without FSDP everything is 0.
 *
 * Source: PyTorch's FSDP2 ranges ("FSDP::all_gather (layers.26)"), and CCL-Bench's tools/fsdp/metric.py at
 * 33ae115 for their classes and the order of these. */
#include "base/array.h"
#include "metrics/guide.h"
#include "metrics/metric.h"
#include "metrics/nest.h"
#include "metrics/order.h"
#include "metrics/steps.h"
#include "metrics/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names --------------------------------------------------------------------------------- */

/* In the order of the tests. */
typedef enum {
    FSDP_ALL_GATHER,
    FSDP_REDUCE_SCATTER,
    FSDP_RESHARD,
    FSDP_PREFETCH,
    FSDP_COPY_IN,
    FSDP_COPY_OUT,
    FSDP_PRE_FORWARD,
    FSDP_POST_FORWARD,
    FSDP_PRE_BACKWARD,
    FSDP_POST_BACKWARD,
    FSDP_ACCUMULATE,
    FSDP_OTHER,
    FSDP_CLASSES
} fsdp_class;

#define PREFIX "FSDP::"
#define BLANKS " \t\n\r\f\v"

/* "all_gather" */
static const char *const class_name[FSDP_CLASSES] = {
    "all_gather",  "reduce_scatter", "reshard",      "prefetch",      "copy_in",    "copy_out",
    "pre_forward", "post_forward",   "pre_backward", "post_backward", "accumulate", "other_fsdp"};

/* With parentheses that hold something behind it, and blanks at most between: FSDP::all_gather (layers.0). */
static bool is_all_gather(const char *name)
{
    static const char word[] = PREFIX "all_gather";

    for (name = strstr(name, word); name; name = strstr(name + 1, word)) {
        const char *at = name + sizeof word - 1;

        at += strspn(at, BLANKS);
        if (*at == '(' && at[1] != ')' && strchr(at, ')'))
            return true;
    }
    return false;
}

#define PICK(HOST)                                                                                           \
    METRIC_PICK(                                                                                             \
        0, {FSDP_ALL_GATHER, HOST, .is = is_all_gather},                                                     \
        {FSDP_REDUCE_SCATTER, HOST, .names = "=" PREFIX "reduce_scatter|=" PREFIX "post_backward_reduce"},   \
        {FSDP_RESHARD, HOST, .names = "=" PREFIX "*reshard"},                                                \
        {FSDP_PREFETCH, HOST, .names = "=" PREFIX "*prefetch"},                                              \
        {FSDP_COPY_IN, HOST, .names = "=fsdp::all_gather_copy_in|=" PREFIX "all_gather_copy_in"},            \
        {FSDP_COPY_OUT, HOST, .names = "=" PREFIX "all_gather_copy_out"},                                    \
        {FSDP_PRE_FORWARD, HOST, .names = "=" PREFIX "pre_forward"},                                         \
        {FSDP_POST_FORWARD, HOST, .names = "=" PREFIX "post_forward"},                                       \
        {FSDP_PRE_BACKWARD, HOST, .names = "=" PREFIX "pre_backward"},                                       \
        {FSDP_POST_BACKWARD, HOST, .names = "=" PREFIX "post_backward!_reduce!_reshard!_accumulate"},        \
        {FSDP_ACCUMULATE, HOST, .names = "=" PREFIX "post_backward_accumulate"},                             \
        {FSDP_OTHER, HOST, .names = "=" PREFIX "|=fsdp::"})

/* Ranges of the host by class; as the original finds them. */
static const metric_pick fsdp_ranges = PICK(.categories = 1 << TRACE_CPU_OP | 1 << TRACE_ANNOTATION),
                         compat_ranges = PICK(.words = "user_annotation|cpu_op");

/* ---- layers -------------------------------------------------------------------------------- */

/* Adds a range of this name to the time of its layer: the text in the first parentheses that hold any, without
 * blanks around it. */
static void add_to_layer(tally *layers, const char *name, int64_t time_ps)
{
    const char *open = strchr(name, '('), *end, *text;

    while (open && open[1] == ')')
        open = strchr(open + 1, '(');
    if (!open || !(end = strchr(open, ')')))
        return;
    open++;
    while (open < end && strchr(BLANKS, *open))
        open++;
    while (end > open && strchr(BLANKS, end[-1]))
        end--;
    if (end == open)
        return;
    text = dse_arena_strndup(layers->arena, open, (size_t)(end - open));
    tally_add(tally_at(layers, text, text, ""), time_ps);
}

/* In the order of reports: layers.<n> by number, then the others by text. */
static int by_layer(const void *a, const void *b)
{
    const tally_row *x = a, *y = b;
    const uint64_t m = guide_layer_of(x->name), n = guide_layer_of(y->name);

    if (m != n)
        return m < n ? -1 : 1;
    if (m == GUIDE_NO_LAYER && strcmp(x->name, y->name) != 0)
        return strcmp(x->name, y->name);
    return METRIC_ORDER({x->first, y->first});
}

/* Times of a step. */
static void put_layers(tally_rows *layers, bool compat, uint32_t n_steps, metric_value *to)
{
    tally_sort(layers, by_layer);
    for (size_t i = 0; i < layers->n; i++) {
        const tally_row *row = &layers->row[i];
        metric_value *o = metric_put_object(to, row->name);

        if (compat)
            metric_put_count(o, "count", row->n);
        else
            metric_put_number(o, "count_per_step", (double)row->n / n_steps);
        metric_put_number(o, compat ? "total_time_ms" : "self_time_ms", guide_us(row->ps) / 1000 / n_steps);
    }
}

/* ---- ranges -------------------------------------------------------------------------------- */

/* The ranges of the steps, each with the one around it; by place their classes, and the time in the steps in
 * which they are the innermost of their thread (as ranges of one thread nest: of two that only overlap, both
 * have what they share). */
typedef struct {
    metric_nest nest;
    uint8_t *class;
    int64_t *own_ps;
} ranges;

static ranges find_ranges(const trace_rank *r, const metric_spans *steps, dse_arena *a)
{
    metric_picked p = metric_pick_of(r, NULL, &fsdp_ranges, a);
    metric_picker picker = metric_picker_of(r, &fsdp_ranges, a);
    metric_events in = {0};
    ranges out;

    metric_room(&in, p.list.n, a);
    for (uint32_t i = 0; i < p.list.n; i++) { /* in part at least */
        const trace_event *e = metric_picked_at(&p, i);

        if (metric_spans_at(steps, metric_start(e)) ||
            metric_spans_within(steps, metric_start(e), metric_end(e)) > 0)
            in.event[in.n++] = p.list.event[i];
    }
    out =
        (ranges){metric_nest_of(r, &in, a), DSE_ARENA_NEW(a, uint8_t, in.n), DSE_ARENA_NEW(a, int64_t, in.n)};
    for (uint32_t i = 0; i < in.n; i++) {
        const metric_nested *item = &out.nest.item[i];
        const int64_t ps = metric_spans_within(steps, item->start, item->end);

        out.class[i] = metric_picker_ask(&picker, &r->event[item->event]);
        out.own_ps[i] += ps;
        if (item->outer != DSE_NONE)
            out.own_ps[item->outer] -= ps;
    }
    return out;
}

/* Time of the steps in which any range is open. */
static int64_t open_ps(const ranges *r, const metric_spans *steps, dse_arena *a)
{
    metric_span *span = DSE_ARENA_NEW(a, metric_span, r->nest.n);
    metric_spans all;

    for (uint32_t i = 0; i < r->nest.n; i++)
        span[i] = (metric_span){r->nest.item[i].start, r->nest.item[i].end};
    all = metric_spans_merge_any(span, r->nest.n);
    return metric_spans_overlap(&all, steps);
}

/* ---- the GPU's time ------------------------------------------------------------------------ */

/* The class of the innermost range at a time; FSDP_CLASSES: of none. */
static uint8_t class_at(const ranges *r, uint32_t lane, int64_t at)
{
    uint32_t i = metric_nest_at(&r->nest, lane, at);

    while (i != DSE_NONE && r->nest.item[i].end <= at)
        i = r->nest.item[i].outer;
    return i == DSE_NONE ? FSDP_CLASSES : r->class[i];
}

/* GPU time, by class, of the kernels that are launched in the steps. Returns whether any launch is known. */
static bool gpu_times(const metric_view *v, const metric_spans *steps, const ranges *r, dse_arena *a,
                      int64_t ps[FSDP_CLASSES + 1])
{
    uint8_t *class = DSE_ARENA_NEW(a, uint8_t, v->kernels.n);
    bool any = false;

    for (uint32_t i = 0; i < v->kernels.n; i++) {
        const trace_event *launch = v->launch[i] == DSE_NONE ? NULL : &v->rank->event[v->launch[i]];

        any = any || launch;
        class[i] = launch && metric_spans_at(steps, launch->start_ps)
                       ? class_at(r, launch->lane, launch->start_ps)
                       : FSDP_CLASSES;
    }
    metric_class_lengths(v->rank, &v->kernels, class, FSDP_CLASSES + 1, ps);
    return any;
}

/* ---- the result ---------------------------------------------------------------------------- */

static const char no_launches[] = "the trace does not say which host call launched a kernel";

/* What a class costs in a step. */
typedef struct {
    double n, own_ms;
} class_cost;

/* Puts a rank's times of a step. */
static bool measure(const metric_context *x, const guide_rank *r, dse_arena *a)
{
    const uint32_t n_steps = metric_steps_kept(r->view, x->options->trim).n;
    const double each = (double)TRACE_PS_PER_MS * n_steps;
    const metric_spans steps = metric_steps_time(r->view, x->options->trim, a);
    const ranges found = find_ranges(r->rank, &steps, a);
    const double step_ms = (double)metric_spans_length(&steps) / each,
                 fsdp_ms = (double)open_ps(&found, &steps, a) / each;
    int64_t gpu_ps[FSDP_CLASSES + 1];
    const bool has_launches = gpu_times(r->view, &steps, &found, a, gpu_ps);
    class_cost class[FSDP_CLASSES] = {{0}};
    metric_value *operations, *o;
    tally layers = {.arena = a};
    tally_rows rows;

    for (uint32_t i = 0; i < found.nest.n; i++) {
        class[found.class[i]].n += 1.0 / n_steps;
        class[found.class[i]].own_ms += (double)found.own_ps[i];
        add_to_layer(&layers, METRIC_TEXT_OF(r->rank, &r->rank->event[found.nest.item[i].event]),
                     found.own_ps[i]);
    }
    for (int c = 0; c < FSDP_CLASSES; c++)
        class[c].own_ms /= each;
    rows = tally_end(&layers);
    metric_put_integer(r->aside, "ranges", found.nest.n);
    metric_put_number(r->out, "step_time_ms", step_ms);
    metric_put_number(r->out, "fsdp_time_ms", fsdp_ms);
    metric_put_number(r->out, "fsdp_overhead_percentage", 100 * fsdp_ms / step_ms);
    metric_put_number(r->out, "communication_time_ms",
                      class[FSDP_ALL_GATHER].own_ms + class[FSDP_REDUCE_SCATTER].own_ms);
    metric_put_number(r->out, "copy_overhead_ms", class[FSDP_COPY_IN].own_ms + class[FSDP_COPY_OUT].own_ms);
    operations = metric_put_object(r->out, "operation_breakdown");
    for (int c = 0; c < FSDP_CLASSES; c++) {
        if (!(class[c].n > 0))
            continue;
        o = metric_put_object(operations, class_name[c]);
        metric_put_number(o, "count_per_step", class[c].n);
        metric_put_number(o, "self_time_ms", class[c].own_ms);
        guide_put_percent(o, "percentage_of_fsdp", class[c].own_ms, fsdp_ms, "FSDP takes no time");
        metric_put_number_or(o, "gpu_time_ms",
                             has_launches ? guide_us(gpu_ps[c]) / 1000 / n_steps : (double)NAN, no_launches);
    }
    metric_put_count(r->out, "num_layers", rows.n);
    put_layers(&rows, false, n_steps, metric_put_object(r->out, "layer_breakdown"));
    return true;
}

/* Over ranks. */
static const guide_figure figures[] = {
    {"count_per_step", "avg_count_per_step", GUIDE_MEAN, 0, NULL},
    {"self_time_ms", "avg_self_time_ms", GUIDE_MEAN, 0, NULL},
    {"self_time_ms", "min_self_time_ms", GUIDE_LEAST, 0, NULL},
    {"self_time_ms", "max_self_time_ms", GUIDE_MOST, 0, NULL},
    {"gpu_time_ms", "avg_gpu_time_ms", GUIDE_MEAN, 0, no_launches},
};

static void put_means(const guide_ranks *ranks, metric_value *out)
{
    guide_put_mean(ranks, "fsdp_overhead_percentage", NULL, out);
    guide_put_mean(ranks, "fsdp_time_ms", NULL, out);
    guide_put_mean(ranks, "communication_time_ms", NULL, out);
    guide_put_mean(ranks, "copy_overhead_ms", NULL, out);
}

static dse_status fsdp(const metric_context *x, metric_value *out, dse_error *err)
{
    guide_ranks ranks = guide_measure(x, out, measure, 0);

    if (!(guide_sum(&ranks, "ranges") > 0))
        return metric_absent(err, "no FSDP range (FSDP::..., fsdp::...) in the steps: the run does not shard "
                                  "its weights with FSDP2, or its ranges were not recorded");
    put_means(&ranks, out);
    guide_put_classes(&ranks, "operation_breakdown", class_name, FSDP_CLASSES, figures, DSE_COUNT(figures),
                      metric_put_object(out, "operation_breakdown"));
    guide_put_ranks(&ranks, NULL, out);
    return DSE_OK;
}

/* ---- as the original ----------------------------------------------------------------------- */

static bool measure_compat(const metric_context *x, const guide_rank *r, dse_arena *a)
{
    metric_picked p = metric_pick_of(r->rank, NULL, &compat_ranges, a);
    metric_sums class[FSDP_CLASSES] = {{0}};
    const double recording_us = guide_recording_us(r->rank);
    metric_value *operations, *o;
    tally layers = {.arena = a};
    int64_t sum_ps = 0;
    double fsdp_us;
    tally_rows rows;

    (void)x;
    metric_picked_sum(&p, class);
    for (uint32_t i = 0; i < p.list.n; i++)
        add_to_layer(&layers, METRIC_TEXT_OF(r->rank, metric_picked_at(&p, i)),
                     metric_picked_at(&p, i)->dur_ps);
    rows = tally_end(&layers);
    for (int c = 0; c < FSDP_CLASSES; c++)
        sum_ps += class[c].sum_ps;
    fsdp_us = guide_us(sum_ps);
    metric_put_number(r->aside, "fsdp_time_ms", fsdp_us / 1000);
    metric_put_number(r->out, "total_fsdp_time_ms", fsdp_us / 1000);
    metric_put_number(r->out, "total_trace_time_ms", recording_us / 1000);
    guide_put_round(r->out, "fsdp_overhead_percentage", guide_percent(fsdp_us, recording_us));
    metric_put_number(r->out, "communication_time_ms",
                      guide_us(class[FSDP_ALL_GATHER].sum_ps + class[FSDP_REDUCE_SCATTER].sum_ps) / 1000);
    metric_put_number(r->out, "copy_overhead_ms",
                      guide_us(class[FSDP_COPY_IN].sum_ps + class[FSDP_COPY_OUT].sum_ps) / 1000);
    operations = metric_put_object(r->out, "operation_breakdown");
    for (int c = 0; c < FSDP_CLASSES; c++)
        if ((o = guide_put_sums(operations, class_name[c], &class[c], false)))
            guide_put_round(o, "percentage_of_fsdp", guide_percent(guide_us(class[c].sum_ps), fsdp_us));
    put_layers(&rows, true, 1, metric_put_object(r->out, "layer_breakdown"));
    metric_put_count(r->out, "num_layers", rows.n);
    return true;
}

/* Over ranks, in the order of the alphabet. */
static const char *const by_alphabet[FSDP_CLASSES] = {
    "accumulate",   "all_gather",   "copy_in",     "copy_out", "other_fsdp",     "post_backward",
    "post_forward", "pre_backward", "pre_forward", "prefetch", "reduce_scatter", "reshard"};
static const guide_figure compat_figures[] = {{"count", "avg_count", GUIDE_MEAN, 1, NULL},
                                              {"total_time_ms", "avg_time_ms", GUIDE_MEAN, 2, NULL},
                                              {"total_time_ms", "min_time_ms", GUIDE_LEAST, 2, NULL},
                                              {"total_time_ms", "max_time_ms", GUIDE_MOST, 2, NULL}};

static void fsdp_compat(const metric_context *x, metric_value *out)
{
    guide_ranks ranks = guide_measure(x, out, measure_compat, 0);

    put_means(&ranks, out);
    guide_put_classes(&ranks, "operation_breakdown", by_alphabet, FSDP_CLASSES, compat_figures,
                      DSE_COUNT(compat_figures), metric_put_object(out, "operation_breakdown"));
    guide_put_ranks(&ranks, "per_rank_stats", out);
}

static const metric rows[] = {
    {METRIC_ROW("fsdp", "guide", "", METRIC_ON_HOST, METRIC_NEEDS_STEPS,
                "cost of fully sharded data parallelism: share of the step, own time and GPU time of each "
                "operation"),
     .compute = fsdp, .compat_put = fsdp_compat},
};

METRIC_FAMILY(fsdp);
