/* report_keyed -- the classic file of results: one JSON object for a model and a system, one key per point,
 * named in the order dp_tp_sp_pp_recompute.
 *
 *   {"32_1_2_1_0":{"wall_time":3206889878,"gpu_time":...,"dp":32,"tp":1,"sp":2,"pp":1,"ar":0}, ...}
 *
 * Units are those of the columns (store/columns.c), for wall_time, gpu_time and comm_time ns. wall_time is of
 * the slowest rank, peak_memory_usage of the largest, the rest of rank 0. An unknown value is null, an
 * infinite one "inf". "ar" is 0 or 1, as in the key. Several models or systems are nested:
 * {"llama70b":{"system1":{"32_1_2_1_0":...}}}. driver/import.h reads the file. */
#ifndef DSE_REPORT_KEYED_H
#define DSE_REPORT_KEYED_H

#include "report/ranking.h"

typedef struct {
    const char *name;   /* in the file */
    const char *column; /* of store_columns */
} report_keyed_figure;

/* The figures of a point, in the order of the file. */
const report_keyed_figure *report_keyed_figures(size_t *n);

/* The degrees follow the figures, and make up the key in this order. */
enum { REPORT_KEYED_DEGREES = 5 };
extern const char *const report_keyed_degrees[REPORT_KEYED_DEGREES]; /* "dp", "tp", "sp", "pp", "ar" */
void report_keyed_values(const store_row *r, uint32_t out[REPORT_KEYED_DEGREES]);

typedef struct {
    report_study *pair; /* of each model and system its rows, in their order */
    size_t n;
    size_t n_failed,
        n_sharded; /* rows left out, as they have no figures, or no key: sharded weights are not in it */
} report_keyed;

/* Selects the rows that such a file can hold; they come as store_list orders them, and are put in the arena.
 * DSE_E_CONFIG if a model and a system have two configurations: each point has one place. */
dse_status report_keyed_select(const store_row *rows, size_t n, dse_arena *a, report_keyed *out,
                               dse_error *err);

/* The object of one model and system, a point a line. */
void report_keyed_print(const report_study *pair, dse_strbuf *out);

/* All of it: that object if there is one, else objects within objects. */
void report_keyed_print_all(const report_keyed *k, dse_strbuf *out);

#endif
