/* report_html -- the frame of a self-contained HTML page, and text within it. */
#ifndef DSE_REPORT_HTML_H
#define DSE_REPORT_HTML_H

#include "report/tree.h"
#include "report/web/web.h"

/* A label and what stands beside it, above everything else of a page. */
typedef struct {
    const char *label, *text;
} report_fact;

/* From the doctype to <body>; `head` (may be "") is HTML for the end of the head. _end: what closes it. */
void report_html_begin(const char *title, const report_web_file *style, const char *head, dse_strbuf *out);
void report_html_end(dse_strbuf *out);

/* Text, escaped for content and attributes; between a start and an end that are HTML. */
void report_html_text(const char *text, dse_strbuf *out);
void report_html_element(const char *open, const char *text, const char *close, dse_strbuf *out);

void report_html_facts(const report_fact *fact, size_t n, dse_strbuf *out);

/* The rows of a list with their headings, as report_rows_table has them. Nothing without rows. */
void report_rows_html(const report_node *list, dse_strbuf *out);

#endif
