/* Within the view: the lists that two passes over all events fill together. A trace has millions of events,
 * and most are in none. */
#ifndef DSE_METRICS_SIEVE_H
#define DSE_METRICS_SIEVE_H

#include "metrics/events.h"

enum {
    PICK_KERNELS,
    PICK_MEMORY,
    PICK_LAUNCHES,
    PICK_RANGES,    /* of the host that name a collective: nccl:*, but nccl:coalesced */
    PICK_HOST_COMM, /* annotations nccl:* that last */
    PICK_GPU_COMM,  /* the same on the GPU's side */
    PICK_STEPS,     /* steps that last: annotations, */
    PICK_CPU_STEPS, /* operators, */
    PICK_GPU_STEPS, /* and on the GPU's side */
    PICKS
};

typedef struct {
    const trace_rank *rank;
    const uint8_t *said; /* by name */
    const char *marker;  /* what steps are called */
    metric_events list[PICKS];
} metric_sieve;

/* The lists, in the order of the file, are in the arena. */
void metric_sieve_init(metric_sieve *s, const trace_rank *r, dse_arena *scratch);

#endif
