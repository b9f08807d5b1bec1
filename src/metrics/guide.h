/* guide -- what the nine tools of the metrics guide have in common: how the originals go through the ranks,
 * what they call one, how they take means.
 *
 * Source: CCL-Bench's tools of the guide (tools/<tool>/metric.py at 33ae115), read for their rules. They
 * count in doubles of microseconds; where the trace has whole microseconds, as theirs have, so do the figures
 * here, to the last bit. */
#ifndef DSE_METRICS_GUIDE_H
#define DSE_METRICS_GUIDE_H

#include "metrics/context.h"
#include "metrics/numbers.h"
#include "metrics/pick.h"

/* A rank, and what a metric says of it. */
typedef struct {
    const metric_view *view;
    const trace_rank *rank;
    const char *label;   /* what the originals call it: their file's name without .json */
    void *own;           /* the metric's, zeroed */
    metric_value *out;   /* its entries in the result */
    metric_value *aside; /* figures that are not, of which sums and means over ranks are taken */
} guide_rank;

typedef struct {
    const metric_context *x;
    uint32_t n;
    guide_rank *rank;
    const char *left_out; /* the first that was; NULL: none was */
} guide_ranks;

/* Puts the entries of a rank; false: the rank is left out. scratch is emptied for each. */
typedef bool guide_measure_fn(const metric_context *x, const guide_rank *r, dse_arena *scratch);

/* All ranks of the context, ascending; under --compat in the order of the labels, which is that of the
 * originals: rank10_trace stands before rank1_trace. (A file that the originals would not take as it is,
 * compressed, of several ranks or of another name, is called rank<n>_trace.) own_size: of what `own`
 * points to. */
guide_ranks guide_measure(const metric_context *x, metric_value *out, guide_measure_fn *measure,
                          size_t own_size);

/* How many ranks there are, and the entries of each: "per_rank"; under --compat a list, in which each has its
 * label. */
void guide_put_ranks(const guide_ranks *ranks, const char *compat_key, metric_value *out);

/* ---- events as the originals see them ------------------------------------------------------- */

/* From the first start to the last end of all events, in microseconds; 0 if there are none. */
double guide_recording_us(const trace_rank *r);

/* The number behind the first "layers." in a name that has one: 26 of "FSDP::all_gather (layers.26)". */
#define GUIDE_NO_LAYER UINT64_MAX
uint64_t guide_layer_of(const char *name);

static inline double guide_us(int64_t ps) { return (double)ps / TRACE_PS_PER_US; }

/* ---- figures -------------------------------------------------------------------------------- */

/* A figure of each rank, which it put aside or into its entries, in their order and in the arena of the
 * context; NaN: it has none. */
double *guide_figures(const guide_ranks *ranks, const char *key);

/* Sum and mean over the ranks that have the figure; NaN: none has. */
double guide_sum(const guide_ranks *ranks, const char *key);
double guide_mean(const guide_ranks *ranks, const char *key);

/* That mean as "avg_<key>", to two decimals under --compat; absent with the reason if no rank has the
 * figure. */
void guide_put_mean(const guide_ranks *ranks, const char *key, const char *why, metric_value *out);

/* A figure over all ranks, of which those without it count as 0, of each class of an object of classes. */
typedef struct {
    const char *of, *key; /* the figure of a rank, and what it is called over ranks */
    enum { GUIDE_MEAN, GUIDE_LEAST, GUIDE_MOST } fold;
    int digits;      /* to which it is rounded; 0: it is not */
    const char *why; /* it is absent if no rank has it; NULL: all have */
} guide_figure;

/* The figures of classes of the object `classes` of each rank; without those whose first figure is 0. */
void guide_put_classes(const guide_ranks *ranks, const char *classes, const char *const *class,
                       size_t n_classes, const guide_figure *figure, size_t n, metric_value *to);

/* Percent that part is of whole; 0 of nothing, as the originals say. */
static inline double guide_percent(double part, double whole) { return whole > 0 ? part / whole * 100 : 0; }

/* Percent of a whole, absent with the reason if the whole is 0: the definitions' way. */
metric_value *guide_put_percent(metric_value *to, const char *key, double part, double whole,
                                const char *why);

/* That, or as the originals say under --compat: to two decimals, 0 of nothing. */
void guide_put_share(const metric_context *x, metric_value *to, const char *key, double part, double whole,
                     const char *why);

/* An object of what some events come to, with their time in microseconds, too, where the original says it;
 * NULL: there are none, and nothing is put. */
metric_value *guide_put_sums(metric_value *to, const char *key, const metric_sums *s, bool in_us);

/* Rounded to two decimals. */
metric_value *guide_put_round(metric_value *to, const char *key, double v);

#define GUIDE_NO_STEPS "no step markers (ProfilerStep#)"

#endif
