/* drv_tasks -- the study, configuration and hashes of each point of a sweep.
 *
 * The part that all points of a variant share is made once and kept in one of a few slots: running points are
 * neighbours, but their answers come in any order. */
#ifndef DSE_DRIVER_TASKS_H
#define DSE_DRIVER_TASKS_H

#include "driver/points.h"

/* A prime: what constraints leave of a space may be evenly spaced. */
#define DRV_N_TASK_SLOTS 67u

/* A variant, and the data that all its points share. */
typedef struct {
    uint64_t variant; /* UINT64_MAX: none */
    dse_arena arena;  /* of the study */
    drv_study study;
    dse_strbuf config;   /* of the study */
    uint64_t hash;       /* of config */
    uint64_t point_hash; /* of config without its last character: the start of its points' hashes */
} drv_task_variant;

typedef struct {
    const drv_points *points;   /* borrowed */
    const char *engine;         /* that simulates the points; NULL: the studies' own */
    const drv_task_variant *at; /* the current variant */
    dse_strbuf config;          /* of the point that was entered last */
    dse_strbuf request;         /* that was made last */
    drv_task_variant *slot;     /* variant v is in v % DRV_N_TASK_SLOTS */
} drv_tasks;

void drv_tasks_init(drv_tasks *t, const drv_points *points, const char *engine);
void drv_tasks_free(drv_tasks *t);

/* Makes a variant t->at, valid until another one of the same slot is entered. Fails as drv_points_study. */
dse_status drv_tasks_enter_variant(drv_tasks *t, uint64_t variant, dse_error *err);

/* Sets t->at to the variant of a point, t->config to its configuration, and *hash to the configuration's
 * hash. */
dse_status drv_tasks_enter(drv_tasks *t, const drv_space_point *p, uint64_t *hash, dse_error *err);

/* The same, but sets t->request, to what a worker is asked. */
dse_status drv_tasks_request(drv_tasks *t, const drv_space_point *p, dse_error *err);

#endif
