/* Shared parts of the leaderboard's later metrics, group "later". Their rules are the short forms of the
 * spec's section 8, and CCL-Bench's tools on its main branch.
 *
 * The definition takes communication from kinds.h, in all spellings of a category; --compat takes it from
 * each tool's words, for events whose category is literally "kernel". */
#ifndef DSE_METRICS_LATER_H
#define DSE_METRICS_LATER_H

#include "metrics/later_words.h"
#include "metrics/metric.h"
#include "metrics/pick.h"
#include "metrics/steps.h"

#define LATER_ON_ALL     (METRIC_ON_GPU | METRIC_ON(TRACE_XLA))
#define LATER_NO_KERNELS "the trace has no kernels"

static inline trace_kind later_kind(const metric_context *x) { return x->record->rank[0].kind; }

/* A row whose function reads x->options->compat. */
#define LATER_ROW(id, of_unit, on, function, text) LATER_ROW_OF(id, of_unit, on, 0, function, text)
#define LATER_ROW_OF(id, of_unit, on, of_needs, function, text)                                              \
    METRIC_ROW(id, "later", of_unit, on, of_needs, text), .compute = (function), .compat = (function),       \
                                                          .headline = (id)

/* A row that later_value computes; its rule follows: LATER_VALUE("moe_fraction", ...), LATER_RULE(...). */
#define LATER_VALUE(id, of_unit, on, text) LATER_ROW(id, of_unit, on, later_value, text)
#define LATER_RULE(...)                    METRIC_RULE(later_rule, __VA_ARGS__)

/* ---- kernels ------------------------------------------------------------------------------- */

/* The kernels of a GPU, or the leaf operations of a device of a TPU. */
typedef struct {
    const trace_rank *rank;
    const metric_view *view;  /* of a GPU */
    const tpu_device *device; /* of a TPU */
    uint32_t index;           /* of the rank in the context */
    uint32_t n;
    uint32_t *event; /* by start */
    uint8_t *comm;   /* 1: it communicates */
    bool defined;    /* they are those of the view or the device, and so are their unions */
} later_kernels;

/* The kernels of the i-th rank; under --compat `words` (metric_says) know those that communicate. */
later_kernels later_kernels_of(const metric_context *x, uint32_t i, const char *words);

/* For later_add: a rank's own value is put; those of a TPU's devices are not. */
static inline const trace_rank *later_rank_of(const later_kernels *k) { return k->device ? NULL : k->rank; }

static inline double later_ps(const later_kernels *k, uint32_t i)
{
    metric_span s = k->device ? k->device->op[i].span : (metric_span){0, k->rank->event[k->event[i]].dur_ps};

    return (double)(s.end - s.start);
}

/* The union of those that communicate, or of those that do not. */
metric_spans later_union(const later_kernels *k, bool comm, dse_arena *a);

/* The union of all. */
metric_spans later_busy(const later_kernels *k, dse_arena *a);

/* Sum of the durations of those that communicate, and of all: of GPUs in ps, of TPUs in seconds. */
typedef struct {
    double comm, all;
} later_sums;
later_sums later_sum(const later_kernels *k);

/* ---- results ------------------------------------------------------------------------------- */

typedef struct later_rule later_rule;

/* A headline value that comes of parts over wholes, beside those of each rank. */
typedef struct {
    const char *name;
    metric_value *value;
    metric_value *ranks; /* NULL under --compat, whose result is the value alone, and of TPUs */
    double scale, part, whole;
    bool mean; /* of the ranks' scale * part / whole; else parts and wholes are added up first */
    dse_status st;
    dse_error *err; /* of a fold that fails */
} later_result;

/* Adds the part and whole of a rank (NULL: of no particular one); a whole of 0 adds nothing. */
void later_add(later_result *r, const trace_rank *rank, double part, double whole);

/* A value of a rank, of which the mean is taken. */
void later_add_value(later_result *r, const trace_rank *rank, double v);

/* Adds what a rank or a device of a TPU, or the whole run has of a result; r->st and r->err if it fails. */
typedef void later_fold_fn(const metric_context *x, const later_kernels *k, later_result *r);
typedef void later_run_fn(const metric_context *x, later_result *r);

/* How the value of a row is computed, from each kind of trace. What is NULL falls back to the definition of
 * its kind, and nsys and tpu to fold. */
struct later_rule {
    later_fold_fn *fold, *compat, *nsys, *tpu; /* nsys: under --compat, too */
    later_run_fn *nsys_compat, *tpu_compat;
    /* Of communication under --compat; NULL: the folds need no kernels. nsys_words NULL: as words. */
    const char *words, *nsys_words;
    /* Of later_add_picked: what has part (class 1) in all that is picked; nsys NULL: as pick. */
    const metric_pick *pick, *nsys_pick;
    unsigned mean; /* METRIC_ON the kinds of which it is a mean over ranks */
    double scale;
    int digits; /* to which Kineto's and the TPU's tools round under --compat; 0: they do not */
    const char *why, *why_compat; /* it is absent if nothing was added; why_compat NULL: why */
};

/* The row's value by its later_rule. */
metric_fn later_value;

/* The same without a rule's folds: a result that the caller adds to, and its end. */
later_result later_begin(const metric_context *x, metric_value *out, const char *name, double scale);
dse_status later_end(later_result *r, int digits, const char *why, dse_error *err);

/* Folds: the sum of those that communicate over that of all; of those whose names the rule picks over all. */
later_fold_fn later_add_comm, later_add_picked;

/* ---- steps --------------------------------------------------------------------------------- */

/* Steps of a mark: profiler steps by number, others by start. Of those that count, if there are several
 * kinds, LATER_MARKS are the first. */
#define LATER_MARKS (METRIC_MARK_SGLANG + 1)
metric_steps later_steps_of(const metric_context *x, uint32_t i, metric_mark mark);

/* The words for a category by which a tool takes an event for a kernel; a TPU's events have none. */
#define LATER_KERNEL_WORDS "kernel|Op|gpu_op|device_op|"

#endif
