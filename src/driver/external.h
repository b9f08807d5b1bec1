/* drv_external -- the real STAGE and ASTRA-sim, or what has their command lines, as an engine.
 *
 * A point is two commands: STAGE writes the traces, ASTRA-sim runs them. A point of profile train, which
 * STAGE does not know, is one: the traces are its step unrolled (unrolled.h). Below the current folder a
 * point has
 *
 *   workloads/NAME/          workload.<rank>.et, comm_group.json: what STAGE writes, or the unrolled step; of
 *                            STAGE's branch main workload.json, which it names by itself
 *   astrasim_configs/NAME/   system.json, network.yml, remote_memory.json
 *   results/astrasim/NAME/   where ASTRA-sim runs; stage.log and astrasim.log: what both print
 *
 * with NAME = <model>_<system>_<point>_<8 hex digits>, the digits from the hash of the point's configuration
 * with this engine. The first and the last of them are removed before a run: nothing of an earlier one is
 * taken for it. */
#ifndef DSE_DRIVER_EXTERNAL_H
#define DSE_DRIVER_EXTERNAL_H

#include "driver/astra_log.h"
#include "driver/simulators.h"
#include "driver/study.h"
#include "driver/unrolled.h"
#include "exec/jobs.h"

#define DRV_EXTERNAL_ENGINE "astrasim"

/* Words of a command line, NULL-terminated; n 0: there is none. */
typedef struct {
    const char **word;
    size_t n;
} drv_command;

typedef struct {
    drv_command stage, simulator[DRV_N_SIMULATORS];
    const char *stage_folder; /* of STAGE's script; NULL: it is none */
    const char *folder;       /* the current one */
    double timeout_seconds;   /* of each command; 0: none */
    bool discard_workloads;   /* after success, and ASTRA-sim's memory traces, which are larger */
    bool unrolls; /* takes points of profile train, for which ASTRA-sim has one unit for all communication:
                               good for a check, not for a result. Else they are refused. */
} drv_external;

typedef struct {
    const char *stage, *simulator[DRV_N_SIMULATORS]; /* command lines; NULL: there is none */
    double timeout_seconds;
    bool discard_workloads;
} drv_external_options;

/* Command lines are split as a shell would (base/words.h). A program with a slash in its name is made
 * absolute, and so are a simulator's other words that have a slash and name a file, as it runs in another
 * folder; a file in this one is said as ./FILE. That a program is missing is seen when a point needs it.
 * Everything is in the arena. DSE_E_USAGE, DSE_E_IO; DSE_E_CONFIG if ASTRA-sim cannot run in this folder. */
dse_status drv_external_init(const drv_external_options *o, dse_arena *a, drv_external *out, dse_error *err);

/* Whether the tools have what a study needs: DSE_E_USAGE without STAGE, or the simulator of the system's
 * backend; as drv_simulator_check if ASTRA-sim cannot simulate it, or would do so otherwise. */
dse_status drv_external_check(const drv_external *x, const drv_study *s, dse_error *err);

/* What a point takes: paths relative to the current folder, and its two commands. */
typedef struct {
    const char *name;
    const char *workload, *configs, *results; /* folders */
    const char *stage_log, *simulator_log, *own_log;
    const char *groups; /* name of the group file in the folder workload */
    card_system system; /* the study's; of an unrolled step, which names no tensors, memory is not tracked */
    const drv_unrolled *unrolled; /* the traces to write; NULL: STAGE writes them */
    exec_job job;                 /* the simulator is its last command */
} drv_external_point;

/* Touches no file. In the arena. DSE_E_CONFIG, DSE_E_RANGE if STAGE cannot generate it, or it cannot be
 * unrolled; as drv_external_check. */
dse_status drv_external_plan(const drv_external *x, const drv_study *s, const strategy *p, dse_arena *a,
                             drv_external_point *out, dse_error *err);

/* The folders, empty but for the configurations, and an unrolled step. `a` is for scratch. */
dse_status drv_external_make_folders(const drv_external_point *p, dse_arena *a, dse_error *err);

typedef struct {
    /* The next point; false: there are no more. Both are valid until the next call. */
    bool (*next)(void *user, uint64_t *task, const drv_study **study, const strategy **point);
    /* Fills done, error, seconds, memory_rounded and metrics of the row; the log is NULL if the point failed.
     * Anything but DSE_OK stops the run. */
    dse_status (*result)(void *user, uint64_t task, store_row *row, const drv_astra_log *log, dse_error *err);
    void (*tick)(void *user); /* now and then */
    void *user;
} drv_external_calls;

/* Runs points, `jobs` at a time. A point that fails, for whatever reason of its own, is a result.
 * DSE_E_INTERRUPT after Ctrl-C. */
dse_status drv_external_run(const drv_external *x, uint32_t jobs, const drv_external_calls *calls,
                            dse_error *err);

/* One point. */
dse_status drv_external_run_point(const drv_external *x, const drv_study *s, const strategy *p, dse_arena *a,
                                  store_row *row, drv_astra_log *log, dse_error *err);

#endif
