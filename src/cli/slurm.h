/* The options of commands that can have their points simulated by job arrays of Slurm. */
#ifndef DSE_CLI_SLURM_H
#define DSE_CLI_SLURM_H

#include "cli/command.h"
#include "exec/slurm.h"

typedef struct {
    const char *executor, *partition, *time;
    int64_t array_size, at_once;
    bool detach, attach;
} slurm_options;

option_group slurm_group;

/* out is NULL where this machine runs the workers. The folder is beside the database `db`; `jobs` 0: one.
 * DSE_E_USAGE: options that do not go together. */
dse_status slurm_choose(const slurm_options *o, const char *db, int64_t jobs, dse_arena *a,
                        const exec_slurm **out, dse_error *err);

#endif
