/* Metrics of a trace for people and programs: as text, CSV, JSON. measured_page.h: as a page. */
#ifndef DSE_REPORT_MEASURED_H
#define DSE_REPORT_MEASURED_H

#include "metrics/metric.h"

/* One metric, or why there is none. */
typedef struct {
    const char *name; /* "iter_time"; "guide.straggler" where several groups have the name */
    const metric *row;
    metric_value *value; /* NULL: absent */
    const char *why;     /* it is absent; under --compat also why only an absent value stands for it */
    bool other_kind;     /* it is absent because it is of other kinds of traces */
} report_measured;

/* The entry of the value that is printed bare; NULL if the whole object is, or there is none. */
const metric_value *report_measured_headline(const report_measured *m);

/* What --metric prints: the bare headline, or the object. An absent headline is printed as the original tools
 * of the metric's group print it, "nan" or "-1". m->value is there. */
void report_measured_bare(const report_measured *m, dse_strbuf *out);

/* A scalar for reading: of a number six digits, or all of a whole one; "yes" or "no"; `absent` for none. */
void report_measured_scalar(const metric_value *v, const char *absent, dse_strbuf *out);

/* An object or a list, which is no scalar. */
static inline bool report_is_tree(const metric_value *v)
{
    return v->kind == METRIC_OBJECT || v->kind == METRIC_LIST;
}

/* For reading: each metric with its entries, aligned, a headline in the line of the name; long lists by their
 * length, and what is per rank only where nothing is said of all. Absent ones are left out. */
void report_measured_text(const report_measured *m, size_t n, dse_strbuf *out);

/* The value, beginning on a line of this depth; of an absent one {"absent": reason}. _json: an object of
 * those, by name. */
void report_measured_json_one(const report_measured *m, int depth, dse_strbuf *out);
void report_measured_json(const report_measured *m, size_t n, int depth, dse_strbuf *out);

/* Quoted as RFC 4180 says. A row is a scalar: "metric,value" with metric.key.subkey, or the bare name for the
 * headline; lists count from 0. What is absent is N/A. `workload` (NULL: none) is a column in front. */
void report_measured_csv_heading(bool workload, dse_strbuf *out);
void report_measured_csv(const char *workload, const report_measured *m, size_t n, dse_strbuf *out);

#endif
