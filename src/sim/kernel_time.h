/* How long a computation takes on a device: laws that turn a kernel (workload/kernel.h) into a time.
 *
 * The engine takes the roofline, as ASTRA-sim does. The training step (step/clock.h) takes the law of the
 * kernel's class, which a device's file has (configs/devices), and the roofline for classes without one. */
#ifndef DSE_SIM_KERNEL_TIME_H
#define DSE_SIM_KERNEL_TIME_H

#include "base/time.h"
#include "sim/settings.h"
#include "workload/kernel.h"

/* The part of the settings that a law needs. */
typedef struct {
    double peak_ops_per_s, memory_bytes_per_s;
    double overhead_ns; /* fixed cost of a kernel */
} sim_device;

static inline sim_device sim_device_of(const sim_settings *set)
{
    return (sim_device){set->peak_ops_per_s, set->memory_bytes_per_s, set->kernel_overhead_ns};
}

typedef struct {
    dse_time ticks;                                 /* all of it, */
    dse_time overhead;                              /* the part of it that is the fixed cost of a kernel */
    double op_intensity, compute_util, memory_util; /* the latter two: while it is not */
    bool memory_bound;
} sim_cost;

/* The device as kernels of a law see it: with the peak of their type of elements, of so many bytes. */
static inline sim_device sim_device_for(const sim_device *d, const sim_law *law, double element_bytes)
{
    const double peak =
        element_bytes > 2 && law->peak32_ops_per_s > 0 ? law->peak32_ops_per_s : law->peak_ops_per_s;
    sim_device own = *d;

    if (peak > 0)
        own.peak_ops_per_s = peak;
    return own;
}

/* The roofline, which looks at operations and bytes alone. The kernel moves bytes. */
sim_cost sim_kernel_time(const wl_kernel *k, const sim_device *d);

/* The same without the device's fixed cost; ns, not a number for a kernel of no operations. */
double sim_kernel_roofline_ns(const wl_kernel *k, const sim_device *d);

/* By the terms of a law alone, without a table and the device's fixed cost; ns. */
double sim_kernel_law_ns(const wl_kernel *k, const sim_device *d, const sim_law *law);

/* By a law that is given: kernel_law.c. Ticks, with the device's fixed cost of a kernel besides the law's.
 * Never below the roofline of the same peak and bandwidth, whatever the law and its table say: terms that
 * were fitted to large products can undercut it where the kernel is bound by memory. */
dse_time sim_kernel_law(const wl_kernel *k, const sim_device *d, const sim_law *law);

#endif
