/* report_prose -- sentences about stored figures, wrapped to the width of a terminal.
 *
 * A paragraph is built in a dse_strbuf by the functions below and by dse_strbuf_addf; a figure and its unit
 * stay on one line. Figures are those of the tables: four digits of a time, one decimal of a size or a
 * share. */
#ifndef DSE_REPORT_PROSE_H
#define DSE_REPORT_PROSE_H

#include "report/parts.h"

#define REPORT_WIDTH 80

report_text report_say_time(uint64_t ns);                 /* "9.512 s" */
report_text report_say_bytes(double bytes);               /* "67.0 GB" */
report_text report_say_share(double part, double whole);  /* "74.6%"; "-" of nothing */
void report_say_point(const store_row *r, dse_strbuf *p); /* "dp 8, tp 1, sp 8, pp 1, recomputing" */

/* Stands for a space at which no line is broken: "sp" REPORT_UNBROKEN "8". */
#define REPORT_UNBROKEN "\1"

/* Behind the k-th of n things: ", " or " and " or nothing. */
const char *report_separator(size_t k, size_t n);

/* "activations (30.0 GB, 44.8%), weights (...) and ...": the parts that are not 0, largest first, equals in
 * their order; of these the ones from `first` to before `end`. Returns how many are not 0. */
size_t report_say_parts(const store_metrics *m, const report_part *parts, size_t n, size_t first, size_t end,
                        dse_strbuf *p);

/* "1.203 s more for communication along sp and 99.70 ms less for ...": how the parts of the step of m differ
 * from those of `than`, largest difference first; they add up to the difference of the steps. Says nothing if
 * none does. */
void report_say_differences(const store_metrics *m, const store_metrics *than, dse_strbuf *p);

/* Appends the paragraph and an empty line to out, and clears it. _paragraph: the same of one format. */
void report_end_paragraph(dse_strbuf *p, dse_strbuf *out);
void report_paragraph(dse_strbuf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
