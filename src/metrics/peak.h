/* metric_peak -- what a device can compute at most, by precision: dense matrix arithmetic, without sparsity.
 *
 * Source: the makers' data sheets (NVIDIA V100, A100, L40S, H100, H200, B200; AMD MI250X, MI300X; Google's
 * documentation of TPU versions); H800 and A800 compute as H100 and A100 do. A device is named as in workload
 * cards. */
#ifndef DSE_METRICS_PEAK_H
#define DSE_METRICS_PEAK_H

#include "base/status.h"

/* TFLOP/s of one device: 312 of "nvidia_a100" in "bf16". DSE_E_ABSENT with the known devices, or the known
 * precisions of the device; NULL is unknown, too. */
dse_status metric_peak_tflops(const char *device, const char *precision, double *tflops, dse_error *err);

/* The device that a trace names, as cards do: "nvidia_a100" of "NVIDIA A100-SXM4-40GB"; NULL: unknown. */
const char *metric_peak_device(const char *name);

/* What its links to its neighbours (NVLink, Infinity Fabric, ICI; PCIe where it has none) carry in one
 * direction at most, in bytes/s; 0: unknown. */
double metric_peak_links(const char *device);

#endif
