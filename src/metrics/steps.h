/* Steps of a rank: the profiler's step markers, host side. */
#ifndef DSE_METRICS_STEPS_H
#define DSE_METRICS_STEPS_H

#include "metrics/context.h"
#include "metrics/pick.h"

/* All steps but the first and the last where there are more than two. */
metric_steps metric_steps_inner(const metric_steps *all);

/* The steps of a view that count: all, or with --trim the inner ones. */
metric_steps metric_steps_kept(const metric_view *v, bool trim);

/* What marks a step, a forward pass or an engine's step in a trace, by its name. On a TPU a tracer of Python
 * gives file and line ("$core.py:331 step_with_batch_queue", the line being that of one version of the
 * engine), of which _LINE is the one that the original tools look for. */
typedef enum {
    METRIC_MARK_PROFILER,    /* ProfilerStep#<n> */
    METRIC_MARK_VLLM,        /* execute_context_* */
    METRIC_MARK_SGLANG,      /* run_batch, "scheduler.py(1234): run_batch" */
    METRIC_MARK_RUN_BATCH,   /* run_batch as a word anywhere in the name, as compute_comm_overlap takes it */
    METRIC_MARK_ENGINE,      /* the engine core's steps */
    METRIC_MARK_ENGINE_LINE, /* METRIC_ENGINE_LINE */
    METRIC_MARK_TRAIN,       /* jit_train_step* */
    METRIC_MARK_STEP_MARKER, /* StepMarker */
    METRIC_MARKS
} metric_mark;
extern const metric_pick metric_mark_pick[METRIC_MARKS];

#define METRIC_VLLM_PREFIX "execute_context_"
#define METRIC_ENGINE_LINE "$core.py:331 step"

/* The steps of a mark in the order of the file, with their lanes, in the arena; a step's number is its
 * event's. */
metric_steps metric_marked_steps(const trace_rank *r, metric_mark mark, dse_arena *a);

/* Keeps the steps during which a device of an XLA trace worked, if it has any: an idle engine steps all the
 * same, it polls. */
void metric_steps_drop_polls(metric_steps *s, const metric_view *v, dse_arena *a);

/* The time of these steps, in the arena. */
metric_spans metric_steps_time(const metric_view *v, bool trim, dse_arena *a);

/* How much of a time lies in these steps, in ps; twice what two of them share. */
double metric_steps_hold(const metric_steps *steps, const metric_spans *time);

/* The window from the earliest start to the latest end of these steps; numbers may begin again in a
 * recording. Empty (0, 0) if there are none. */
metric_span metric_steps_window(const metric_view *v, bool trim);

/* Mean time of one; NaN: there are none. */
double metric_step_mean_ps(const metric_view *v, bool trim);

/* Mean over ranks of that, in seconds; NaN if a rank has no steps. */
double metric_step_mean_s(const metric_context *x, bool trim);

/* The reason and remedy of what lacks steps. */
#define METRIC_NO_STEPS                                                                                      \
    "a rank has no step markers (ProfilerStep#); record with a schedule and profiler.step()"

#endif
