/* drv_compare -- simulated against measured: traces with their workload cards, and rows of tables, on one machine. */
#ifndef DSE_DRIVER_COMPARE_H
#define DSE_DRIVER_COMPARE_H

#include "driver/runs.h"
#include "report/compared.h"

typedef struct {
    drv_runs_options runs; /* without `see` */
    metric_options how;
    const cmp_weights *weights;
    cmp_bootstrap bootstrap;
    double max_error; /* fraction; NaN: none */
    uint32_t
        n_threads; /* rows simulated at a time; 0: as many as there are cores. The result does not depend on it */
    void (*progress)(void *user, size_t done, size_t n); /* rows simulated; NULL */
    void *user;
} drv_compare_options;

/* What cannot be represented is counted in `left`; a run whose simulation fails is there with the reason. Fails as
 * drv_runs_load does. All in the arena. */
dse_status drv_compare(const drv_compare_options *o, dse_arena *a, report_compared *out, dse_error *err);

#endif
