#include "driver/timeline.h"

#include "trace/timeline.h"

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

dse_status drv_timeline_save(const design_point *p, const wl_workload *w, const trace_ticks *t,
                             const char *path, dse_arena *a, dse_error *err)
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
    return trace_timeline_save(t, &(trace_timeline_groups){w->n_groups, group, "mesh_pp"}, path, err);
}
