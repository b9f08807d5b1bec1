/* later_calls -- the collectives of a rank with their sizes, for bandwidths and volumes: as the later tools
 * read them, and by the definitions. */
#ifndef DSE_METRICS_LATER_CALLS_H
#define DSE_METRICS_LATER_CALLS_H

#include "metrics/context.h"

typedef struct {
    metric_comm_type type;
    double bytes;   /* 0: unknown. Upstream: the input; by the definition: the whole buffer */
    double seconds; /* 0: unknown */
    double factor;  /* bytes on a member's link per byte; NaN: the number of members is unknown */
} later_call;

typedef struct {
    uint32_t n;
    later_call *call;
} later_calls;

/* The calls of the i-th rank of the four types that the tools know; under --compat as the tools read them.
 * DSE_E_ABSENT if the members of a TPU's group are unknown. */
dse_status later_calls_of(const metric_context *x, uint32_t i, later_calls *out, dse_error *err);

#endif
