/* report_markdown -- cells of a Markdown table's row, which begins with "|". */
#ifndef DSE_REPORT_MARKDOWN_H
#define DSE_REPORT_MARKDOWN_H

#include "base/strbuf.h"

/* What would end a cell or a line does not. */
void report_markdown_cell(const char *text, dse_strbuf *out);

/* The degrees of a point's name: "4 x 2 x 1 x 1", with "recompute" and "sharded" behind them. */
void report_markdown_point(const char *point, dse_strbuf *out);

/* Seconds; signed percent of a fraction. NaN: "-". */
void report_markdown_seconds(double v, dse_strbuf *out);
void report_markdown_error(double v, dse_strbuf *out);

#endif
