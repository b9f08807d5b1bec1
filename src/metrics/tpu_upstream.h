/* tpu_upstream -- how the original TPU tools see a Chrome trace, of whatever kind: a table of all its
 * duration events, each of which communicates, computes or does neither by words in its name and category.
 *
 * Source: CCL-Bench, tools/utils-group-21.py. Their flaws are the spec's section 6 (a) to (h). */
#ifndef DSE_METRICS_TPU_UPSTREAM_H
#define DSE_METRICS_TPU_UPSTREAM_H

#include "metrics/hockney.h"
#include "trace/record.h"

/* Sums in seconds. "timed" is with a device duration, "valid" with a size and a device duration above 0. */
typedef struct {
    uint64_t n, n_timed;
    double timed_s, dur_s;
} tpu_upstream_kind;

typedef struct {
    uint64_t n; /* duration events */
    double wall_s;
    tpu_upstream_kind compute, comm;
    uint64_t n_valid;
    double rate_sum; /* over valid: bytes per second */
    size_t n_all_reduces;
    hockney_sample *all_reduce; /* valid; n is not filled in */
    double all_reduce_s;
    double model_flops, bytes_accessed;  /* over all events */
    double flops_of_timed, s_with_flops; /* over those with both above 0 */
} tpu_upstream;

/* Arrays in the arena. DSE_E_ABSENT if there is no duration event. */
dse_status tpu_upstream_init(const trace_rank *r, dse_arena *a, tpu_upstream *out, dse_error *err);

/* The bytes that an operation read and wrote; 0: unknown. */
double tpu_accessed(const trace_args *a);

/* The time rule: device time if any event of the kind has it, else the sum of durations. */
double tpu_upstream_time(const tpu_upstream_kind *k);

#endif
