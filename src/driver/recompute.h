/* drv_recomputes -- the least time of a pipeline of which each stage may make any of many numbers of its
 * layers again (recompute_layout).
 *
 * More layers that are made again add kernels and collectives to backward passes, which all else waits for
 * as before, so that on a machine that bounds (step/run.h) no step gets shorter by them: no point of a box
 * takes less than the step with the fewest of each stage. These are the fewest that may fit. What a stage
 * holds depends on its place and its own number, so that tables by that number say which may: where each
 * rank has one stage by the rank's peak, and where it has several by the mean of what passes find there
 * (step_memory_between), with the best numbers of its other stages.
 *
 * Where ranks have several stages the fewest of each do not fit together, and another bound is added: of a
 * rank all passes, of those numbers with which they take least and its stages fit, with what comes before
 * the first and behind the last of them (step_floors). The least is that of the Lagrangian: for any price of
 * a byte no choice that fits takes less than the sum of the stages' least times with what their bytes cost,
 * minus the price of the memory that there is.
 *
 * Of schedules of two directions no number is left out. */
#ifndef DSE_DRIVER_RECOMPUTE_H
#define DSE_DRIVER_RECOMPUTE_H

#include "design/parts.h"
#include "driver/training.h"

typedef struct drv_recomputes drv_recomputes;

drv_recomputes *drv_recomputes_new(void);
void drv_recomputes_free(drv_recomputes *d); /* may be NULL */

/* Raises the low ends of ranges to the least numbers that may fit, and returns the study with these, until
 * the next call; NULL: none fit. *wall: no step of these ranges is shorter, besides that of the study; 0:
 * nothing is claimed. Of a strategy of a study that says how many layers of each stage are made again. `key`
 * tells the study from others that were asked about: tables are kept. hbm_bytes NaN: there is no limit. */
const drv_study *drv_recomputes_least(drv_recomputes *d, const uint32_t *key, size_t n_key,
                                      const drv_study *s, const strategy *p, step_machine machine,
                                      double hbm_bytes, design_part *part, dse_time *wall);

/* Few numbers that fit, per stage: from the low ends on those of a rank that does not are raised, where that
 * frees most. Of the same as above. False: none were found. */
bool drv_recomputes_fit(drv_recomputes *d, const uint32_t *key, size_t n_key, const drv_study *s,
                        const strategy *p, step_machine machine, double hbm_bytes, const design_part *part,
                        uint32_t *out);

#endif
