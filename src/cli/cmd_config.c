/* A system card as ASTRA-sim's files. */
#include "cli/command.h"
#include "cli/sizing.h"
#include "driver/emit.h"
#include "driver/study.h"

#include <stdio.h>

typedef struct {
    const char *system, *output;
    sizing_options sizing;
    option_list set;
} config_options;

#define FIELD(f) .offset = offsetof(config_options, f)

static const option options[] = {
    {"--system", OPT_STRING, "NAME", NULL, "system card: a name in configs/systems, or a path",
     FIELD(system)},
    {"--output", OPT_STRING, "DIR", "", "folder to write to; astrasim_configs/<name> if not given",
     FIELD(output)},
    OPTION_GROUP(size_group, sizing),
    OPTION_SET,
};

static dse_status run(const void *opts, command_run *r, dse_error *err)
{
    const config_options *o = opts;
    const char *name, *folder;
    card_system system;
    cfg_settings settings;
    option_list set;
    dse_status st = sizing_settings(&o->sizing, &o->system, 1, &o->set, r->arena, &set, err);

    if (st == DSE_OK)
        st = drv_settings_parse(set.item, set.n, r->arena, &settings, err);
    if (st == DSE_OK)
        st = drv_system_load(o->system, &settings, r->arena, &system, &name, err);
    if (st != DSE_OK)
        return st;
    report_unknown_keys(o->system, system.n_unknown_keys, system.unknown_key);
    folder = o->output ? o->output : dse_arena_printf(r->arena, "astrasim_configs/%s", name);
    st = drv_emit_system(&system, folder, r->arena, err);
    if (st == DSE_OK)
        dse_strbuf_addf(r->out, "%s/system.json\n%s/network.yml\n%s/remote_memory.json\n", folder, folder,
                        folder);
    return st;
}

const command command_config = {
    .name = "config",
    .summary = "write a system card as ASTRA-sim's system.json, network.yml and remote_memory.json",
    .example = "ccldse config --system system1",
    COMMAND_OPTIONS(options, config_options),
    .run = run,
};
