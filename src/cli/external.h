/* The options of commands that can have their points simulated by the external tools. */
#ifndef DSE_CLI_EXTERNAL_H
#define DSE_CLI_EXTERNAL_H

#include "cli/command.h"
#include "driver/external.h"
#include "workload/stage_main.h"

typedef struct {
    const char *engine;
    const char *version; /* of ASTRA-sim; NULL: the cards' */
    const char *stage_version;
    drv_external_options tools;
} external_options;

extern const char *const external_engines[]; /* native, astrasim, NULL */

/* The row of an external_options `external` that says who simulates; and the rows of the rest. */
#define OPTION_ENGINE(default_engine)                                                                        \
    {                                                                                                        \
        "--engine", OPT_STRING, "NAME", default_engine,                                                      \
            "who simulates, this program or the tools named below", .choices = external_engines,             \
                                                                    FIELD(external.engine)                   \
    }
option_group external_group;

/* The rows that say the versions of ASTRA-sim, which is a setting of the system, and of STAGE, one of the
 * model; and the settings of the command line with them. */
#define OPTION_ASTRASIM_VERSION                                                                              \
    {                                                                                                        \
        "--astrasim-version", OPT_STRING, "NAME", "", "ASTRA-sim's branch, if not the card's",               \
            .choices = sim_version_names, FIELD(external.version)                                            \
    }
#define OPTION_STAGE_VERSION                                                                                 \
    {                                                                                                        \
        "--stage-version", OPT_STRING, "NAME", "", "profile stage: STAGE's branch, if not the card's",       \
            .choices = wl_stage_versions, FIELD(external.stage_version)                                      \
    }
option_list external_settings(const external_options *o, const option_list *set, dse_arena *a);

/* *tools is NULL for the native engine. `needs_stage`: STAGE must be given. DSE_E_USAGE: options that do
 * not go together. */
dse_status external_choose(const external_options *o, bool needs_stage, dse_arena *a,
                           const drv_external **tools, dse_error *err);

/* `simulate` with the tools. A point that fails is an error: DSE_E_CHILD. */
dse_status external_simulate(const drv_external *tools, drv_study *s, const strategy *p, bool json,
                             command_run *r, dse_error *err);

#endif
