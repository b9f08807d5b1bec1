/* drv_pairs -- the metrics by which a simulated run and a measured one are compared: the same rows of the registry over both. */
#ifndef DSE_DRIVER_PAIRS_H
#define DSE_DRIVER_PAIRS_H

#include "compare/score.h"
#include "driver/recording.h"

/* All of the table in pairs.c, in its order; those that both sides lack as well. `o` holds for both. DSE_E_NOMEM. */
dse_status drv_pairs_make(const drv_recording *simulated, const drv_recording *measured,
                          const metric_options *o, dse_arena *a, cmp_pair **out, size_t *n, dse_error *err);

/* Step time alone, and peak memory: of a table's row, which has no trace. Seconds, bytes; NaN: absent, for the reason. */
typedef struct {
    double step_time_s, peak_memory_bytes;
    const char *why_no_memory;
} drv_figures;
dse_status drv_pairs_of_figures(const drv_figures *simulated, const drv_figures *measured, dse_arena *a,
                                cmp_pair **out, size_t *n, dse_error *err);

#endif
