/* drv_boxes -- boxes of a space: sets of points of one study, with the least time that one of them can
 * take.
 *
 * A box has a range of values of each axis, and all strategies or one. Its corner is the point with its
 * most favourable values. How an axis of the cards is bounded depends on its key:
 *
 *   rate     links, memory, compute, latencies, fixed times: no step is longer where one of them is better
 *            (driver/bound.h), so the bound is that of the best value. The memory's capacity, which no
 *            step depends on, is of this kind, too.
 *   network  anything else of network.* and collectives.* that leaves the number of NPUs: while several
 *            values are left, the bound is that of a network that takes no time.
 *   layout   pipeline_layout with any layers by stage (drv_axis): how many stages there are is a shape; then
 *            a box has a range of layers for each stage, which sum up to the model's, with the bound of
 *            stages.h. Or recompute_layout: a range of layers that are made again, up to those of the stage,
 *            with the bound of the fewest that may fit (recompute.h).
 *   shape    all else: models, numbers of NPUs, laws of kernels. Nothing is claimed until one value is left.
 *
 * A box is split in this order: shapes; then into one box for each strategy; then networks; then the
 * rate, or the layers of the stage, whose halves have the largest bounds. A constraint that holds nowhere
 * in a box, as far as intervals tell, removes it, and so does memory that no NPU of it has. No box is
 * ever listed point by point: the work depends on the boxes that are looked at, not on the size of the
 * space. */
#ifndef DSE_DRIVER_BOX_H
#define DSE_DRIVER_BOX_H

#include "driver/bound.h"
#include "driver/recompute.h"
#include "driver/space.h"
#include "driver/stages.h"

typedef enum { DRV_AXIS_SHAPE, DRV_AXIS_LAYOUT, DRV_AXIS_NETWORK, DRV_AXIS_RATE } drv_axis_kind;

/* The values of an axis; those of a rate from the best on; of layouts numbers of stages. */
typedef struct {
    drv_axis_kind kind;
    uint32_t n;
    uint32_t *number;    /* per place: of the value in the space */
    design_value *value; /* per place; NULL: it has no number as its value */
    bool is_ordered;     /* numbers ascend or descend */
} drv_box_axis;

typedef design_part drv_box_range; /* of places */

typedef struct {
    double bound;      /* ns, of profile train by the tokens of a step, as points are compared */
    uint64_t held;     /* bytes that its points need at least */
    bool is_exact;     /* a point, whose own time the bound is */
    bool has_strategy; /* else all of them: what follows is 0 */
    uint32_t place;    /* of the strategy among those before the constraints */
    strategy strategy;
    uint32_t n_stages;     /* 0: there is no axis of layouts, or the number of stages is open */
    drv_box_range range[]; /* per axis; then the layers of each stage */
} drv_box;

#define DRV_BOX_CORNERS 128

/* A variant in which a box has its corner. */
typedef struct {
    uint32_t *number; /* per axis, and the layers of each stage where they are fixed; NULL: none */
    uint32_t n_numbers;
    uint64_t used; /* when it was asked for last */
    bool is_built, is_dropped;
    dse_error why; /* it is not built */
    dse_arena arena;
    drv_study study;
    cfg_settings settings;
} drv_box_corner;

typedef struct {
    const drv_space *space;
    uint32_t study;
    double hbm_bytes; /* NaN: that of the system, if it has a limit */
    drv_box_axis *axis;
    uint32_t layout_axis, max_stages; /* DSE_NONE: none */
    bool recomputes;                  /* the layouts are of layers that are made again */
    uint32_t whole;                   /* layers */
    drv_stages *stages;
    drv_recomputes *recompute;
    uint32_t **axis_of; /* per constraint and name: the axis with its path; DSE_NONE: none */
    drv_bounds bounds;
    const drv_box_corner *entered; /* whose bounds they are */
    drv_box_corner corner[DRV_BOX_CORNERS];
    uint64_t clock;
    uint32_t *number; /* scratch: per axis */
    dse_arena arena, scratch;
    uint64_t n_bounds;  /* computed so far */
    uint64_t n_refused; /* boxes of a strategy that cannot be run, */
    dse_error refusal;  /* and why, the first */
    dse_error none;     /* why the first shape without any strategy has none */
    double n_points;    /* before the constraints, of the shapes whose strategies were listed */
    bool has_unlisted;  /* shapes that were left out before their strategies were */
} drv_boxes;

/* Of a study of the space, which is borrowed and has been checked (drv_space_check). */
void drv_boxes_init(drv_boxes *b, const drv_space *s, uint32_t study, double hbm_bytes);
void drv_boxes_free(drv_boxes *b);

/* The box of all points. Boxes are freed by dse_free. */
drv_box *drv_boxes_whole(const drv_boxes *b);

bool drv_box_is_point(const drv_boxes *b, const drv_box *box);

/* Whether the point, or the corner, is in the order of the space before, at, or behind that of the other: <0,
 * 0, >0. Of a box the first of its points counts. */
int drv_box_order(const drv_boxes *b, const drv_box *x, const drv_box *y);

/* The variant with the corner of a box, which may not be built. Good until drv_boxes_* is called again. */
const drv_box_corner *drv_boxes_corner(drv_boxes *b, const drv_box *box);

/* False: no point of the box satisfies the constraints, as far as intervals tell. */
bool drv_boxes_may_hold(drv_boxes *b, const drv_box *box);

/* Leaves out the best values of each rate with which the constraints hold nowhere in the box, and sets its
 * bound, which stays at least what it was, if it has one strategy. *is_empty: none of its points can be run,
 * satisfies the constraints, and fits. DSE_E_CONFIG: of a point, what the sweep would refuse. */
dse_status drv_boxes_bound(drv_boxes *b, drv_box *box, bool *is_empty, dse_error *err);

/* The children of a box that is not a point, each bounded, the empty ones left out; they are the callee's.
 * Each point of the box that counts is in one of them. DSE_E_INTERRUPT: Ctrl-C (exec/interrupt.h), and
 * some are missing. */
typedef void drv_box_take(void *user, drv_box *child);
dse_status drv_boxes_split(drv_boxes *b, const drv_box *box, drv_box_take *take, void *user, dse_error *err);

drv_box *drv_box_copy(const drv_boxes *b, const drv_box *box);

/* What the axes set in the corner of a box, with the layout if that is fixed. In the arena. */
void drv_boxes_settings(drv_boxes *b, const drv_box *box, dse_arena *a, cfg_settings *out);

/* Fixes the layers of the stages of a box of one strategy by what looks best at its corner; false: none
 * fits, or can be found. */
bool drv_boxes_lay_out(drv_boxes *b, drv_box *box);

#endif
