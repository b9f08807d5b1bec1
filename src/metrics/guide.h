/* guide -- what the nine tools of the metrics guide have in common: how the originals go through the ranks,
 * what they call one, how they take means, and names that are classified once each.
 *
 * Source: CCL-Bench's tools of the guide (tools/<tool>/metric.py at 33ae115), read for their rules. They
 * count in doubles of microseconds; where the trace has whole microseconds, as theirs have, so do the figures
 * here, to the last bit. */
#ifndef DSE_METRICS_GUIDE_H
#define DSE_METRICS_GUIDE_H

#include "metrics/classes.h"
#include "metrics/context.h"
#include "metrics/numbers.h"

/* A rank as the originals call it. */
typedef struct {
    const metric_view *view;
    const trace_rank *rank;
    const char *label; /* what the originals call it: their file's name without .json */
} guide_rank;

typedef struct {
    uint32_t n;
    guide_rank *rank;
} guide_ranks;

/* All ranks of the context, ascending. In the arena of x. */
guide_ranks guide_ranks_of(const metric_context *x);

/* The same in the order of the labels, which is that of the originals: rank10_trace stands before
 * rank1_trace. A file that the originals would not take as it is (compressed, of several ranks, another name)
 * is called rank<n>_trace. */
guide_ranks guide_ranks_compat(const metric_context *x);

/* ---- events as the originals see them ------------------------------------------------------- */

/* From the first start to the last end of all events, in microseconds; 0 if there are none. */
double guide_recording_us(const trace_rank *r);

/* Union of those events of a list whose category is literally one of the words; *n counts the ones that
 * last. */
void guide_union_of(const trace_rank *r, const metric_events *list, const metric_words *words, dse_arena *a,
                    metric_spans *out, uint32_t *n);

/* The time of the steps that count (steps.h); *n of them. In the arena. */
metric_spans guide_steps_of(const metric_view *v, bool trim, dse_arena *a, uint32_t *n);

static inline double guide_us(int64_t ps) { return (double)ps / TRACE_PS_PER_US; }

/* ---- figures -------------------------------------------------------------------------------- */

/* Mean of one double of each of n rows, in their order; 0 if there are none. */
double guide_mean(const double *first, size_t n, size_t stride);
#define GUIDE_MEAN(rows, n, field) guide_mean(&(rows)->field, (n), sizeof *(rows))

/* Percent that part is of whole; 0 of nothing, as the originals say. */
static inline double guide_percent(double part, double whole) { return whole > 0 ? part / whole * 100 : 0; }

/* Percent of a whole, absent with the reason if the whole is 0: the definitions' way. */
metric_value *guide_put_percent(metric_value *to, const char *key, double part, double whole,
                                const char *why);

/* Rounded to two decimals. */
metric_value *guide_put_round(metric_value *to, const char *key, double v);

/* Mean over those of n numbers that are not NaN; absent with the reason if all are. */
metric_value *guide_put_mean(metric_value *to, const char *key, const double *first, size_t n, size_t stride,
                             const char *why);
#define GUIDE_PUT_MEAN(to, key, rows, n, field, why)                                                         \
    guide_put_mean((to), (key), &(rows)->field, (n), sizeof *(rows), (why))

#define GUIDE_NO_STEPS "no step markers (ProfilerStep#)"

#endif
