#include "metrics/compat_kineto.h"

/* base_ns times a thousand need not fit: what is left of the event in nanoseconds does. */
bool metric_compat_is_timed(const trace_rank *rank, const trace_event *e)
{
    int64_t ns = e->start_ps / TRACE_PS_PER_NS;

    return rank->base_ns > 0
               ? ns > -rank->base_ns || (ns == -rank->base_ns && e->start_ps % TRACE_PS_PER_NS > 0)
               : ns + rank->base_ns > 0 || e->start_ps + rank->base_ns * TRACE_PS_PER_NS > 0;
}

double metric_compat_us(const trace_rank *rank, int64_t ps)
{
    return (double)(rank->base_ns + ps / TRACE_PS_PER_NS) / 1e3 + (double)(ps % TRACE_PS_PER_NS) / 1e6;
}

int64_t metric_clock_offset(const trace_rank *rank, const trace_rank *origin)
{
    int64_t ns, ps;

    if (__builtin_sub_overflow(rank->base_ns, origin->base_ns, &ns) ||
        __builtin_mul_overflow(ns, TRACE_PS_PER_NS, &ps) || ps > INT64_MAX / 2 || ps < INT64_MIN / 2)
        return rank->base_ns > origin->base_ns ? INT64_MAX / 2 : INT64_MIN / 2;
    return ps;
}
