/* A plan on a machine: as many of its NPUs as the job has devices. */
#include "cards/resize.h"
#include "driver/plan_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Whether both are known, and of other names. */
static bool is_other_device(const drv_job *job, const card_system *machine, const char **machines)
{
    char one[160], other[160];
    cfg_value v;

    *machines = "";
    if (!job->device || !cfg_table_get(&card_system_table, machine, "device", &v) || v.type != CFG_T_NAME ||
        !*v.name)
        return false;
    *machines = v.name;
    drv_device_form(job->device, one, sizeof one);
    drv_device_form(v.name, other, sizeof other);
    return strcmp(one, other) != 0;
}

dse_status drv_plan_study(drv_plan *p, const card_system *machine, const char *machine_name,
                          const drv_plan_options *o, dse_arena *a, drv_study *out, dse_error *err)
{
    card_system whole = *machine, part;
    const char *device;
    dse_status st;

    if (is_other_device(p->job, machine, &device)) {
        p->can_run = false;
        return drv_plan_gap(p, DRV_GAP_OTHER_DEVICE, a, err, "measured on '%.80s'; %s has '%.80s'",
                            p->job->device, machine_name, device);
    }
    if (!p->job->device &&
        (st = drv_plan_assume(p, a, err, "the device is that of %s: the source does not say",
                              machine_name)) != DSE_OK)
        return st;
    if (o->settings && card_system_has_any(o->settings) &&
        (st = card_system_set(&whole, o->settings, err)) != DSE_OK)
        return st;
    if ((st = card_system_resize(&whole, design_point_ranks(&p->point), &part, err)) != DSE_OK)
        return st;
    return drv_study_of(&p->model, p->model_name, &part, machine_name, o->settings, a, out, err);
}
