#include "driver/timeline.h"

/* "mesh_tp", as torchtitan names the groups of a device mesh; a group along several axes is "mesh_dp_sp";
 * NULL for a group of one rank. */
static const char *describe(const wl_workload *w, const wl_group *g, dse_arena *a)
{
    const mesh_set along = mesh_difference(&w->mesh, g->rank, g->n);
    const char *text = "mesh";

    for (uint32_t i = 0; i < w->mesh.n; i++)
        if (mesh_has(along, i))
            text = dse_arena_printf(a, "%s_%s", text, w->mesh.axis[i].name);
    return along ? text : NULL;
}

drv_timeline drv_timeline_describe(const wl_workload *w, const sim_result *r, dse_arena *a)
{
    trace_timeline_group *group = DSE_ARENA_NEW(a, trace_timeline_group, w->n_groups);
    dse_time *wall = DSE_ARENA_NEW(a, dse_time, r->n_ranks);
    uint64_t *peak = DSE_ARENA_NEW(a, uint64_t, r->n_ranks);
    bool tracked = true;

    for (uint32_t i = 0; i < w->n_groups; i++) {
        const wl_group *g = &w->group[i];

        group[i] = (trace_timeline_group){g->name, describe(w, g, a), g->n, g->rank};
    }
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        wall[i] = r->rank[i].wall;
        peak[i] = r->rank[i].peak_memory;
        tracked = tracked && r->rank[i].has_memory;
    }
    return (drv_timeline){{w->n_groups, group, "mesh_pp"}, {w->in_bytes, tracked ? peak : NULL, wall}};
}

dse_status drv_timeline_save(const wl_workload *w, const sim_result *r, const trace_ticks *t,
                             const char *path, dse_arena *a, dse_error *err)
{
    drv_timeline d = drv_timeline_describe(w, r, a);

    return trace_timeline_save(t, &d.groups, &d.sizes, path, err);
}
