/* drv_simulated -- a simulated point as a recording, which metrics measure like traces. */
#ifndef DSE_DRIVER_SIMULATED_H
#define DSE_DRIVER_SIMULATED_H

#include "driver/recording.h"
#include "driver/study.h"

/* Runs a point and records each rank, of kind TRACE_SIMULATED, with its peak memory. `card` (NULL: none) is
 * copied into the recording, its texts borrowed, with the model's placement as its order of ranks. `summary`
 * (NULL: not wanted) gets the figures to store, its texts in the recording. The record has no path, so
 * metrics find no side files. DSE_E_RANGE: the run is too long for a record; also the failures of generation
 * and simulation. Free *out in any case. */
dse_status drv_simulated_run(const drv_study *s, const strategy *p, const trace_card *card,
                             drv_recording *out, store_metrics *summary, dse_error *err);

#endif
