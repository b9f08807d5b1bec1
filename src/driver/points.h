/* drv_points -- points of a space, or of a list, by number.
 *
 * Those of a space are made again whenever they are needed, a variant at a time (drv_cursor): what that takes
 * does not depend on how many there are. A list holds all: 152 bytes a point. */
#ifndef DSE_DRIVER_POINTS_H
#define DSE_DRIVER_POINTS_H

#include "driver/space.h"

typedef struct {
    uint32_t study;
    cfg_settings settings;
    /* Of profile train, whatever its study is of: how its kernels last; NULL: of profile stage. */
    const char *laws;
} drv_variant;

typedef struct {
    uint64_t variant; /* index of drv_points.variant; where that is NULL, the number of a combination */
    strategy point;
} drv_space_point;

/* What points try, and how: for people. */
typedef struct {
    /* Of each parameter the values among the points of profile train, ascending; after DESIGN_MAX_VALUES, no
     * more are noted. */
    design_axes of;
    bool has_stage; /* a variant is of profile stage */
    size_t n_laws;  /* those of the variants of profile train, each once */
    const char **laws;
} drv_tried;

/* The K-th of N shards has every N-th point from the K-th on: {K - 1, N}. */
typedef struct {
    size_t first, step;
} drv_shard;

typedef struct {
    const drv_space *space;
    size_t n;
    drv_space_point *point; /* the list; NULL: they are made again */
    size_t n_variants;      /* with points; of a list */
    drv_variant *variant;   /* of a list; NULL: drv_space_combination */
    drv_shard shard;        /* not of a list: what is made of all */
    uint64_t n_refused;     /* combinations that rules of profile train refuse, */
    const char *refusal;    /* and what the first of them is refused for */
    const drv_tried *tried; /* NULL: drv_points_tried has to look */
} drv_points;

/* All points as a list: by study, then by the values of the axes, the first axis slowest, then as
 * design_enumerate orders them. In the arena, which holds nothing of the combinations that constraints
 * remove. Fails as drv_space_count does. */
dse_status drv_space_points(const drv_space *s, dse_arena *a, drv_points *out, dse_error *err);

/* The same points, or a shard of them, which may be empty, to be made again. They are all made once, so that
 * every failure comes from here; *n_all is how many there are in all. */
dse_status drv_space_stream(const drv_space *s, drv_shard shard, dse_arena *a, drv_points *out, size_t *n_all,
                            dse_error *err);

/* Keeps a shard, which may be empty, of a list. */
void drv_points_take_shard(drv_points *p, drv_shard shard);

/* Makes a list of points that are made again. */
dse_status drv_points_hold(drv_points *p, dse_arena *a, dse_error *err);

/* In the arena, unless it is known. */
const drv_tried *drv_points_tried(const drv_points *p, dse_arena *a);

/* The study that a variant varies, by its number in the space; what is set over it; and what comes of that,
 * of which what is new belongs to the arena. */
uint32_t drv_points_base(const drv_points *p, uint64_t variant);
dse_status drv_points_settings(const drv_points *p, uint64_t variant, dse_arena *a, cfg_settings *out,
                               dse_error *err);
dse_status drv_points_study(const drv_points *p, uint64_t variant, dse_arena *a, drv_study *out,
                            dse_error *err);

/* A place among points. Going on is cheap; going back begins anew. */
typedef struct {
    const drv_points *points;
    drv_walk *walk;
    drv_walk_variant at;
    uint64_t begin; /* number of the first point of `at` in the space */
} drv_cursor;

void drv_cursor_init(drv_cursor *c, const drv_points *p); /* borrowed */
void drv_cursor_free(drv_cursor *c);

/* Point i, which is less than n. Fails only if a card has changed its mind since the points were counted. */
dse_status drv_cursor_get(drv_cursor *c, size_t i, drv_space_point *out, dse_error *err);

#endif
