/* Within the view: which call launched a kernel, and which collective a communication is. */
#ifndef DSE_METRICS_LAUNCHES_H
#define DSE_METRICS_LAUNCHES_H

#include "metrics/sieve.h"

/* By place in `kernels`: the host event that launched it, or DSE_NONE. In the arena. */
uint32_t *metric_launches_of(const metric_sieve *s, const metric_events *kernels, dse_arena *a);

/* The metric_comm_type of each of `comm`, in the arena. comm_at says which of the kernels each is, whose
 * launches are in `launch`; comm_at is NULL if the communications are annotations. */
uint8_t *metric_comm_types_of(const metric_sieve *s, const metric_events *comm, const uint32_t *comm_at,
                              const uint32_t *launch, dse_arena *a);

#endif
