/* Results of sweeps as one self-contained HTML page: a ranking that sorts and filters, charts of it, and
 * pictures.
 *
 * The page loads nothing (its content policy forbids it). Its data is one JSON document in it, of figures
 * column by column, so that 100,000 points stay below 30 MB; web/report.js shows them. Charts that follow
 * the ranking need Chart.js, which the build embeds if it is there; else pictures take their place. Equal
 * results give equal bytes. */
#ifndef DSE_REPORT_SWEEP_PAGE_H
#define DSE_REPORT_SWEEP_PAGE_H

#include "report/html.h"
#include "report/points.h"

/* So many points a browser shows in seconds; a page of more is nothing that anybody opens (shown.h). */
#define REPORT_SWEEP_POINTS 100000

/* Why points failed, found one after another. */
#define REPORT_REASONS 10
typedef struct {
    struct {
        const char *why;
        uint64_t n;
    } reason[REPORT_REASONS]; /* in the order in which they first came */
    size_t n;
    uint64_t n_others;
} report_reasons; /* all zero: none */

void report_reasons_add(report_reasons *r, const char *why, dse_arena *a);

/* A picture of the page, in its own section. */
typedef struct {
    const char *id, *title;
    const char *note; /* below it, NULL: nothing; without a picture, why there is none */
    const char *svg;  /* NULL: none */
} report_picture;

typedef struct {
    const char *title, *made_by; /* "ccldse 1.0" */
    const report_points *points;
    const report_reasons *failed;
    const store_column *by;
    const char *const *band; /* of each study: the error band of its best step time; NULL: none */
    size_t n_pictures;
    const report_picture *picture;
} report_sweep;

/* Whether the charts that follow the ranking are in this program. */
bool report_sweep_has_charts(void);

void report_sweep_html(const report_sweep *s, dse_arena *a, dse_strbuf *out);

#endif
