#include "driver/timeline.h"

/* "mesh_tp", as torchtitan names the groups of a device mesh; of a group along several degrees "mesh_dp_sp"; none of one
 * rank. False when out of memory. */
static bool describe(const design_point *p, const wl_workload *w, const wl_group *g, dse_arena *a,
                     const char **out)
{
    unsigned varies = drv_group_degrees(p, w, g);

    *out = NULL;
    if (varies)
        *out = dse_arena_printf(a, "mesh%s%s%s%s", varies & 1 ? "_dp" : "", varies & 2 ? "_tp" : "",
                                varies & 4 ? "_sp" : "", varies & 8 ? "_pp" : "");
    return !varies || *out;
}

static dse_status describe_groups(const design_point *p, const wl_workload *w, dse_arena *a,
                                  trace_timeline_groups *out, dse_error *err)
{
    trace_timeline_group *group = DSE_ARENA_NEW(a, trace_timeline_group, w->n_groups);

    if (!group)
        return dse_fail_nomem(err);
    for (uint32_t i = 0; i < w->n_groups; i++) {
        const wl_group *g = &w->group[i];

        group[i] = (trace_timeline_group){g->name, NULL, g->n, g->rank};
        if (!describe(p, w, g, a, &group[i].desc))
            return dse_fail_nomem(err);
    }
    *out = (trace_timeline_groups){w->n_groups, group, "mesh_pp"};
    return DSE_OK;
}

static dse_status describe_sizes(const wl_workload *w, const sim_result *r, dse_arena *a,
                                 trace_timeline_sizes *out, dse_error *err)
{
    dse_time *wall = DSE_ARENA_NEW(a, dse_time, r->n_ranks);
    uint64_t *peak = DSE_ARENA_NEW(a, uint64_t, r->n_ranks);
    bool tracked = true;

    if (!wall || !peak)
        return dse_fail_nomem(err);
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        wall[i] = r->rank[i].wall;
        peak[i] = r->rank[i].peak_memory;
        tracked = tracked && r->rank[i].has_memory;
    }
    *out = (trace_timeline_sizes){w->in_bytes, tracked ? peak : NULL, wall};
    return DSE_OK;
}

dse_status drv_timeline_describe(const design_point *p, const wl_workload *w, const sim_result *r,
                                 dse_arena *a, drv_timeline *out, dse_error *err)
{
    dse_status st = describe_groups(p, w, a, &out->groups, err);

    return st == DSE_OK ? describe_sizes(w, r, a, &out->sizes, err) : st;
}

dse_status drv_timeline_save(const design_point *p, const wl_workload *w, const sim_result *r,
                             const trace_ticks *t, const char *path, dse_arena *a, dse_error *err)
{
    drv_timeline d;
    dse_status st = drv_timeline_describe(p, w, r, a, &d, err);

    return st == DSE_OK ? trace_timeline_save(t, &d.groups, &d.sizes, path, err) : st;
}
