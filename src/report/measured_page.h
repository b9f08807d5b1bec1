/* Metrics as one HTML page that needs nothing else: no script, no font, no other file. For a screen of any width, and paper. */
#ifndef DSE_REPORT_MEASURED_PAGE_H
#define DSE_REPORT_MEASURED_PAGE_H

#include "report/measured.h"

typedef struct {
    const char *label, *text;
} report_fact;

typedef struct {
    const char *title;
    size_t n_facts;
    const report_fact *fact; /* what is said above everything else */
    size_t n_warnings;
    const trace_warning *warning;
    size_t n;
    const report_measured *m; /* a section each, also of what is absent */
} report_page;

void report_page_html(const report_page *p, dse_strbuf *out);

#endif
