/* The options of commands that can have their points simulated by the external tools. */
#ifndef DSE_CLI_EXTERNAL_H
#define DSE_CLI_EXTERNAL_H

#include "cli/command.h"
#include "driver/external.h"

typedef struct {
    const char *engine, *stage_command, *simulator, *aware_simulator;
    double timeout;
    bool discard_workloads;
} external_options;

extern const char *const external_engines[]; /* native, astrasim, NULL */

/* The rows of these options; `f` is the name of the external_options in the command's struct, `fallback` the
 * engine that is the default. */
#define EXTERNAL_OPTIONS(type, f, fallback)                                                                  \
    {"--engine",                                                                                             \
     OPT_STRING,                                                                                             \
     "NAME",                                                                                                 \
     fallback,                                                                                               \
     "who simulates, this program or the tools named below",                                                 \
     .choices = external_engines,                                                                            \
     .offset = offsetof(type, f.engine)},                                                                    \
        {"--stage-cmd",                                                                                      \
         OPT_STRING,                                                                                         \
         "COMMAND",                                                                                          \
         "",                                                                                                 \
         "STAGE, for example \"python3 stage/main.py\"; split into words as a shell does",                   \
         .offset = offsetof(type, f.stage_command)},                                                         \
        {"--astrasim-bin",                                                                                   \
         OPT_STRING,                                                                                         \
         "COMMAND",                                                                                          \
         "",                                                                                                 \
         "ASTRA-sim, for example bin/" DRV_UNAWARE_PROGRAM,                                                  \
         .offset = offsetof(type, f.simulator)},                                                             \
        {"--astrasim-aware-bin",                                                                             \
         OPT_STRING,                                                                                         \
         "COMMAND",                                                                                          \
         "",                                                                                                 \
         "ASTRA-sim for systems with backend congestion_aware, for example bin/" DRV_AWARE_PROGRAM,          \
         .offset = offsetof(type, f.aware_simulator)},                                                       \
        {"--timeout",                                                                                        \
         OPT_DOUBLE,                                                                                         \
         "SECONDS",                                                                                          \
         "0",                                                                                                \
         "for each run of STAGE and of ASTRA-sim, which is killed then; 0: none",                            \
         .min = 0,                                                                                           \
         .max = 1e8,                                                                                         \
         .offset = offsetof(type, f.timeout)},                                                               \
    {                                                                                                        \
        "--discard-workloads", OPT_FLAG, NULL, "false",                                                      \
            "remove a point's traces, and ASTRA-sim's of its memory, once simulated",                        \
            .offset = offsetof(type, f.discard_workloads)                                                    \
    }

/* *tools is NULL for the native engine. DSE_E_USAGE: options that do not go together. */
dse_status external_choose(const external_options *o, dse_arena *a, const drv_external **tools,
                           dse_error *err);

/* `simulate` with the tools. A point that fails is an error: DSE_E_CHILD. */
dse_status external_simulate(const drv_external *tools, drv_study *s, const strategy *p, bool json,
                             command_run *r, dse_error *err);

#endif
