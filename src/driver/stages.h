/* drv_stages -- the least step of a pipeline whose stages may have any of many numbers of layers.
 *
 * What the passes of a stage take depends on its place and its layers alone, so that tables of it by
 * numbers of layers (step_floors) say for each rank at least: when its first pass can begin, after the
 * forward passes of the stages before it; all of its own passes; and the backward passes behind its last
 * one, through the same stages. Where each rank has one stage, the layouts of a box are gone through from
 * stage to stage by the number of layers so far, so that the bound is of whole layouts and not of the
 * best number of each stage; and a number whose rank would hold more than memory has is left out. Where
 * ranks have several stages, the layers are shared out to the ranks, each with the best of its stages; of
 * their memory counts what passes find there, in the mean; and a close look counts paths through the whole
 * schedule (stage_paths.h), as a rank that has few layers in one stage has many in another one. And no step
 * is shorter than the schedule with the least of each pass that the ranges allow. Of schedules with pairs or
 * two directions nothing is claimed.
 *
 * Beyond half as many layers again as an even stage has, only the kernels are counted, and for each layer
 * more the least that one adds to them. A rank of several stages may have all its layers in one of them: a
 * close look counts all up to half as many again as an even rank has, and takes as much longer once. */
#ifndef DSE_DRIVER_STAGES_H
#define DSE_DRIVER_STAGES_H

#include "design/parts.h"
#include "driver/training.h"

typedef struct drv_stages drv_stages;

drv_stages *drv_stages_new(void);
void drv_stages_free(drv_stages *s); /* may be NULL */

typedef struct {
    bool is_empty;    /* no layout fits */
    dse_time wall;    /* at least; 0: nothing is claimed */
    uint32_t *layout; /* layers of each stage that look best, in the caller's array; NULL: not asked for */
} drv_stages_bound;

/* Of a strategy of a study whose model says how many layers each stage has, with ranges of these that
 * design_parts_tighten has seen. `key` tells the study from others that were asked about: tables are
 * kept. hbm_bytes NaN: there is no limit. is_close: the bound is higher, of ranks with several stages.
 * Fails as drv_training_floors. */
dse_status drv_stages_least(drv_stages *d, const uint32_t *key, size_t n_key, const drv_study *s,
                            const strategy *p, step_machine machine, const design_part *part,
                            double hbm_bytes, bool is_close, drv_stages_bound *out, dse_error *err);

#endif
