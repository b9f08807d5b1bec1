/* Makes the graph of a recorded step: which operations there are, and what each of them waited for.
 *
 * A profiler writes when things were, not why. What is certain: the order of calls on a thread, of operations
 * on a stream, of a call and what it launched. What follows from how programs work: a call that synchronises
 * ends after an operation on the GPU (build_host.c); a collective waits for the kernels launched before it,
 * and what is launched after a wait for it comes after it (build_waits.c); a collective ends at once for all
 * its ranks, some time after the last of them began it (build_comm.c). No edge is made that the recording
 * contradicts. */
#ifndef DSE_WHATIF_BUILD_H
#define DSE_WHATIF_BUILD_H

#include "metrics/view.h"
#include "whatif/graph.h"

#define WHATIF_MEDIAN_STEP INT64_MIN
#define WHATIF_ALL_STEPS   INT64_MAX

typedef struct {
    const metric_view *view; /* Kineto traces of one job, by rank */
    uint32_t n_views;
    int64_t step; /* its number; or one of the above: the median of the first rank's steps, or all at once */
    bool replicate; /* ranks that were not recorded behaved as those that were */
} whatif_recording;

typedef struct {
    whatif_graph graph;
    bool has_steps;
    int64_t number;   /* of the step; of the first of all */
    uint32_t n_steps; /* 1, or those that are taken together */
} whatif_recorded;

/* DSE_E_ABSENT: a rank has no such step, or no operation of a GPU that a call of the host launched in it.
 * DSE_E_WORKLOAD: the collectives of two ranks contradict each other; the message names both. */
dse_status whatif_build(const whatif_recording *r, dse_arena *a, whatif_recorded *out, dse_error *err);

#endif
