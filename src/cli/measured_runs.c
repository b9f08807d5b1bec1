#include "cli/measured_runs.h"

#include <string.h>

static const char *const recompute_choices[] = {"yes", "no", NULL};

#define FIELD(f) .offset = offsetof(measured_runs_options, f)

static const option options[] = {
    {"--trace", OPT_LIST, "DIR", "",
     "traces of a run, with a workload card beside them; again for another run", FIELD(trace)},
    {"--measured", OPT_LIST, "FILE", "",
     "a table of measured step times: a name in configs/measured, or a path; again for another",
     FIELD(measured)},
    {"--only", OPT_LIST, "KEY=VALUE", "",
     "rows of the tables whose field is so: pp=1, hardware.system=Perlmutter; again for another",
     FIELD(only)},
    {"--system", OPT_STRING, "NAME", NULL,
     "the machine: a name in configs/systems, a path, or a folder with ASTRA-sim's files", FIELD(system)},
    {"--card", OPT_STRING, "FILE", "", "the workload card of the only trace", FIELD(card)},
    {"--model", OPT_STRING, "NAME", "", "a model card, instead of what the runs say of their model",
     FIELD(model)},
    {"--recompute", OPT_STRING, "YES|NO", "",
     "whether activations were recomputed, over what a run says of it", .choices = recompute_choices,
     FIELD(recompute)},
    {"--precision", OPT_STRING, "WORD", "",
     "sizes that count: none (elements), mixed, bf16, fp32; by the run's own precision unless given",
     FIELD(precision)},
    {"--approximate", OPT_FLAG, NULL, "false",
     "take substitutes for what the simulator cannot represent, such as 8-bit arithmetic; each is named",
     FIELD(approximate)},
    OPTION_SET,
};

OPTION_ROWS(measured_runs_group)

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
