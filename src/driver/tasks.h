/* drv_tasks -- the points of a sweep as what is looked up, sent and stored of them: a study, a configuration, hashes.
 *
 * What is the same for all points of a variant is made once and kept in one of a few slots: points under way are
 * neighbours, but their answers come in any order. */
#ifndef DSE_DRIVER_TASKS_H
#define DSE_DRIVER_TASKS_H

#include "driver/space.h"

#define DRV_N_TASK_SLOTS 64u

/* A variant, and what all of its points share. */
typedef struct {
    uint32_t variant; /* DSE_NONE: none */
    dse_arena arena;  /* of the study */
    drv_study study;
    dse_strbuf config;   /* of the study */
    uint64_t hash;       /* of config */
    uint64_t point_hash; /* of it without its last character, where the hashes of its points begin */
} drv_task_variant;

typedef struct {
    const drv_points *points;   /* borrowed; a task is the number of one */
    const char *engine;         /* who simulates them; NULL: as the studies say */
    const drv_task_variant *at; /* the variant entered last */
    dse_strbuf config;          /* the configuration of the task entered last */
    drv_task_variant *slot;     /* variant v is in v % DRV_N_TASK_SLOTS */
} drv_tasks;

void drv_tasks_init(drv_tasks *t, const drv_points *points, const char *engine);
void drv_tasks_free(drv_tasks *t);

/* Makes t->at a variant: good until another one of the same slot is entered. Fails as drv_points_study. */
dse_status drv_tasks_enter_variant(drv_tasks *t, uint32_t variant, dse_error *err);

/* Makes t->at the variant of a task, and t->config its configuration, of which *hash is the hash. */
dse_status drv_tasks_enter(drv_tasks *t, size_t task, uint64_t *hash, dse_error *err);

#endif
