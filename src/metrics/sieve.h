/* Within the view: the lists that two passes over all events fill together (a trace has millions of
 * events, and most are in none); which call launched a kernel, and which collective a communication is
 * (launches.c). */
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

/* Of n lists of GPU events, by place in each: the host event that launched it, or DSE_NONE. In the arena. */
void metric_launches_of(const metric_sieve *s, const metric_events *list, size_t n, dse_arena *a,
                        uint32_t **launch);

/* The metric_comm_type of each of `comm`, in the arena. comm_at says which of the kernels each is, whose
 * launches are in `launch`; comm_at is NULL if the communications are annotations. */
uint8_t *metric_comm_types_of(const metric_sieve *s, const metric_events *comm, const uint32_t *comm_at,
                              const uint32_t *launch, dse_arena *a);

#endif
