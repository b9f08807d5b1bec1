/* msr_point -- a run's point on a machine, simulated without what other threads use. */
#ifndef DSE_MEASURED_POINT_H
#define DSE_MEASURED_POINT_H

#include "driver/study.h"

/* As drv_point_run, but nothing that points of a study share is written to: threads may run points of one
 * study, and of studies of one arena. `on` (NULL: the study's own) is the system instead. Texts in *out
 * are in the arena. */
dse_status msr_point_run(const drv_study *s, const card_system *on, const strategy *p, dse_arena *a,
                         store_metrics *out, dse_error *err);

#endif
