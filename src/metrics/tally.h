/* tally -- sums by name over lists and ranks: of kernels, copies, collectives, operators. */
#ifndef DSE_METRICS_TALLY_H
#define DSE_METRICS_TALLY_H

#include "metrics/pick.h"
#include "metrics/view.h"

/* Texts are in the arena of the tally. */
typedef struct {
    const char *name; /* "AllReduce" */
    const char *of; /* its kind of work, the group of a collective, the module of an operator; "": unknown */
    uint8_t work;   /* metric_work of a kernel */
    uint32_t first; /* its place in the order of first occurrences */
    uint64_t n;
    int64_t ps, least_ps, most_ps; /* sum, least and most of one; 0 of a report of totals */
    double bytes;                  /* of a collective the buffer of each, of copies all; 0: unknown */
    uint32_t members;              /* 0: unknown */
    double bus_bytes_per_s;        /* NaN */
} tally_row;

typedef struct {
    size_t n;
    tally_row *row;
    uint64_t count; /* over all rows */
    int64_t ps;
} tally_rows;

/* Rows that are found by a key, which has all that tells them apart. Begins as {.arena = a}. */
typedef struct {
    dse_arena *arena;
    trace_names keys;
    size_t cap;
    tally_row *row;
} tally;

/* The row of a key, a new one with this name if need be; until the next call. */
tally_row *tally_at(tally *t, const char *key, const char *name, const char *of);

/* Adds one to a row; the count and time of others. */
void tally_add(tally_row *row, int64_t ps);
static inline void tally_merge(tally_row *row, uint64_t n, int64_t ps)
{
    row->n += n;
    row->ps += ps;
}

/* Adds the kernels of a list, which are of the view's rank, by their names, each with its kind of work.
 * work_of NULL: as the view has it. */
void tally_add_kernels(tally *t, const metric_view *v, const metric_events *kernels,
                       metric_work (*work_of)(const metric_view *v, const trace_event *e));

/* Adds the kernels of a rank's rows, each with its kind of work. */
void tally_add_rows(tally *t, const tally_rows *rows);

/* Adds those of a report of totals. */
void tally_add_totals(tally *t, const trace_rank *r);

/* The rows in the order of first occurrences; frees the keys. */
tally_rows tally_end(tally *t);

/* Most time first, equal ones by first occurrence; or as `order` of qsort says. */
void tally_sort(tally_rows *rows, int (*order)(const void *a, const void *b));

/* Counts and times by kind of work are added. */
void tally_sum_works(const tally_rows *rows, metric_sums by_work[METRIC_WORKS]);

#endif
