/* Small statistics that many metrics share. */
#ifndef DSE_METRICS_NUMBERS_H
#define DSE_METRICS_NUMBERS_H

#include "metrics/kinds.h"
#include "metrics/value.h"
#include "trace/record.h"

typedef struct {
    size_t n;
    double mean, min, max;
    double deviation; /* of a sample, n - 1; 0 for fewer than two */
} metric_summary;

metric_summary metric_summarise(const double *v, size_t n);

/* The p-quantile, 0..1, of ascending values by linear interpolation (numpy's default). n > 0. */
double metric_quantile(const double *ascending, size_t n, double p);
void metric_sort(double *v, size_t n);

/* The object "<number>" in an object of stages, devices or ranks. */
metric_value *metric_put_numbered(metric_value *to, uint32_t number);

/* That of a rank in an object of ranks. */
metric_value *metric_put_rank(metric_value *ranks, const trace_rank *rank);

/* An object of the counts of communications by type, those above 0. */
void metric_put_types(metric_value *to, const char *key, const uint64_t n[METRIC_COMM_TYPES]);

/* part / whole; absent with the reason if whole is 0. */
metric_value *metric_put_ratio(metric_value *to, const char *key, double part, double whole, const char *why);

/* The time of the file, in microseconds. */
double metric_compat_us(const trace_rank *rank, int64_t ps);

/* The offset that makes times of `rank` comparable with those of `origin`, by addition. */
int64_t metric_clock_offset(const trace_rank *rank, const trace_rank *origin);

/* Rounded as Python's round(v, digits) prints it. */
double metric_round(double v, int digits);

#endif
