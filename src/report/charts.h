/* report_charts -- stored results as SVG (draw/chart.h), in the units that read best. */
#ifndef DSE_REPORT_CHARTS_H
#define DSE_REPORT_CHARTS_H

#include "base/idtable.h"
#include "config/doc.h"
#include "report/points.h"

/* What the picture of step time against memory needs of points. */
typedef struct {
    uint64_t time, memory;
    uint32_t study;
} report_dot;

typedef struct {
    report_dot *dot; /* n of them, whose time and memory are known */
    size_t n, cap;
    uint64_t most_time; /* of all */
} report_dots;          /* all zero: none */

void report_dots_add(report_dots *d, const store_metrics *m, uint32_t study);
void report_dots_free(report_dots *d);

/* Step time against memory of the dots, which it sorts, the Pareto front, the limit. DSE_E_CONFIG if there is
 * none. */
dse_status report_chart_tradeoff(const report_points *p, report_dots *d, dse_arena *a, dse_strbuf *out,
                                 dse_error *err);

/* Where the step of the `top` best that are shown goes, by the ranking of `by`. DSE_E_CONFIG if no point that fits
 * has its parts known. */
dse_status report_chart_parts(const report_points *p, const store_column *by, size_t top, dse_arena *a,
                              dse_strbuf *out, dse_error *err);

/* The best value of `by` for each pair of values of two parameters, found as points come one after another. */
typedef struct report_heat_cell report_heat_cell;
typedef struct {
    const store_column *by;
    uint32_t x, y; /* parameters */
    double most;   /* of all points */
    report_heat_cell *cell;
    size_t n, cap;
    dse_idtable table;
} report_heat;

/* With parameters of these names; NULL: the first two that vary, pp downwards if it does. DSE_E_USAGE: no such
 * parameter, or one that is the same in all points. */
dse_status report_heat_begin(report_heat *h, uint64_t varied, const store_column *by, const char *x,
                             const char *y, dse_error *err);

/* A done point; `fits`: it counts for its pair of values, else they are in the map alone. */
void report_heat_add(report_heat *h, const store_row *r, bool fits);

void report_heat_svg(const report_heat *h, bool trains, dse_arena *a, dse_strbuf *out);
void report_heat_free(report_heat *h);

/* Simulated against measured step times, with the error bands, of what `ccldse compare --json` wrote.
 * DSE_E_CONFIG with the place if it is something else, or no run has both times. */
dse_status report_chart_compared(const cfg_doc *doc, dse_arena *a, dse_strbuf *out, dse_error *err);

#endif
