/* Metrics as one self-contained HTML page, without scripts, fonts or other files, for screens of any width
 * and for paper. */
#ifndef DSE_REPORT_MEASURED_PAGE_H
#define DSE_REPORT_MEASURED_PAGE_H

#include "report/html.h"
#include "report/measured.h"

typedef struct {
    const char *title;
    size_t n_facts;
    const report_fact *fact; /* stand above everything else */
    size_t n_warnings;
    const trace_warning *warning;
    size_t n;
    const report_measured *m; /* one section each, for absent ones as well */
} report_page;

void report_page_html(const report_page *p, dse_strbuf *out);

#endif
