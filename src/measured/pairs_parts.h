/* Within msr_pairs: the rows of its table, and what one recording says of a row. */
#ifndef DSE_MEASURED_PAIRS_PARTS_H
#define DSE_MEASURED_PAIRS_PARTS_H

#include "driver/measure.h"

typedef enum {
    PAIR_AS_IT_IS,
    PAIR_PER_STEP, /* a sum over ranks and steps: divided by all steps of all ranks */
    PAIR_OF_BYTES, /* the same, of sizes, which every communication must say, in bytes */
} msr_pair_rule;

typedef struct {
    const char *metric, *entry; /* the row, and what of its result */
    const char *member;         /* of an entry that is an object; NULL: it is none */
    msr_pair_rule rule;
} msr_pair_source;

/* A generated stage posts all its receives at the first tick: their union says nothing of how long messages
 * take. A rank that records them does so when it comes to wait for them. */
typedef enum { PAIR_ANYHOW, PAIR_UNLESS_POSTED } msr_pair_condition;

typedef struct {
    const char *name, *unit;
    msr_pair_condition condition;
    msr_pair_source
        source[2]; /* the second: of XLA traces, for which the first is not defined; metric NULL: none */
    const char *help;
} msr_pair_row;

/* Metrics that a table of pairs asks for, at most; pairs.c asserts it. */
#define MSR_PAIR_METRICS 64

/* A metric of the recording, once computed. */
typedef struct {
    const char *name;
    report_measured of;
} msr_pair_asked;

typedef struct {
    const drv_recording *recording;
    const metric_options *o;
    dse_arena scratch; /* of what metrics say */
    dse_arena *a;      /* of what stays */
    size_t n;
    msr_pair_asked asked[MSR_PAIR_METRICS];
} msr_pair_side;

/* A figure of one side, or why it has none. */
typedef struct {
    double value; /* NaN: it has none */
    bool none;    /* there is nothing of the kind, which is 0 */
    const char *why;
    const metric_entry *entry;
} msr_pair_figure;

/* The figure of one recording; of XLA traces by the second source if there is one. */
dse_status msr_pair_measure(msr_pair_side *s, const msr_pair_row *row, msr_pair_figure *f, dse_error *err);

/* What is compared of a metric's result; NULL: it is not. */
const metric_entry *msr_pair_entry(const metric *m, const char *path);

#endif
