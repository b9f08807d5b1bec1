/* msr_compare -- simulated against measured: traces with their workload cards, and rows of tables, on one
 * machine. */
#ifndef DSE_MEASURED_COMPARE_H
#define DSE_MEASURED_COMPARE_H

#include "measured/runs.h"
#include "report/compared.h"

typedef struct {
    msr_runs_options runs; /* without `see` */
    const cmp_weights *weights;
    cmp_bootstrap bootstrap;
    double max_error; /* fraction; NaN: none */
    /* rows simulated at a time; 0: as many as there are cores. The result does not depend on it */
    uint32_t n_threads;
    void (*progress)(void *user, size_t done, size_t n); /* rows simulated; NULL */
    void *user;
} msr_compare_options;

/* What cannot be represented is counted in `left`; a run whose simulation fails is there with the reason.
 * Fails as msr_runs_load does. All in the arena. */
dse_status msr_compare(const msr_compare_options *o, dse_arena *a, report_compared *out, dse_error *err);

#endif
