/* Stored rows as CSV and JSON, for other programs. They leave out the CPU time, which differs from run to
 * run, so equal results give equal bytes. */
#ifndef DSE_REPORT_ROWS_H
#define DSE_REPORT_ROWS_H

#include "design/space.h"
#include "report/tree.h"

/* The name of a point, and of that of a row: "8_1_8_1_1". */
typedef struct {
    char text[STRATEGY_NAME_MAX];
} report_name;
report_name report_strategy_name(const strategy *p);
report_name report_point_name(const store_row *r);

/* The same for people: of profile train "dp 8, micro_batch 2", as its names are long. */
report_name report_strategy_text(const strategy *p, unsigned profile);
report_name report_point_text(const store_row *r);

/* Orders by model, system and settings, then as points are: by pp, dp, tp, sp, weight sharding,
 * recomputation. 0: the same strategy of the same names, by whatever engine. */
int report_compare(const store_row *a, const store_row *b);

/* One row, as values of an object: model, system, the point, status, and every metric that
 * is there. Percentages have three decimals, as the reference prints them. */
void report_put_row(const store_row *r, report_node *to);

/* Whether it has a price or an energy. */
bool report_has_costs(const store_row *r);

/* Rows as CSV: a heading and one line per row, quoted as in RFC 4180; the field of a missing metric is empty.
 * Or as JSON: one array, one row per line. One row after another, appended to `out`, which the caller may
 * empty between them: any number of rows takes no more memory than one. */
typedef struct {
    bool json;
    bool config; /* JSON: with the resolved configuration */
    bool costs;  /* CSV: with the columns of costs, at the end: if any row has one */
    size_t n;    /* rows so far */
    report_tree tree;
} report_rows;
void report_rows_begin(report_rows *w, dse_strbuf *out);
void report_rows_add(report_rows *w, const store_row *r, dse_strbuf *out);
void report_rows_end(report_rows *w, dse_strbuf *out);

#endif
