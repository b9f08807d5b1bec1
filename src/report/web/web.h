/* The files of this folder, and the chart library of the distribution, as the build embedded them
 * (embed.cmake). */
#ifndef DSE_REPORT_WEB_WEB_H
#define DSE_REPORT_WEB_WEB_H

#include <stddef.h>

typedef struct {
    const char *text; /* ended by 0 */
    size_t n;         /* without it */
} report_web_file;

extern const report_web_file report_web_measured_css; /* the style of a page of metrics */
/* The report of a sweep: its style, its sections, its script. */
extern const report_web_file report_web_report_css, report_web_report_html, report_web_report_js;

/* Chart.js and its licence; n 0: it was not there when the program was built. */
extern const report_web_file report_web_chart_js, report_web_chart_js_licence;

#endif
