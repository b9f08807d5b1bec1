#include "metrics/numbers.h"

#include "base/order.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

metric_summary metric_summarise(const double *v, size_t n)
{
    metric_summary s = {.n = n, .min = INFINITY, .max = -INFINITY};
    double sum = 0, squares = 0;

    for (size_t i = 0; i < n; i++) {
        sum += v[i];
        s.min = v[i] < s.min ? v[i] : s.min;
        s.max = v[i] > s.max ? v[i] : s.max;
    }
    s.mean = sum / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (v[i] - s.mean) * (v[i] - s.mean);
    s.deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : 0;
    return s;
}

double metric_quantile(const double *ascending, size_t n, double p)
{
    double at = p * (double)(n - 1);
    size_t below = (size_t)at;

    if (below + 1 >= n)
        return ascending[n - 1];
    return ascending[below] + (at - (double)below) * (ascending[below + 1] - ascending[below]);
}

void metric_sort(double *v, size_t n) { qsort(v, n, sizeof *v, dse_by_double); }

metric_value *metric_put_numbered(metric_value *to, uint32_t number)
{
    char key[16];

    snprintf(key, sizeof key, "%" PRIu32, number);
    return metric_put_object(to, key);
}

metric_value *metric_put_rank(metric_value *ranks, const trace_rank *rank)
{
    return metric_put_numbered(ranks, rank->rank);
}

void metric_put_types(metric_value *to, const char *key, const uint64_t n[METRIC_COMM_TYPES])
{
    metric_value *types = metric_put_object(to, key);

    for (int t = 0; t < METRIC_COMM_TYPES; t++)
        if (n[t])
            metric_put_count(types, metric_comm_type_name[t], n[t]);
}

metric_value *metric_put_ratio(metric_value *to, const char *key, double part, double whole, const char *why)
{
    return whole != 0 ? metric_put_number(to, key, part / whole) : metric_put_absent(to, key, why);
}

/* Rounds through the decimal text, as CPython does: printf rounds the exact binary value, half to even. */
double metric_round(double v, int digits)
{
    char text[400];

    snprintf(text, sizeof text, "%.*f", digits, v);
    return strtod(text, NULL);
}

double metric_compat_us(const trace_rank *rank, int64_t ps)
{
    const int64_t whole_ns = ps / TRACE_PS_PER_NS;

    return (double)(rank->base_ns + whole_ns) / 1e3 + (double)(ps % TRACE_PS_PER_NS) / 1e6;
}

int64_t metric_clock_offset(const trace_rank *rank, const trace_rank *origin)
{
    int64_t ns, ps;

    if (__builtin_sub_overflow(rank->base_ns, origin->base_ns, &ns) ||
        __builtin_mul_overflow(ns, TRACE_PS_PER_NS, &ps) || ps > INT64_MAX / 2 || ps < INT64_MIN / 2)
        return rank->base_ns > origin->base_ns ? INT64_MAX / 2 : INT64_MIN / 2;
    return ps;
}
