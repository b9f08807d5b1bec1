/* drv_pruner -- which points of a sweep need not be simulated, as they cannot be among the best that fit.
 *
 * A point is skipped if it cannot fit, or if as many results of its study as are wanted fit and are strictly faster
 * than it can be: `best` with the same limit, ranking by step time, then prints the same rows. Studies are those that
 * `best` ranks apart. What is in the database counts.
 *
 * Points are run in rounds, in the order of their bounds, and what is skipped is decided between rounds: so it is a
 * function of the points and of what was in the database, whatever the number of workers. The first round of a
 * study has as many points as are wanted, at least four; each one after it half as many more. */
#ifndef DSE_DRIVER_PRUNE_H
#define DSE_DRIVER_PRUNE_H

#include "driver/bound.h"

/* What is wanted. */
typedef struct {
    uint64_t top;     /* so many of each study; 0: all that fit */
    double hbm_bytes; /* memory of an NPU; NaN: what the system gives, if it gives one */
} drv_prune;

/* Why a point is skipped: it holds too much, or one of the bounds of its time is too large. */
typedef enum {
    DRV_SKIP_COMPUTE = SIM_BOUND_COMPUTE,
    DRV_SKIP_COMM = SIM_BOUND_COMM,
    DRV_SKIP_CHAIN = SIM_BOUND_CHAIN,
    DRV_SKIP_MEMORY = SIM_N_BOUNDS,
    DRV_N_SKIPS
} drv_skip;

/* "the compute of the longest rank", for people; "compute", for programs. */
const char *drv_skip_name(drv_skip why);
const char *drv_skip_key(drv_skip why);

typedef struct drv_pruner drv_pruner;

/* `want` is copied. */
drv_pruner *drv_pruner_make(const drv_prune *want);
void drv_pruner_free(drv_pruner *p); /* accepts NULL */

/* A point that would be run; the hashes are those that its row will have. A point without a bound, as the generator
 * refuses it, is run and fails as such. The study is borrowed for the call. */
void drv_pruner_add(drv_pruner *p, size_t task, const drv_study *s, uint64_t study_hash, uint64_t hash,
                    const design_point *point);

/* A result: one that was there before the first round, or of a point of a round. Those of other studies, and before the
 * first round those of points that are to be run again, do not count. */
void drv_pruner_result(drv_pruner *p, const store_time *t);

/* The points of the next round, in the order in which they are to be run; n 0: there are none left. They are the
 * pruner's, good until the next call. Adds to `skipped` how many were skipped by what since the last call. */
void drv_pruner_round(drv_pruner *p, const size_t **tasks, size_t *n, uint64_t skipped[DRV_N_SKIPS]);

#endif
