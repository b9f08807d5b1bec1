/* msr_pairs -- the metrics by which a simulated run and a measured one are compared: the same rows of the
 * registry over both.
 *
 * Units, direction and tolerance are the metric's (metric_entry). What grows with the length of a recording,
 * times of compute and communication, calls, bytes, is taken per step and rank, so that a recording of
 * several steps, or of some ranks only, compares with a simulated step of all. */
#ifndef DSE_MEASURED_PAIRS_H
#define DSE_MEASURED_PAIRS_H

#include "compare/score.h"
#include "driver/recording.h"
#include "store/store.h"

/* The compared quantities; pairs have these names, and weights refer to them. */
typedef struct {
    const char *name; /* "step_time", "calls.AllReduce" */
    const char *help;
} msr_pair_kind;

/* All, in the order of the pairs. */
extern const size_t msr_n_pair_kinds;
msr_pair_kind msr_pair_kind_at(size_t i);

/* All of the table in pairs.c, in its order; those that both sides lack as well. A training step is simulated
 * without a recording: `step` (else NULL) is what is stored of it, and `simulated` is NULL. Texts are in the
 * arena or constant. */
dse_status msr_pairs_make(const drv_recording *simulated, const store_metrics *step,
                          const drv_recording *measured, dse_arena *a, cmp_pair **out, size_t *n,
                          dse_error *err);

/* The step time of one recording alone, s; NaN and why it is absent. */
dse_status msr_pairs_step_time(const drv_recording *r, dse_arena *a, double *out, const char **why,
                               dse_error *err);

/* What there is to say of a measured recording's reach: "of 8 ranks only rank 3 is there: what is measured is
 * that of it". NULL: all ranks are there, or how many there should be is not known. */
const char *msr_pairs_reach(const drv_recording *measured, dse_arena *a);

/* Step time alone, and peak memory: of a table's row, which has no trace. Seconds, bytes; NaN: absent, for
 * the reason. */
typedef struct {
    double step_time_s, peak_memory_bytes;
    const char *why_no_memory;
} msr_figures;
dse_status msr_pairs_of_figures(const msr_figures *simulated, const msr_figures *measured, dse_arena *a,
                                cmp_pair **out, size_t *n, dse_error *err);

#endif
