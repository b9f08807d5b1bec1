/* drv_bounds -- what the points of a sweep take at least: sim/bound.h for a study and a point. */
#ifndef DSE_DRIVER_BOUND_H
#define DSE_DRIVER_BOUND_H

#include "driver/study.h"
#include "sim/bound.h"

/* The outlines of models that were needed, by operators, layers and variant; and the system of one study. */
typedef struct {
    const drv_study *study; /* borrowed; NULL: none yet */
    net_network net;
    sim_settings settings;
    sim_bounds *bounds;
    wl_symbols symbols;
    struct drv_outline *outline;
    size_t n_outlines, cap_outlines;
    dse_arena outlines, system, point;
} drv_bounds;

void drv_bounds_init(drv_bounds *b);
void drv_bounds_free(drv_bounds *b);

/* Makes a study the one whose points are asked for; it is borrowed until the next one. Fails as a simulation of the study
 * would; then its points have no bound. */
dse_status drv_bounds_enter(drv_bounds *b, const drv_study *s, dse_error *err);

/* Of a point of that study. Fails for what the generator refuses; DSE_E_CONFIG also if the operator file has changed. */
dse_status drv_bounds_of(drv_bounds *b, const design_point *p, sim_bound *out, dse_error *err);

#endif
