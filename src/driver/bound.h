/* drv_bounds -- what the points of a sweep take at least: of profile stage sim/bound.h for a study and a
 * point; of profile train the step itself, but that collectives take nothing of the compute (STEP_BOUND):
 * which takes as long as the point, and is met by it exactly where the network's card has no compute_share.
 *
 * A bound holds for every system on which nothing is faster, too: links, memory and compute as fast at most,
 * latencies and fixed times as long at least. */
#ifndef DSE_DRIVER_BOUND_H
#define DSE_DRIVER_BOUND_H

#include "driver/training.h"
#include "sim/bound.h"

/* The outlines of models that were needed, by operators, layers and passes; and the system of one study, and
 * what its model gives the symbols. All of it is kept here: nothing of a study stays behind a call. */
typedef struct {
    net_network net;
    sim_settings settings;
    sim_bounds *bounds; /* NULL: no study, or one without */
    cfg_doc operators;  /* of the study, read into the outlines' arena */
    uint64_t operators_hash;
    wl_symbols symbols;
    struct drv_outline *outline;
    size_t n_outlines, cap_outlines;
    bool with_paths; /* to be set: closer bounds of profile stage, for who asks for many (sim/bound.h) */
    wl_generator *generator; /* of the paths of these operators: */
    uint64_t generated_hash;
    sched_keeper *orders; /* of pipelines */
    dse_arena outlines, system, point;
} drv_bounds;

void drv_bounds_init(drv_bounds *b);
void drv_bounds_free(drv_bounds *b);

/* Refuses a study whose points have no bounds, as those of STAGE's branch main: `what` needs them.
 * DSE_E_CONFIG. */
dse_status drv_bounds_check(const drv_study *s, const char *what, dse_error *err);

/* Makes a study the one whose points are asked for. Fails as a simulation of the study would, and with
 * DSE_E_CONFIG if the operator file has changed; then its points have no bound. */
dse_status drv_bounds_enter(drv_bounds *b, const drv_study *s, dse_error *err);

/* Of a point of that study, which is given again. Fails for what the generator refuses. Of profile train all
 * is one chain, and the memory is the point's own. */
dse_status drv_bounds_of(drv_bounds *b, const drv_study *s, const strategy *p, sim_bound *out,
                         dse_error *err);

/* The same of a point alone, on no other system: of profile train it takes no longer, and is the point's own
 * time. */
dse_status drv_bounds_of_point(drv_bounds *b, const drv_study *s, const strategy *p, sim_bound *out,
                               dse_error *err);

/* The same time whatever the network is; the memory does not depend on it. */
dse_status drv_bounds_of_any_network(drv_bounds *b, const drv_study *s, const strategy *p, sim_bound *out,
                                     dse_error *err);

#endif
