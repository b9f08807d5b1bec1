/* drv_simulated -- a simulated point as a recording: what metrics measure as they measure traces. */
#ifndef DSE_DRIVER_SIMULATED_H
#define DSE_DRIVER_SIMULATED_H

#include "driver/recording.h"
#include "driver/study.h"

/* Runs a point and leaves its record, a rank of kind TRACE_SIMULATED each, with what it held in memory; `card` (NULL:
 * none) becomes the recording's own, its texts borrowed, but for its order of ranks, which is the model's placement.
 * `summary` (NULL) gets what is stored of the point, its texts in the recording. The record has no path: no metric looks
 * for files beside it. DSE_E_RANGE: the run is longer than a record can say; whatever generating and simulating fail
 * with. Free *out in any case. */
dse_status drv_simulated_run(const drv_study *s, const design_point *p, const trace_card *card,
                             drv_recording *out, store_metrics *summary, dse_error *err);

#endif
