/* Metrics: one row each, one file per family. Definitions: the field's, as CCL-Bench's documents state them
 * and with their flaws mended; `compat` is what the original tool computes, so that published values can be
 * reproduced.
 *
 * Groups, after the tools they come from: `kineto` (Kineto traces), `guide` (the nine tools of the metrics
 * guide), `tpu` (Torch-XLA), `later` (the leaderboard's later ones), and `et` of ours (execution traces). A
 * name may stand in several groups where the same word means different things on different traces; the kinds
 * of trace that a row takes tell them apart, or the full name does ("tpu.communication_fraction"). */
#ifndef DSE_METRICS_METRIC_H
#define DSE_METRICS_METRIC_H

#include "base/array.h"
#include "metrics/context.h"

/* Computes into *out, an empty object that copies what is put into it. DSE_E_ABSENT: it cannot be computed,
 * and err says why. */
typedef dse_status metric_fn(const metric_context *x, metric_value *out, dse_error *err);

/* The same for a metric that can always be computed once its needs are met. */
typedef void metric_put_fn(const metric_context *x, metric_value *out);

/* The needs of a metric, which needs.c checks before it runs, each with its own reason and remedy. */
enum {
    METRIC_NEEDS_RANKS = 1 << 0,     /* two ranks or more */
    METRIC_NEEDS_STEPS = 1 << 1,     /* step markers on every rank */
    METRIC_NEEDS_GPU = 1 << 2,       /* GPU events on every rank */
    METRIC_NEEDS_COMM = 1 << 3,      /* communication on some rank */
    METRIC_NEEDS_CARD = 1 << 4,      /* a workload card */
    METRIC_NEEDS_TOKENS = 1 << 5,    /* its batch_size and seq_len; of inference output_len will do */
    METRIC_NEEDS_PIPELINE = 1 << 6,  /* its pp above 1; --force */
    METRIC_NEEDS_MODEL = 1 << 7,     /* its model_arch, total_count and xpu_spec.model */
    METRIC_NEEDS_INFERENCE = 1 << 8, /* its phase, or --phase */
    METRIC_NEEDS_CHIPS = 1 << 9,     /* --n_chips, device planes, or total_count */
    METRIC_NEEDS_SNAPSHOT = 1 << 10, /* a memory snapshot */
    METRIC_NEEDS_CLOCK = 1 << 11,    /* ranks at work at the same time, unless their clocks are aligned */
    METRIC_NEEDS_TRAINING = 1 << 12, /* a phase that is not said to be inference; --force */
    METRIC_NEEDS_EVIDENCE =
        1 << 13 /* GPU events or a communication, without which a count of 0 says nothing */
};

#define METRIC_ON(kind) (1u << (kind))
#define METRIC_ON_GPU                                                                                        \
    (METRIC_ON(TRACE_KINETO) | METRIC_ON(TRACE_SIMULATED) | METRIC_ON(TRACE_NSYS) | METRIC_ON(TRACE_XLA_GPU))
#define METRIC_ON_HOST (METRIC_ON(TRACE_KINETO) | METRIC_ON(TRACE_SIMULATED))
/* No trace: a directory that has side files alone, which the metric finds by record->path. */
#define METRIC_ON_NONE METRIC_ON(TRACE_KINDS)
#define METRIC_ON_ANY  (METRIC_ON(TRACE_KINDS) * 2 - 1)

typedef enum { METRIC_NEITHER, METRIC_LOWER, METRIC_HIGHER } metric_better;

/* A figure of a row's result by which a simulated run and a measured one are compared. The tolerance is of
 * the relative difference, as a fraction, within which the two are said to agree: a tenth for what a whole
 * step comes to (published simulators of training are 4 % off on average and 9 % at worst on systems that
 * they were made for), twice that for what waiting decides, and next to nothing for counts and sizes, which
 * follow from the strategy. */
typedef struct {
    const char *path; /* "avg_iter_time_ms"; of an object, each of its entries: "calls_by_type" */
    const char *unit;
    metric_better better;
    double tolerance;
} metric_entry;

#define METRIC_STEP_TOLERANCE  0.1
#define METRIC_WAIT_TOLERANCE  0.2
#define METRIC_COUNT_TOLERANCE 0.02
#define METRIC_LAG_TOLERANCE   0.5 /* of lags, and of lines fitted to single calls */

#define METRIC_ENTRIES(list) .entry = (list), .n_entries = DSE_COUNT(list)
/* A single one: its path, unit, direction and tolerance. */
#define METRIC_ENTRY(...) .entry = &(const metric_entry){__VA_ARGS__}, .n_entries = 1

#define METRIC_RULE(type, ...)                                                                               \
    .rule = &(const type) { __VA_ARGS__ }

/* The fields of every row; the function, what is compared and the rest follow. */
#define METRIC_ROW(of_name, of_group, of_unit, of_kinds, of_needs, text)                                     \
    .name = (of_name), .group = (of_group), .unit = (of_unit), .help = (text), .kinds = (of_kinds),          \
    .needs = (of_needs)

typedef struct metric {
    const char *name;
    const char *group; /* "kineto", "guide", "tpu", "later", "et" */
    const char *unit;  /* of the headline value; "" for an object */
    const char *help;
    unsigned kinds; /* METRIC_ON of the traces it takes */
    unsigned needs;
    metric_fn *compute; /* or put */
    metric_put_fn *put;
    metric_fn *compat; /* or compat_put; both NULL: the upstream rule is the definition */
    metric_put_fn *compat_put;
    unsigned compat_kinds; /* 0: as kinds. Upstream's own checks are in compat */
    /* The entry of the result that is printed bare, "hockney_alpha_s"; NULL: the whole object is printed. */
    const char *headline;
    const char *alias; /* other names, with bars between; NULL */
    const char *sums;  /* entries of the result that are sums over ranks, with bars between; NULL: none */
    /* Parameters of a function that several rows share (x->row->rule), of the type that METRIC_RULE names. */
    const void *rule;
    size_t n_entries; /* what is compared; 0: nothing of it */
    const metric_entry *entry;
} metric;

/* A family: its file's rows. */
typedef struct {
    const metric *row;
    size_t n;
} metric_family;

#define METRIC_FAMILY(name)                                                                                  \
    extern const metric_family metric_family_##name;                                                         \
    const metric_family metric_family_##name = {rows, DSE_COUNT(rows)}

/* The kinds of traces (METRIC_ON) that a row's definition takes, or its original rule. */
static inline unsigned metric_kinds_of(const metric *m, bool compat)
{
    return compat && m->compat_kinds ? m->compat_kinds : m->kinds;
}

#endif
