/* dse_time -- simulated time: unsigned ticks of one nanosecond since the start of the run.
 *
 * The reference simulator counts in unsigned 64-bit nanoseconds too, and converts every computed
 * duration by C++'s cast from double, which truncates. dse_ticks() is that cast with the results the
 * x86-64 build of the reference gives for values that the language leaves undefined: they show in
 * its output (a compute node without operations lasts 2^63 ns). */
#ifndef DSE_BASE_TIME_H
#define DSE_BASE_TIME_H

#include <math.h>
#include <stdint.h>

typedef uint64_t dse_time;

#define DSE_TIME_NONE UINT64_MAX

/* Truncates. NaN gives 2^63; 2^64 and above, and infinity, give 0; a negative value wraps. */
static inline dse_time dse_ticks(double v)
{
    const double two63 = 9223372036854775808.0, two64 = 18446744073709551616.0;

    if (v >= 0 && v < two63) /* all but always: one conversion of a signed number */
        return (dse_time)(int64_t)v;
    if (isnan(v) || v <= -two63)
        return (dse_time)1 << 63;
    if (v >= two64)
        return 0;
    if (v < 0)
        return (dse_time)(int64_t)v;
    return (dse_time)v;
}

#endif
