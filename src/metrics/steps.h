/* Steps of a rank: the profiler's step markers, host side. */
#ifndef DSE_METRICS_STEPS_H
#define DSE_METRICS_STEPS_H

#include "metrics/context.h"
#include "metrics/pick.h"

/* All steps but the first and the last where there are more than two. */
metric_steps metric_steps_inner(const metric_steps *all);

/* The steps of a view that count: all, or with --trim the inner ones. */
metric_steps metric_steps_kept(const metric_view *v, bool trim);

/* Picked events as steps with their lanes, in the arena; a step's number is its event's. */
metric_steps metric_steps_of_picked(const metric_picked *p, dse_arena *a);

/* Keeps the steps during which a device of an XLA trace worked, if it has any: an idle engine steps all the
 * same, it polls. */
void metric_steps_drop_polls(metric_steps *s, const metric_view *v, dse_arena *a);

/* The time of these steps, in the arena. */
metric_spans metric_steps_time(const metric_view *v, bool trim, dse_arena *a);

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
