/* Time of steps. */
#include "metrics/steps.h"
#include "metrics/metric.h"

#include "metrics/numbers.h"
#include "metrics/order.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- steps ---------------------------------------------------------------------------------- */

metric_steps metric_steps_inner(const metric_steps *all)
{
    return all->n > 2 ? (metric_steps){all->n - 2, all->step + 1} : *all;
}

metric_steps metric_steps_kept(const metric_view *v, bool trim)
{
    const metric_steps all = {v->n_steps, v->step};

    return trim ? metric_steps_inner(&all) : all;
}

static bool is_profiler_step(const char *name)
{
    size_t n = strlen(METRIC_STEP_PREFIX);

    return metric_begins(name, METRIC_STEP_PREFIX) && name[n] && !name[n + strspn(name + n, "0123456789")];
}

static bool is_engine_step(const char *name)
{
    static const char file[] = "$core.py:";

    if (!metric_begins(name, file) || !isdigit((unsigned char)name[sizeof file - 1]))
        return false;
    name += sizeof file - 1;
    name += strspn(name, "0123456789");
    return metric_begins(name, " step") || strcmp(name, " _process_engine_step") == 0;
}

static bool is_engine_line(const char *name) { return strcmp(name, METRIC_ENGINE_LINE) == 0; }

const metric_pick metric_mark_pick[METRIC_MARKS] = {
    [METRIC_MARK_PROFILER] = METRIC_PICK(0, {.categories = 1 << TRACE_ANNOTATION, .is = is_profiler_step}),
    [METRIC_MARK_VLLM] =
        METRIC_PICK(0, {.categories = 1 << TRACE_ANNOTATION, .names = "=^" METRIC_VLLM_PREFIX}),
    [METRIC_MARK_SGLANG] =
        METRIC_PICK(0, {.categories = 1 << TRACE_PYTHON, .names = "=^run_batch$|=: run_batch$"}),
    [METRIC_MARK_RUN_BATCH] = METRIC_PICK(0, {.categories = 1 << TRACE_PYTHON, .names = "=<run_batch>"}),
    [METRIC_MARK_ENGINE] = METRIC_PICK(0, {.is = is_engine_step}),
    [METRIC_MARK_ENGINE_LINE] = METRIC_PICK(0, {.is = is_engine_line}),
    [METRIC_MARK_TRAIN] = METRIC_PICK(0, {.names = "=^jit_train_step"}),
    [METRIC_MARK_STEP_MARKER] = METRIC_PICK(0, {.names = "=^StepMarker$"})};

metric_steps metric_marked_steps(const trace_rank *r, metric_mark mark, dse_arena *a)
{
    const metric_picked p = metric_pick_of(r, NULL, &metric_mark_pick[mark], a);
    metric_steps s = {p.list.n, DSE_ARENA_NEW(a, metric_step, p.list.n)};

    for (uint32_t i = 0; i < s.n; i++) {
        const trace_event *e = metric_picked_at(&p, i);

        s.step[i] = (metric_step){p.list.event[i], {metric_start(e), metric_end(e)}, e->lane};
    }
    return s;
}

void metric_steps_drop_polls(metric_steps *s, const metric_view *v, dse_arena *a)
{
    metric_spans work = tpu_host_time(&v->tpu, v->rank, a);
    uint32_t kept = 0;

    for (uint32_t i = 0; work.n && i < s->n; i++)
        if (metric_spans_within(&work, s->step[i].span.start, s->step[i].span.end) > 0)
            s->step[kept++] = s->step[i];
    s->n = work.n ? kept : s->n;
}

metric_spans metric_steps_time(const metric_view *v, bool trim, dse_arena *a)
{
    metric_steps kept = metric_steps_kept(v, trim);
    metric_span *span = DSE_ARENA_NEW(a, metric_span, kept.n);

    for (uint32_t i = 0; i < kept.n; i++)
        span[i] = kept.step[i].span;
    return metric_spans_merge_any(span, kept.n);
}

double metric_steps_hold(const metric_steps *steps, const metric_spans *time)
{
    double ps = 0;

    for (uint32_t i = 0; i < steps->n; i++)
        ps += (double)metric_spans_within(time, steps->step[i].span.start, steps->step[i].span.end);
    return ps;
}

metric_span metric_steps_window(const metric_view *v, bool trim)
{
    metric_steps kept = metric_steps_kept(v, trim);
    metric_span window = METRIC_NO_SPAN;

    for (uint32_t i = 0; i < kept.n; i++)
        metric_span_extend(&window, kept.step[i].span.start, kept.step[i].span.end);
    return kept.n ? window : (metric_span){0, 0};
}

double metric_step_mean_ps(const metric_view *v, bool trim)
{
    metric_steps kept = metric_steps_kept(v, trim);
    double sum = 0;

    for (uint32_t i = 0; i < kept.n; i++)
        sum += (double)(kept.step[i].span.end - kept.step[i].span.start);
    return kept.n ? sum / kept.n : NAN;
}

double metric_step_mean_s(const metric_context *x, bool trim)
{
    double sum = 0;

    for (uint32_t i = 0; i < x->n_views; i++)
        sum += metric_step_mean_ps(&x->view[i], trim);
    return sum / x->n_views / TRACE_PS_PER_S;
}

/* ---- iter_time ------------------------------------------------------------------------------ */

static void put_summary(const double *ms, uint32_t n, metric_value *out)
{
    metric_summary s = n ? metric_summarise(ms, n) : (metric_summary){0};

    metric_put_number(out, "avg_iter_time_ms", s.mean);
    metric_put_number(out, "min_iter_time_ms", s.min);
    metric_put_number(out, "max_iter_time_ms", s.max);
    metric_put_number(out, "std_iter_time_ms", s.deviation);
    metric_put_integer(out, "num_iterations", n);
}

static void put_list(const double *ms, uint32_t n, metric_value *out)
{
    metric_value *list = metric_put_list(out, "iter_times_ms");

    for (uint32_t i = 0; i < n; i++)
        metric_put_number(list, NULL, ms[i]);
}

static void iter_time(const metric_context *x, metric_value *out)
{
    metric_value *mean = metric_put_number(out, "avg_iter_time_ms", 0),
                 *ranks = metric_put_object(out, "per_rank");
    double mean_ps = 0;

    for (const metric_view *v = x->view; v < x->view + x->n_views; v++) {
        const metric_steps kept = metric_steps_kept(v, x->options->trim);
        double *ms = DSE_ARENA_NEW(x->arena, double, kept.n);
        metric_value *rank = metric_put_rank(ranks, v->rank);

        for (uint32_t i = 0; i < kept.n; i++)
            ms[i] = (double)(kept.step[i].span.end - kept.step[i].span.start) / TRACE_PS_PER_MS;
        put_summary(ms, kept.n, rank);
        metric_put_integer(rank, "gpu_side_step_events_ignored", v->n_gpu_steps);
        put_list(ms, kept.n, rank);
        mean_ps += metric_step_mean_ps(v, x->options->trim) / x->n_views;
    }
    mean->number = mean_ps / TRACE_PS_PER_MS;
}

/* ---- as the original tool has it ------------------------------------------------------------ */

/* The last key is the place in the file, which equal steps keep. */
METRIC_COMPARE(by_start, metric_step, {x->span.start, y->span.start}, {x->lane, y->lane})

METRIC_COMPARE(by_number, metric_step, {x->number, y->number}, {x->lane, y->lane})

/* Every event named ProfilerStep#..., whatever its category: newer profilers repeat steps on the GPU's
 * side. */
static const metric_pick step_names =
    METRIC_PICK(METRIC_TIMED | METRIC_INSTANTS, {.names = "=^" METRIC_STEP_PREFIX});

/* The durations of steps in the order of start; if none lasts, the differences of the starts of those with a
 * number in the order of numbers. */
static uint32_t times_of(const trace_rank *r, dse_arena *a, double **ms)
{
    const metric_picked p = metric_pick_of(r, NULL, &step_names, a);
    metric_step *step = DSE_ARENA_NEW(a, metric_step, p.list.n);
    uint32_t kept = 0, times = 0;
    bool timed = false;

    *ms = DSE_ARENA_NEW(a, double, p.list.n);
    for (uint32_t i = 0; i < p.list.n; i++)
        timed = timed || metric_picked_at(&p, i)->dur_ps > 0;
    for (uint32_t i = 0; i < p.list.n; i++) {
        const trace_event *e = metric_picked_at(&p, i);
        const char *number = METRIC_TEXT_OF(r, e) + strlen(METRIC_STEP_PREFIX);
        char *end;

        step[kept] = (metric_step){strtoll(number, &end, 10), {metric_start(e), metric_end(e)}, i};
        kept += timed ? e->dur_ps > 0 : end != number && !*end;
    }
    qsort(step, kept, sizeof *step, timed ? by_start : by_number);
    for (uint32_t i = timed ? 0 : 1; i < kept; i++) {
        const metric_span *s = &step[i].span;

        (*ms)[times++] =
            (double)(timed ? s->end - s->start : s->start - step[i - 1].span.start) / TRACE_PS_PER_MS;
    }
    return times;
}

static void iter_time_compat(const metric_context *x, metric_value *out)
{
    uint32_t n = 0;
    double *ms = NULL;

    for (uint32_t i = 0; i < x->n_views && !n; i++)
        n = times_of(x->view[i].rank, x->arena, &ms);
    put_summary(ms, n, out);
    put_list(ms, n, out);
}

static const metric rows[] = {
    {METRIC_ROW("iter_time", "kineto", "", METRIC_ON_GPU, METRIC_NEEDS_STEPS,
                "time of a step: mean over ranks of each rank's mean; per rank mean, extremes, deviation and "
                "every step"),
     .put = iter_time, METRIC_ENTRY("avg_iter_time_ms", "ms", METRIC_LOWER, METRIC_STEP_TOLERANCE),
     .compat_put = iter_time_compat, .compat_kinds = METRIC_ON_HOST},
};

METRIC_FAMILY(steps);
