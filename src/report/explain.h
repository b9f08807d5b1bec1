/* report_explanation -- why the winner of a study wins, and what would change the answer.
 *
 * Computed from the stored rows alone; values that they lack are reported as missing. */
#ifndef DSE_REPORT_EXPLAIN_H
#define DSE_REPORT_EXPLAIN_H

#include "report/ranking.h"

/* "dp", "sharded weights": what an axis, a parameter of the strategy, is called in a sentence. */
const char *report_axis_name(uint32_t axis);

typedef struct {
    uint32_t value;             /* on the axis */
    const store_row *best;      /* of all that can be ranked and have this value, the others following */
    const store_row *best_fits; /* of those that fit; NULL: none does */
} report_trend_point;

typedef struct {
    uint32_t axis; /* a parameter of the strategy */
    size_t n;      /* at least 2 */
    report_trend_point *point;
} report_trend;

typedef struct {
    const store_row *winner;    /* NULL: nothing fits */
    const store_row *runner_up; /* NULL: nothing else fits */
    const store_row
        *unlimited; /* the best without the limit; NULL: it is the winner, or none can be ranked */

    /* The point that fits and differs from `unlimited` on the fewest axes; of equals the best.
     * NULL: there is no unlimited one, or nothing fits. */
    const store_row *nearest;
    unsigned n_changes;

    size_t n_trends;
    report_trend trend[STRATEGY_N]; /* of the axes on which the study has several values */
} report_explanation;

/* The study must have been ranked; the explanation borrows its rows. */
void report_explain(const report_study *s, dse_arena *a, report_explanation *out);

/* A table of the winner, the runner-up and the best without the limit, a table of the trends, and sentences,
 * which are wrapped at 80 columns. */
void report_explain_print(const report_study *s, const report_explanation *e, dse_strbuf *out);

/* The part of it that is about where the steps and memories of these go, without the trends and the peaks. */
void report_explain_print_roles(const report_study *s, const report_explanation *e, dse_strbuf *out);

/* The part of it that is about the trends; `p` is an empty paragraph. */
void report_trends_print(const report_study *s, const report_explanation *e, dse_strbuf *p, dse_strbuf *out);

/* The same as values of an object. */
void report_put_explanation(const report_study *s, const report_explanation *e, report_node *to);

#endif
