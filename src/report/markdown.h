/* report_markdown -- a run in the table of a README: its degrees and its error. */
#ifndef DSE_REPORT_MARKDOWN_H
#define DSE_REPORT_MARKDOWN_H

#include "report/tree.h"

/* Adds the degrees of a point's name: "4 x 2 x 1 x 1", with ", recompute" or ", sharded weights" behind
 * them. */
void report_put_degrees(const char *point, report_node *row);

/* "+3.3%" of a fraction; NaN: "-". */
report_text report_signed_percent(double fraction);

#endif
