/* Slurm's commands, as exec/slurm.c calls them, and the script that it submits (declared in exec/slurm.h). */
#ifndef DSE_EXEC_SLURM_COMMANDS_H
#define DSE_EXEC_SLURM_COMMANDS_H

#include "exec/slurm.h"

/* Runs a command of a shell; what it says, without the last newline, is appended to *out. Returns its exit
 * code: 127 if there is no such program, 128 if a signal has ended it. */
int exec_slurm_command(const char *command, dse_strbuf *out);

/* A task of an array, as squeue tells of it; the texts are in the line. */
typedef struct {
    char *job, *state, *reason;
    uint64_t index; /* may be that of no task, as where squeue says "N/A" */
} exec_slurm_task;

/* Reads a line of squeue, "JOB|INDEX|STATE|REASON", in which it writes. False: it is none. */
bool exec_slurm_read_task(char *line, exec_slurm_task *out);

/* The job's id in what 'sbatch --parsable' said: beside warnings a line of it, and behind it perhaps
 * ";CLUSTER". `job` stays as it was if none is told. The text is cut into its lines. */
void exec_slurm_read_job(dse_strbuf *said, char job[24]);

/* How many tasks the array of a script has that exec_slurm_script made, at least 1. False: it has none, or
 * more than Slurm would take. */
bool exec_slurm_read_array(const char *script, uint32_t *n_tasks);

/* The last line that a command said, without its own name; in the buffer. */
const char *exec_slurm_last_line(const dse_strbuf *said, const char *name);

/* A text as a word of a shell; appended. */
void exec_slurm_quote(dse_strbuf *b, const char *text);

/* Submits a script in a folder. DSE_E_CHILD: there is no sbatch, or it refuses the job. `job` gets the id,
 * and stays as it was if none is told. */
dse_status exec_slurm_sbatch(const char *folder, const char *script, char job[24], dse_error *err);

#endif
