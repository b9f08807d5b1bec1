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

option_group measured_runs_group;

/* What they come to; warnings go to stderr. DSE_E_USAGE. */
dse_status measured_runs_parse(const measured_runs_options *o, dse_arena *a, msr_runs_options *runs,
                               dse_error *err);

#endif
