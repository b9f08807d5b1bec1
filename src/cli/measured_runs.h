/* Runs that were measured, as the options of `compare` and `calibrate` say them. */
#ifndef DSE_CLI_MEASURED_RUNS_H
#define DSE_CLI_MEASURED_RUNS_H

#include "cli/command.h"
#include "measured/runs.h"

typedef struct {
    option_list trace, measured, only, set;
    const char *system, *card, *model, *recompute, *precision;
    bool approximate;
} measured_runs_options;

extern const char *const measured_runs_recompute[];

/* Rows for an option struct of type t with a measured_runs_options f. */
#define MEASURED_RUNS_OPTIONS(t, f)                                                                          \
    {"--trace",                                                                                              \
     OPT_LIST,                                                                                               \
     "DIR",                                                                                                  \
     "",                                                                                                     \
     "traces of a run, with a workload card beside them; again for another run",                             \
     .offset = offsetof(t, f.trace)},                                                                        \
        {"--measured",                                                                                       \
         OPT_LIST,                                                                                           \
         "FILE",                                                                                             \
         "",                                                                                                 \
         "a table of measured step times: a name in configs/measured, or a path; again for another",         \
         .offset = offsetof(t, f.measured)},                                                                 \
        {"--only",                                                                                           \
         OPT_LIST,                                                                                           \
         "KEY=VALUE",                                                                                        \
         "",                                                                                                 \
         "rows of the tables whose field is so: set=multi, hardware.system=Perlmutter; again for another",   \
         .offset = offsetof(t, f.only)},                                                                     \
        {"--system",                                                                                         \
         OPT_STRING,                                                                                         \
         "NAME",                                                                                             \
         NULL,                                                                                               \
         "the machine: a name in configs/systems, a path, or a folder with ASTRA-sim's files",               \
         .offset = offsetof(t, f.system)},                                                                   \
        {"--card",                                                                                           \
         OPT_STRING,                                                                                         \
         "FILE",                                                                                             \
         "",                                                                                                 \
         "the workload card of the only trace",                                                              \
         .offset = offsetof(t, f.card)},                                                                     \
        {"--model",                                                                                          \
         OPT_STRING,                                                                                         \
         "NAME",                                                                                             \
         "",                                                                                                 \
         "a model card, instead of what the runs say of their model",                                        \
         .offset = offsetof(t, f.model)},                                                                    \
        {"--recompute",                                                                                      \
         OPT_STRING,                                                                                         \
         "YES|NO",                                                                                           \
         "",                                                                                                 \
         "whether activations were recomputed, where a run does not say it",                                 \
         .choices = measured_runs_recompute,                                                                 \
         .offset = offsetof(t, f.recompute)},                                                                \
        {"--precision",                                                                                      \
         OPT_STRING,                                                                                         \
         "WORD",                                                                                             \
         "",                                                                                                 \
         "sizes that count: none (elements), mixed, bf16, fp32; by the run's own precision unless given",    \
         .offset = offsetof(t, f.precision)},                                                                \
        {"--approximate",                                                                                    \
         OPT_FLAG,                                                                                           \
         NULL,                                                                                               \
         "false",                                                                                            \
         "take substitutes for what the simulator cannot represent; each is named",                          \
         .offset = offsetof(t, f.approximate)},                                                              \
    {                                                                                                        \
        "--set", OPT_LIST, "KEY=VALUE", "", OPTION_SET_HELP, .offset = offsetof(t, f.set)                    \
    }

/* What they come to; warnings go to stderr. DSE_E_USAGE. */
dse_status measured_runs_parse(const measured_runs_options *o, dse_arena *a, msr_runs_options *runs,
                               dse_error *err);

#endif
