/* drv_simulated -- a simulated point as a recording: what metrics measure as they measure traces. */
#ifndef DSE_DRIVER_SIMULATED_H
#define DSE_DRIVER_SIMULATED_H

#include "driver/recording.h"
#include "driver/study.h"

/* Runs a point and leaves its record, a rank of kind TRACE_SIMULATED each, with what it held in memory; `card` (NULL: none)
 * is copied as the recording's own. `summary` (NULL) gets what is stored of the point. Free *out in any case. */
dse_status drv_simulated_run(const drv_study *s, const design_point *p, const trace_card *card,
                             drv_recording *out, store_metrics *summary, dse_error *err);

#endif
