/* A sample of points, as a study in Python draws it.
 *
 * random.seed(S), then for each model in its order random.sample(sorted(names), N), where a name is
 * <model>_<dp>_<tp>_<pp>_<sp>_<weight sharded>_<recompute> with Python's True and False, followed by
 * "_KEY=VALUE" for each value that varies over the cards. Systems on which a model has the same names share
 * its draw; one with others is drawn for after those before it. */
#ifndef DSE_DRIVER_SAMPLE_H
#define DSE_DRIVER_SAMPLE_H

#include "driver/points.h"

/* Leaves N points of each study, in the order drawn. DSE_E_USAGE if a study has fewer. */
dse_status drv_points_sample(drv_points *p, uint32_t n, int64_t seed, dse_arena *a, dse_error *err);

#endif
