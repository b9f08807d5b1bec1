/* Stored rows as CSV and JSON, for other programs. They leave out the CPU time, which differs from run to
 * run, so equal results give equal bytes. */
#ifndef DSE_REPORT_ROWS_H
#define DSE_REPORT_ROWS_H

#include "base/json_writer.h"
#include "design/space.h"
#include "store/store.h"

strategy report_point(const store_row *r);

/* The name of its point: "8_1_8_1_1"; returns out. */
const char *report_point_name(const store_row *r, char out[STRATEGY_NAME_MAX]);

/* Orders by model, system and settings, then as points are: by pp, dp, tp, sp, weight sharding,
 * recomputation. 0: the same strategy of the same names, by whatever engine. */
int report_compare(const store_row *a, const store_row *b);

/* One row, as the fields of an object that is open: model, system, the point, status, and every metric that
 * is there. Percentages have three decimals, as the reference prints them. */
void report_row_fields(const store_row *r, dse_json *j);

/* All rows as one array, one row per line. `config`: with the resolved configuration. */
void report_rows_json(const store_row *rows, size_t n, bool config, dse_strbuf *out);

/* A heading and one line per row, quoted as in RFC 4180; the field of a missing metric is empty. */
void report_rows_csv(const store_row *rows, size_t n, dse_strbuf *out);

#endif
