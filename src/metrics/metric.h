/* Metrics: one row each, one file per family. Definitions: the field's, as CCL-Bench's documents state them and with
 * their flaws mended; `compat` is what the original tool computes, so that published values can be reproduced.
 *
 * Groups, after the tools they come from: `kineto` (Kineto traces), `guide` (the nine tools of the metrics guide), `tpu`
 * (Torch-XLA), `later` (the leaderboard's later ones), and `et` of ours (execution traces). A name may stand in several
 * groups where the same word means different things on different traces; the kinds of trace that a row takes tell them
 * apart, or the full name does ("tpu.communication_fraction"). */
#ifndef DSE_METRICS_METRIC_H
#define DSE_METRICS_METRIC_H

#include "metrics/value.h"
#include "metrics/view.h"
#include "trace/card.h"

/* Clocks of ranks: by the ends of their collectives if they are on several nodes, never, always. */
typedef enum { METRIC_ALIGN_AUTO, METRIC_ALIGN_NONE, METRIC_ALIGN_END } metric_align;

typedef struct {
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

typedef struct {
    const trace_record *record;
    metric_view *view; /* one a rank of the record, in its order */
    uint32_t n_views;
    const trace_card *card; /* NULL: none */
    const metric_options *options;
    /* Of metric_compute: where the result goes. Of a metric_fn: what it works with, gone when it is done. */
    dse_arena *arena;
} metric_context;

/* Computes into *out, an empty object that copies what is put into it. DSE_E_ABSENT: it cannot be computed, and err says
 * why. */
typedef dse_status metric_fn(const metric_context *x, metric_value *out, dse_error *err);

/* What a metric needs; checked in one place (needs.c) before it runs, each with its own reason and remedy. */
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
    METRIC_NEEDS_DEVICE = 1 << 11,   /* TPU device events on every rank */
    METRIC_NEEDS_CLOCK = 1 << 12     /* ranks at work at the same time, unless their clocks are aligned */
};

#define METRIC_ON(kind) (1u << (kind))
#define METRIC_ON_GPU   (METRIC_ON(TRACE_KINETO) | METRIC_ON(TRACE_SIMULATED) | METRIC_ON(TRACE_NSYS))
#define METRIC_ON_HOST  (METRIC_ON(TRACE_KINETO) | METRIC_ON(TRACE_SIMULATED))
/* No trace: a directory that has side files alone, which the metric finds by record->path. */
#define METRIC_ON_NONE METRIC_ON(TRACE_KINDS)
#define METRIC_ON_ANY  (METRIC_ON(TRACE_KINDS) * 2 - 1)

typedef enum { METRIC_NEITHER, METRIC_LOWER, METRIC_HIGHER } metric_better;

/* A figure of a row's result by which a simulated run and a measured one are compared. The tolerance is of the relative
 * difference, as a fraction, within which the two are said to agree: a tenth for what a whole step comes to (published
 * simulators of training are 4 % off on average and 9 % at worst on systems that they were made for), twice that for what
 * waiting decides, and next to nothing for counts and sizes, which follow from the strategy. */
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

#define METRIC_ENTRIES(list) .entry = (list), .n_entries = sizeof(list) / sizeof(list)[0]

typedef struct {
    const char *name;
    const char *group; /* "kineto", "guide", "tpu", "later", "et" */
    const char *unit;  /* of the headline value; "" for an object */
    const char *help;
    unsigned kinds; /* METRIC_ON of the traces it takes */
    unsigned needs;
    metric_fn *compute;
    metric_fn *compat;     /* NULL: the upstream rule is the definition */
    unsigned compat_kinds; /* 0: as kinds. Upstream's own checks are in compat */
    /* The entry of the result that is printed bare, "hockney_alpha_s"; NULL: the whole object is printed. */
    const char *headline;
    const char *alias; /* another name, or NULL */
    size_t n_entries;  /* what is compared; 0: nothing of it */
    const metric_entry *entry;
} metric;

/* A family: its file's rows. */
typedef struct {
    const metric *row;
    size_t n;
} metric_family;

#define METRIC_FAMILY(name)                                                                                  \
    extern const metric_family metric_family_##name;                                                         \
    const metric_family metric_family_##name = {rows, sizeof rows / sizeof rows[0]}

/* All, sorted by name, then group; *n of them. The list belongs to the arena. */
const metric *const *metric_all(dse_arena *a, size_t *n);

/* Whether a row is called so: by its name or its alias, plain or with its group. */
bool metric_is_named(const metric *m, const char *name);

/* The kinds of traces (METRIC_ON) that a row's definition takes, or its original rule. */
unsigned metric_kinds_of(const metric *m, bool compat);

/* The row of a name for a trace of this kind: "iter_time", "tpu.wall_time_s". DSE_E_USAGE with the nearest known name and
 * all names. */
dse_status metric_find(const char *name, trace_kind kind, bool compat, const metric **out, dse_error *err);

/* Leaves out ranks of kinds that the row does not take, checks what it needs, then computes. *out is a new object in the
 * arena of the context. DSE_E_ABSENT with the reason. */
dse_status metric_compute(const metric *m, const metric_context *x, metric_value **out, dse_error *err);

/* needs.c: the context of a row, with the ranks that it takes alone, so that it need not ask of what kind one is (a memory
 * snapshot lies beside a timeline). *out borrows from *x and its arena. DSE_E_ABSENT: there is none. */
dse_status metric_narrow(const metric *m, const metric_context *x, bool compat, metric_context *out,
                         dse_error *err);

/* needs.c: what a row needs, of a context that was narrowed for it. DSE_OK or DSE_E_ABSENT. */
dse_status metric_check_needs(const metric *m, const metric_context *x, dse_error *err);

/* needs.c: what the workload does: --phase, else the card. */
trace_phase metric_phase_of(const metric_context *x);

/* The value is absent: fails with DSE_E_ABSENT and the reason. */
#define metric_absent(err, ...) dse_fail((err), DSE_E_ABSENT, __VA_ARGS__)

#endif
