/* Stored rows as CSV and JSON, for other programs. What differs from run to run, the CPU time, is not in there: the
 * same results give the same bytes. */
#ifndef DSE_REPORT_ROWS_H
#define DSE_REPORT_ROWS_H

#include "base/json_writer.h"
#include "design/space.h"
#include "store/store.h"

design_point report_point(const store_row *r);

/* Orders by model, system and settings, then as points are: by pp, dp, tp, sp, weight sharding, recomputation. 0: the
 * same strategy of the same names, by whatever engine. */
int report_compare(const store_row *a, const store_row *b);

/* One row, as the fields of an object that is open: model, system, the point, status, and every metric that is
 * there. Percentages have three decimals, as the reference prints them. */
void report_row_fields(const store_row *r, dse_json *j);

/* All rows as one array, a row a line. `config`: with the resolved configuration. */
void report_rows_json(const store_row *rows, size_t n, bool config, dse_strbuf *out);

/* A heading and a line a row, quoted as RFC 4180 says; empty where a metric is not there. */
void report_rows_csv(const store_row *rows, size_t n, dse_strbuf *out);

#endif
