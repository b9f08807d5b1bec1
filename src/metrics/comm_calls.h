/* comm_calls -- the collectives of a rank with their sizes, for bandwidths, volumes and fits: by the
 * definitions, and as the later tools read them. */
#ifndef DSE_METRICS_COMM_CALLS_H
#define DSE_METRICS_COMM_CALLS_H

#include "metrics/context.h"

typedef struct {
    metric_comm_type type;
    double bytes;   /* 0: unknown. Upstream: the input; by the definition: the whole buffer */
    double seconds; /* 0: unknown */
    double factor;  /* bytes on a member's link per byte; NaN: the number of members is unknown */
    uint32_t n;     /* members, by the definition; 0: unknown */
} comm_call;

typedef struct {
    uint32_t n;
    comm_call *call;
} comm_calls;

/* The calls of each rank, in the arena of the context; under --compat as the later tools read them, of the
 * four types that they know. DSE_E_ABSENT if the members of a TPU's group are unknown. */
dse_status comm_calls_of(const metric_context *x, const comm_calls **by_rank, dse_error *err);

#endif
