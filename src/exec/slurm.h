/* exec_slurm -- the pool's lines, answered by job arrays of Slurm instead.
 *
 * Lines are dealt out in turn to the tasks of an array; each task runs `worker ... --chunk PREFIX`
 * (exec/chunk.h), which may be begun again by Slurm at any time. This process submits, looks for answers,
 * and may be gone meanwhile: all that it needs to go on is in the folder, and what Slurm knows by the
 * jobs' name. When no task is left, the lines without an answer are submitted again, one worker a task; a
 * line at which two tasks have ended has failed. Slurm is spoken to by sbatch, squeue and scancel alone. */
#ifndef DSE_EXEC_SLURM_H
#define DSE_EXEC_SLURM_H

#include "base/strbuf.h"
#include "exec/pool.h"

typedef struct {
    const char *folder;    /* that all nodes see; made if it is not there */
    const char *partition; /* NULL: Slurm's default, */
    const char *time;      /* and the same; as sbatch takes it */
    uint32_t array_size;   /* tasks of an array, at most; */
    uint32_t at_once;      /* how many of them may run side by side; 0: any number */
    uint32_t jobs;         /* workers a task, each on a core */
    bool attach;           /* go on with what is in the folder, which must be there; else it must not */
    bool detach;           /* submit, and leave it to an attached run to collect */
    void (*say)(void *user, const char *words); /* something that the user should know; may be NULL */
    void *say_user;
} exec_slurm;

/* As exec_pool_run; argv is the worker's, to which --jobs and --chunk are added. `again` gives the line of
 * a task once more. DSE_OK with `detach` also if answers are still to come; DSE_E_INTERRUPT: the jobs go
 * on, and the text says how to collect or cancel them. DSE_E_USAGE: there is something to attach to, or
 * nothing. DSE_E_CHILD: Slurm's commands are not there or refuse the job, no task can be run, or they are
 * cancelled. */
dse_status exec_slurm_run(const exec_slurm *how, const char *const *argv, const exec_calls *calls,
                          const char *(*again)(void *user, uint64_t task), dse_error *err);

/* The script of an array of n_tasks; appended. `name` is the job's. */
void exec_slurm_script(const exec_slurm *how, const char *const *argv, const char *name, uint32_t round,
                       size_t n_tasks, dse_strbuf *out);

/* Once all answers are kept elsewhere. */
void exec_slurm_clean(const exec_slurm *how);

#endif
