/* A recorded step as it would be on another system: how much longer or shorter each kernel and collective of
 * its graph takes there (whatif_question.op_time, collective_time).
 *
 * Everything is a ratio of two simulated times, that on the other system over that on the recorded one, so
 * the same system gives the recorded step back, and what a model is off in both alike cancels.
 *
 *   kernels      by the laws of both devices (sim/kernel_time.h). Where the operator that launched a kernel
 *                says its sizes, of that shape; else of large kernels of its class: products and attention
 *                by the share of the peak, all others by that of the bandwidth of memory. A class for which
 *                one of the devices has no law goes by the roofline on both. Types of elements of more than
 *                8 bits go by the peak of 16 bits.
 *   collectives  alone, on both networks, rank i on NPU i; of a size that is not recorded, by the size that
 *                takes as long as recorded on the recorded system's network.
 *
 * The host, copies, and collectives that are not whole stay as recorded. */
#ifndef DSE_DRIVER_OTHER_SYSTEM_H
#define DSE_DRIVER_OTHER_SYSTEM_H

#include "whatif/question.h"

enum { DRV_OTHER_PRODUCTS, DRV_OTHER_ATTENTION, DRV_OTHER_MEMORY, DRV_OTHER_CLASSES };

typedef struct {
    const char *system, *recorded_on;   /* names of cards */
    const char *gpu;                    /* as the trace says it, if recorded_on follows from it; NULL */
    double *op_time;                    /* by operation of the graph */
    double *collective_time;            /* by collective */
    double of_class[DRV_OTHER_CLASSES]; /* ratios of large kernels */
    uint32_t n_by_shape, n_by_class;    /* kernels */
    /* Collectives: simulated, those of them by a size that follows from their time; as recorded, as a rank is
     * missing or as they have no such type. */
    uint32_t n_simulated, n_by_time, n_as_recorded;
} drv_other_system;

/* `system` and `recorded_on` are names of cards or paths; recorded_on NULL: the shipped card of the device
 * that the trace names. Texts and arrays are in the arena. DSE_E_ABSENT: the trace names no device, or one
 * without a card; DSE_E_RANGE: a system has fewer NPUs than the run has ranks; DSE_E_CONFIG, DSE_E_IO: the
 * cards. */
dse_status drv_other_system_of(const whatif_recorded *r, const whatif_recording *from, const char *system,
                               const char *recorded_on, dse_arena *a, drv_other_system *out, dse_error *err);

#endif
