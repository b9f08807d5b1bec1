/* Rows of equal figures in the text of metrics, for example one for each type of kernel or each stage. */
#ifndef DSE_REPORT_MEASURED_TABLE_H
#define DSE_REPORT_MEASURED_TABLE_H

#include "metrics/metric.h"

/* Whether these are objects, two or more, of the same few scalars that fit beside each other. */
bool report_is_measured_table(const metric_value *rows);

/* The name of the rows with the headings, then one line per row; a long text stands last and is cut at the
 * end of the line. `depth` is that of the name. The rows must form such a table. */
void report_measured_table(const char *name, const metric_value *rows, int depth, dse_strbuf *out);

#endif
