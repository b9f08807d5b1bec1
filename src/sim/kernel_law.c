/* The law of a class of kernels: an affine function of operations and bytes.
 *
 * Measured products of matrices follow it to 4 to 6 % where the roofline is 23 to 35 % off (configs/devices):
 * the tensor cores sustain a share of their peak, part of the traffic is not hidden behind them, and each
 * call has a fixed time. A kernel that is bound by memory has no first term: bytes over a share of the
 * bandwidth, and the fixed time.
 *
 * Fused attention reaches the more of the peak the longer the sequence is: the share e s / (s + s0) of it,
 * with s keys. As a law that is flop_factor 1/e and half_length s0. The keys count as they are computed at
 * once: with context parallelism around a ring those of one rank.
 *
 * Tensor cores take rows that begin at multiples of 16 bytes (NVIDIA, Matrix Multiplication Background:
 * "aligned to multiples of 16 bytes"). A product whose k or n is none has its first term times `unaligned`.
 *
 * Where a table of measured times by shape stands beside the law, what it says of the shape is a factor of
 * all this (kernel_table.h).
 *
 * Left out: how well tiles of a product fill the multiprocessors (5.7 instead of 6.8 % in the mean over the
 * same shapes of an A100, but up to 150 % off), clocks that sink under load, and without a table heads and
 * their sizes. */
#include "sim/kernel_table.h"
#include "sim/kernel_time.h"

static bool is_aligned(const wl_kernel *k, int extent)
{
    return (uint64_t)((double)k->extent[extent] * k->element_bytes) % 16 == 0;
}

double sim_kernel_law_ns(const wl_kernel *k, const sim_device *d, const sim_law *law)
{
    double factor = law->flop_factor;

    if (law->half_length > 0 && k->extent[WL_EXTENT_N])
        factor *= 1 + law->half_length / (double)k->extent[WL_EXTENT_N];
    if (law->unaligned > 0 && !(is_aligned(k, WL_EXTENT_N) && is_aligned(k, WL_EXTENT_K)))
        factor *= law->unaligned;
    return factor * (double)k->operations / d->peak_ops_per_s * 1e9 +
           law->byte_factor * (double)k->bytes / d->memory_bytes_per_s * 1e9 + law->overhead_ns;
}

dse_time sim_kernel_law(const wl_kernel *k, const sim_device *d, const sim_law *law)
{
    const double roofline = sim_kernel_roofline_ns(k, d);
    double ns = sim_kernel_law_ns(k, d, law);

    ns = law->table ? ns * sim_table_ratio(law->table, k) : ns;
    return dse_ticks((roofline > ns ? roofline : ns) + d->overhead_ns);
}
