/* The files of compared.h share these: figures, names and reasons as text. */
#ifndef DSE_REPORT_COMPARED_PARTS_H
#define DSE_REPORT_COMPARED_PARTS_H

#include "report/compared.h"

#define COMPARED_WIDTH 100 /* columns of a line */

/* The step times of a run; NaN: absent. */
double compared_simulated(const report_compared_run *r);
double compared_measured(const report_compared_run *r);
double compared_error(const report_compared_run *r);

/* The values that identify a run, for programs. */
void compared_put_run(const report_compared_run *r, report_node *to);

/* Both sides are known, but their error is undefined; the reason. */
bool compared_lacks_error(const cmp_pair *p);
extern const char compared_no_error[];

/* The run of the largest |error| of step time, the first of equals; NULL: no error is known. */
const report_compared_run *compared_worst_run(const report_compared *c);

/* "+3.3%", "0.0%", "-" of NaN; unsigned "3.3%". */
report_text compared_signed_percent(double fraction);
report_text compared_percent(double fraction);

/* "3.207 s", "41.2 %", "67.0 GB", "12 calls"; "-" of NaN. */
report_text compared_value(double v, const char *unit);

/* A name in at most `width` (up to 95) bytes: ".." replaces its middle where it is longer. Control characters
 * become "?". */
typedef struct {
    char text[96];
} compared_name;
compared_name compared_short(const char *name, size_t width);

/* A line behind a label; what does not fit is wrapped. */
void compared_line(const char *label, const char *text, dse_strbuf *out);

/* Why values are absent: each reason stands once below a table, with a number. `about` is what is absent,
 * "simulated". */
typedef struct {
    struct {
        const char *about, *text;
    } * item;
    size_t n, cap;
} compared_reasons;

/* Appends " (1)" to a cell. Nothing if there is no text. */
void compared_reason(compared_reasons *r, const char *about, const char *text, dse_strbuf *cell);
/* The reasons of the sides that a pair lacks. */
void compared_pair_reasons(compared_reasons *r, const cmp_pair *p, dse_strbuf *cell);
void compared_reasons_print(compared_reasons *r, dse_strbuf *out); /* and frees them */

/* compared_runs.c: several runs; those that were left out. compared_plot.c: step times against each other, of
 * 5 runs or more. */
void compared_print_runs(const report_compared *c, dse_strbuf *out);
void compared_plot(const report_compared *c, dse_strbuf *out);

/* compared_summary.c: the figures of a summary. */
#define COMPARED_FIGURES (6 + CMP_TOPS)
typedef struct {
    const char *name;  /* "mape": in JSON */
    const char *words; /* "mean absolute error (MAPE)" */
    const char *why;   /* the reason if the figure is not known */
    report_text (*format)(double value);
    size_t place; /* of the cmp_estimate in a cmp_summary */
} compared_figure;
extern const compared_figure compared_figures[COMPARED_FIGURES];
const cmp_estimate *compared_estimate(const cmp_summary *s, const compared_figure *f);

/* The k-th of the figures that are a regret; -1: it is none. */
int compared_regret(const compared_figure *f);

/* How many groups a rank correlation or a regret rests on. False: the figure rests on all runs. */
bool compared_groups(const cmp_summary *s, const compared_figure *f, size_t *n);

/* The reason why a known figure has no interval. */
const char *compared_no_interval(const report_compared *c);
void compared_print_summary(const report_compared *c, dse_strbuf *out);

/* Whether all runs are within the allowed error; nothing if no limit was given. */
void compared_print_limit(const report_compared *c, dse_strbuf *out);

#endif
