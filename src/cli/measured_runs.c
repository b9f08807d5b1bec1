#include "cli/measured_runs.h"

#include <string.h>

const char *const measured_runs_recompute[] = {"yes", "no", NULL};

static void warn(const char *text) { report_warning("%s", text); }

dse_status measured_runs_parse(const measured_runs_options *o, dse_arena *a, msr_runs_options *runs,
                               dse_error *err)
{
    cfg_settings *settings = DSE_ARENA_NEW(a, cfg_settings, 1);
    dse_status st;

    if ((st = drv_settings_parse(o->set.item, o->set.n, a, settings, err)) != DSE_OK)
        return st;
    *runs = (msr_runs_options){.system = o->system,
                               .n_traces = o->trace.n,
                               .n_tables = o->measured.n,
                               .n_only = o->only.n,
                               .trace = o->trace.item,
                               .table = o->measured.item,
                               .only = o->only.item,
                               .plan = {.model = o->model,
                                        .recompute = !o->recompute ? -1 : strcmp(o->recompute, "yes") == 0,
                                        .precision = o->precision,
                                        .approximate = o->approximate,
                                        .settings = settings},
                               .read = {.card = o->card},
                               .warn = warn};
    return DSE_OK;
}
