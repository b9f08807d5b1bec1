/* report_diff -- two sets of results, strategy by strategy.
 *
 * Rows are the same strategy if model, system, settings and point are equal; engines may differ, since
 * comparing them is the main use. Where a side has several rows of a strategy, the engine without its version
 * decides, then the configuration. */
#ifndef DSE_REPORT_DIFF_H
#define DSE_REPORT_DIFF_H

#include "base/strbuf.h"
#include "store/store.h"

typedef struct {
    const store_row *a, *b; /* one may be NULL: only the other side has it */
} report_pair;

typedef struct {
    const char *name_a, *name_b;  /* what the two sides are, for the headings */
    const store_column **columns; /* which figures are compared */
    size_t n_columns;
    const store_column *by; /* ranks the points */
    double tolerance;       /* a difference of at most this fraction of A's value counts as equal */
} report_diff_options;

/* Pairs the rows, ordered by model, system, settings, point, engine; borrowed from both. In the arena. */
report_pair *report_diff_pair(const store_row *a, size_t n_a, const store_row *b, size_t n_b,
                              dse_arena *arena, size_t *n);

/* Whether both rows have the figure and it is the same: whole numbers exactly, others to the three decimals
 * that are printed, memory to the two decimals of its binary unit if an engine printed it so. */
bool report_diff_equal(const store_row *a, const store_row *b, const store_column *c, double tolerance);

/* Whether a row has the figure. */
bool report_is_known(const store_row *r, const store_column *c);

/* Both rows have the figure, and it is not the same. */
bool report_diff_changed(const report_pair *p, const store_column *c, double tolerance);

/* One row is missing, or only one of them failed, or a figure has changed. */
bool report_diff_differs(const report_pair *p, const report_diff_options *o);

/* No row is on one side alone, and no figure that both sides have differs. */
bool report_diff_same(const report_pair *pairs, size_t n, const report_diff_options *o);

/* Prints for every model, system and settings the points of one side alone, a table of the figures that
 * differ, whether the best point is another, and where points were skipped, which cannot be on both sides. */
void report_diff_print(const report_pair *pairs, size_t n, const report_diff_options *o, dse_strbuf *out);

/* The same as one JSON object on one line. */
void report_diff_json(const report_pair *pairs, size_t n, const report_diff_options *o, dse_strbuf *out);

#endif
