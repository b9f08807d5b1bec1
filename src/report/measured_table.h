/* Rows of the same figures in the text of metrics: a type of kernel, a stage, one of the longest. */
#ifndef DSE_REPORT_MEASURED_TABLE_H
#define DSE_REPORT_MEASURED_TABLE_H

#include "metrics/metric.h"

/* Whether these are objects, two or more, of the same few scalars that fit beside each other. */
bool report_is_measured_table(const metric_value *rows);

/* A line of headings behind the name of the rows, a line a row; a long text stands last, and is cut where the line would be
 * too long. `depth` is that of the name. Of rows that are such a table. */
void report_measured_table(const char *name, const metric_value *rows, int depth, dse_strbuf *out);

#endif
