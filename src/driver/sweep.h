/* A sweep: points, over a pool of workers or by the external tools, into the database; what is there is not
 * run again. */
#ifndef DSE_DRIVER_SWEEP_H
#define DSE_DRIVER_SWEEP_H

#include "driver/external.h"
#include "driver/points.h"
#include "driver/prune.h"
#include "exec/slurm.h"
#include "report/sizes.h"
#include "report/traps.h"

typedef struct {
    uint64_t total, cached;           /* points in all; already in the database */
    uint64_t done, failed;            /* of those that were run */
    uint64_t skipped;                 /* with `prune`: neither there nor run, */
    uint64_t skipped_by[DRV_N_SKIPS]; /* and why not */
    double seconds;                   /* since the start, */
    double answered;                  /* and when the last point was done or had failed; else when it began */
    double cpu_seconds;               /* of the points run */
    uint64_t too_large; /* results, cached ones included, that are not known to fit into an NPU */
    bool has_best;      /* of the others: the fastest so far */
    strategy best;
    uint64_t best_wall_time; /* ns */
    uint64_t best_tokens;    /* of its step: of profile train, the fastest for each token; 0: of stage */
    const char *best_model, *best_system, *best_settings;
    uint64_t fallbacks
        [SIM_N_FALLBACKS]; /* of the same: points that the fast engine could not simulate, by the reason */
    report_traps traps;    /* of those that are there: done now, or cached */
    report_sizes sizes;    /* of the same */
    bool was_damaged;      /* the database, when it was opened: */
    uint64_t damaged_rows; /* so many rows were removed, or missing */
    const char *first_failure; /* of the first point, in the order of the space, that failed; or NULL */
} drv_progress;

typedef struct {
    const drv_points *points;
    const char *database;
    uint32_t jobs;
    double
        point_timeout;  /* seconds, after which a worker's point has failed; 0: none. Tools have their own */
    const char *worker; /* program that is run as `worker worker --parent PID ...` */
    sim_shortcuts shortcuts;   /* that the workers may take */
    const exec_slurm *slurm;   /* whose nodes run the workers; NULL: this machine. Not with tools or prune */
    const drv_external *tools; /* who simulates instead; NULL: the workers, natively */
    const drv_prune *prune;    /* skip what cannot be among the best; NULL: run all. Not with tools */
    void (*begin)(void *user, const drv_progress *p);    /* once, before anything runs; may be NULL */
    void (*progress)(void *user, const drv_progress *p); /* often; may be NULL */
    /* Each result, as it comes or is found in the database: step time and memory; may be NULL. */
    void (*result)(void *user, size_t task, uint64_t wall_time, uint64_t peak_memory);
    void *user;
    bool more_follow; /* sweeps into the same database: what ranks its rows is left to the last of them */
} drv_sweep;

/* Everything that can be refused is refused before the first point runs. DSE_E_INTERRUPT after Ctrl-C; what
 * was finished is in the database, and *out says how far it went, also then. */
dse_status drv_sweep_run(const drv_sweep *s, dse_arena *a, drv_progress *out, dse_error *err);

/* The script of the first job array of a sweep by Slurm, if no point of it is in the database; appended. */
void drv_sweep_script(const drv_sweep *s, dse_strbuf *out);

#endif
