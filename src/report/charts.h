/* report_charts -- stored results as SVG (draw/chart.h), in the units that read best. */
#ifndef DSE_REPORT_CHARTS_H
#define DSE_REPORT_CHARTS_H

#include "config/doc.h"
#include "report/points.h"

/* Step time against memory, the Pareto front, the limit. DSE_E_CONFIG if no point has a known memory. */
dse_status report_chart_tradeoff(const report_points *p, dse_arena *a, dse_strbuf *out, dse_error *err);

/* Where the step of the `top` best goes, by the ranking of `by`. DSE_E_CONFIG if no point that fits has
 * its parts known. */
dse_status report_chart_parts(const report_points *p, const store_column *by, size_t top, dse_arena *a,
                              dse_strbuf *out, dse_error *err);

/* The best value of `by` for each pair of values of two parameters; NULL: the first two that vary, pp
 * downwards if it does. Only points that fit. DSE_E_USAGE: no such parameter, or one that is the same in
 * all points. */
dse_status report_chart_heat(const report_points *p, const store_column *by, const char *x, const char *y,
                             dse_arena *a, dse_strbuf *out, dse_error *err);

/* Simulated against measured step times, with the error bands, of what `ccldse compare --json` wrote.
 * DSE_E_CONFIG with the place if it is something else, or no run has both times. */
dse_status report_chart_compared(const cfg_doc *doc, dse_arena *a, dse_strbuf *out, dse_error *err);

#endif
