#include "sim/kernel_time.h"

/* Operations per second by the roofline, of so many operations a byte. */
static double attained(const sim_device *d, double intensity)
{
    const double perf = d->memory_bytes_per_s * intensity;

    return perf < d->peak_ops_per_s ? perf : d->peak_ops_per_s;
}

double sim_kernel_roofline_ns(const wl_kernel *k, const sim_device *d)
{
    const double ops = (double)k->operations;

    return ops / attained(d, ops / (double)k->bytes) * 1e9;
}

/* Operations per second are bounded by the peak and by memory bandwidth times operational intensity. A kernel
 * of no operations lasts 0/0 seconds; see base/time.h for what becomes of that. The fixed cost comes on top,
 * and is truncated with it: without one the ticks are the reference's. */
sim_cost sim_kernel_time(const wl_kernel *k, const sim_device *d)
{
    double ops = (double)k->operations, intensity = ops / (double)k->bytes;
    const double perf = attained(d, intensity);
    sim_cost out = {.op_intensity = intensity};
    dse_time work;

    work = dse_ticks(ops / perf * 1e9);
    out.ticks = dse_ticks(ops / perf * 1e9 + d->overhead_ns);
    out.overhead = out.ticks > work ? out.ticks - work : 0;
    out.compute_util = perf / d->peak_ops_per_s;
    out.memory_util = perf / intensity / d->memory_bytes_per_s;
    out.memory_bound = perf < d->peak_ops_per_s;
    return out;
}
