/* drv_paths -- the least step over layouts of a pipeline whose ranks have several stages, by paths through its
 * schedule.
 *
 * A path is a chain of passes and transfers of which each waits for the one before, on its rank or for its
 * tensor; no step is shorter than any path. Those that are looked at lead one micro-batch to a rank, stay
 * there for some of its passes, and follow another micro-batch from there to the end of its way. How long one
 * is depends on the layout as a sum over stages: so many passes of each kind, of so many layers. Hence
 *
 *     step >= the longest path >= any mean of paths,
 *
 * and a mean is a sum over stages, too, so that its least over all layouts of a box is found stage by stage:
 * each layer goes to where it adds least to the convex function below the stage's times, of which a stage with
 * more layers is never below what is summed up. What ranks hold is likewise a sum over stages, and for any
 * price of a byte, from 0 on, no layout that fits takes less than its time with the price of all that it
 * holds, less the price of the memory there is.
 *
 * A rank alone takes some time at least by the number of its layers (`by_rank`). Of the layouts of which no
 * rank takes as long as X the mean is P(X) at least; the others take X. So no layout takes less than the
 * lesser of X and P(X), whatever X is: it is chosen so that this is most.
 *
 * So every mean, price and X gives a bound, however it was found. Good ones are those of the best layout with
 * parts of layers: there the longest paths have a mean that no other such layout makes less of. It is found
 * by Newton's method, of a smooth maximum of all paths and a penalty for ranks without room, whose slopes are
 * the prices. */
#ifndef DSE_DRIVER_STAGE_PATHS_H
#define DSE_DRIVER_STAGE_PATHS_H

#include "design/parts.h"
#include "step/run.h"

typedef struct drv_paths drv_paths;

/* Of a plan of one direction without pairs, which is borrowed. `whole`: layers of the model. */
drv_paths *drv_paths_new(const sched_plan *plan, uint32_t whole, dse_arena *a);

/* What a stage takes and holds with so many layers; of each stage, and from 0 to `whole`, before anything is
 * asked. */
void drv_paths_set(drv_paths *p, uint32_t stage, uint32_t layers, const step_stage_floor *f, uint64_t bytes);

typedef struct {
    const design_part *part;  /* per stage: as design_parts_tighten has seen */
    const double *room;       /* per rank: bytes for its stages; NaN: there is no limit */
    dse_time *const *by_rank; /* per rank and number of its layers; DSE_TIME_NONE: it cannot have so many */
    dse_time least;           /* what is known of them all */
} drv_paths_box;

/* No layout of these that fits takes less, without the end of the step; at least box->least. By the best mean
 * of the first box that was asked about: those of others are near. */
dse_time drv_paths_least(drv_paths *p, const drv_paths_box *box);

/* Whole layers near the best layout with parts of layers, whose ranks have about enough room; false: none was
 * found. */
bool drv_paths_lay_out(drv_paths *p, const drv_paths_box *box, uint32_t *layout);

#endif
