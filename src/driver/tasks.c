#include "driver/tasks.h"

#include "base/hash.h"

void drv_tasks_init(drv_tasks *t, const drv_points *points, const char *engine)
{
    *t = (drv_tasks){.points = points, .engine = engine};
    dse_strbuf_init(&t->config);
    dse_strbuf_init(&t->request);
    t->slot = dse_calloc(DRV_N_TASK_SLOTS, sizeof *t->slot);
    for (size_t i = 0; i < DRV_N_TASK_SLOTS; i++) {
        t->slot[i].variant = UINT64_MAX;
        dse_arena_init(&t->slot[i].arena);
        dse_strbuf_init(&t->slot[i].config);
    }
}

void drv_tasks_free(drv_tasks *t)
{
    for (size_t i = 0; i < DRV_N_TASK_SLOTS; i++) {
        dse_arena_free(&t->slot[i].arena);
        dse_strbuf_free(&t->slot[i].config);
    }
    dse_free(t->slot);
    dse_strbuf_free(&t->config);
    dse_strbuf_free(&t->request);
}

dse_status drv_tasks_enter_variant(drv_tasks *t, uint64_t variant, dse_error *err)
{
    drv_task_variant *v = &t->slot[variant % DRV_N_TASK_SLOTS];
    dse_status st;

    t->at = v;
    if (v->variant == variant)
        return DSE_OK;
    v->variant = UINT64_MAX;
    dse_arena_reset(&v->arena);
    dse_strbuf_clear(&v->config);
    if ((st = drv_points_study(t->points, variant, &v->arena, &v->study, err)) != DSE_OK)
        return st;
    if (t->engine)
        v->study.engine = t->engine;
    drv_study_write_config(&v->study, NULL, &v->config);
    v->hash = dse_hash_bytes(v->config.data, v->config.len);
    v->point_hash = dse_hash_bytes(v->config.data, v->config.len - 1);
    v->variant = variant;
    return DSE_OK;
}

dse_status drv_tasks_enter(drv_tasks *t, const drv_space_point *p, uint64_t *hash, dse_error *err)
{
    dse_status st = drv_tasks_enter_variant(t, p->variant, err);
    size_t same;

    if (st != DSE_OK)
        return st;
    same = t->at->config.len - 1;
    dse_strbuf_clear(&t->config);
    dse_strbuf_add(&t->config, t->at->config.data, t->at->config.len);
    drv_config_add_point(&p->point, &t->config);
    *hash = dse_hash_more(t->at->point_hash, t->config.data + same, t->config.len - same);
    return DSE_OK;
}

dse_status drv_tasks_request(drv_tasks *t, const drv_space_point *p, dse_error *err)
{
    dse_status st = drv_tasks_enter_variant(t, p->variant, err);

    if (st != DSE_OK)
        return st;
    dse_strbuf_clear(&t->request);
    drv_study_write_request(&t->at->config, &p->point, &t->request);
    return DSE_OK;
}
