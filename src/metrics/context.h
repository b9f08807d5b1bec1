/* metric_context -- what metrics are computed of: the ranks and their views, the workload card, the
 * options. */
#ifndef DSE_METRICS_CONTEXT_H
#define DSE_METRICS_CONTEXT_H

#include "metrics/value.h"
#include "metrics/view.h"
#include "trace/card.h"

/* Clocks of ranks: by the ends of their collectives if they are on several nodes, never, always. */
typedef enum { METRIC_ALIGN_AUTO, METRIC_ALIGN_NONE, METRIC_ALIGN_END } metric_align;

struct metric_context;

typedef struct {
    /* Simulates the trace: what twice the bandwidth within a node would save, in percent; NULL: cannot.
     * DSE_E_ABSENT. A driver sets it, as no simulator is below metrics. */
    dse_status (*scale_up)(const struct metric_context *x, double *percent, dse_error *err);
    int64_t n_chips;     /* 0: not given */
    double model_params; /* 7e9 unless given */
    bool trim;           /* drop the first and last step where there are more than two */
    bool inner_steps;    /* overlap within the steps but the first and last */
    bool force;          /* skip checks against the card */
    bool causal;         /* attention counts half */
    bool compat;         /* the original tools' rules */
    trace_phase phase;   /* over the card's */
    metric_align align;
} metric_options;

typedef struct metric_context {
    const trace_record *record;
    metric_view *view; /* one a rank of the record, in its order */
    uint32_t n_views;
    const trace_card *card; /* NULL: none */
    const metric_options *options;
    const struct metric *row; /* the metric that is computed (metric.h) */
    /* For metric_compute: where the result goes. For a metric_fn: scratch memory, freed when it returns. */
    dse_arena *arena;
    dse_arena *scratch; /* of a metric_fn: memory for one rank at a time, by metric_scratch */
} metric_context;

/* Memory that is gone when it is asked for again: for what is worked out of a rank. */
static inline dse_arena *metric_scratch(const metric_context *x)
{
    dse_arena_reset(x->scratch);
    return x->scratch;
}

/* The phase of the workload: --phase, or else the card's. */
trace_phase metric_phase_of(const metric_context *x);

/* Whether the original tools can compute with the card's batch_size: DSE_E_ABSENT of a list, on which they
 * fail. */
dse_status metric_original_batch(const metric_context *x, dse_error *err);

/* Whether clocks are aligned by the ends of collectives: as --align says, or else if the card puts the ranks
 * on more than one node. */
bool metric_aligns_clocks(const metric_context *x);

/* The value is absent: fails with DSE_E_ABSENT and the reason. */
#define metric_absent(err, ...) dse_fail((err), DSE_E_ABSENT, __VA_ARGS__)

#endif
