/* drv_pruner -- skips points of a sweep that cannot be among the best that fit.
 *
 * A point is skipped if it cannot fit in memory, or if the wanted number of results of its study fit and are
 * strictly faster than its bound: `best` with the same limit, ranking by step time, then prints the same
 * rows. Studies are those that `best` ranks separately. Results in the database count.
 *
 * Points run in rounds, in the order of their bounds, and points are skipped only between rounds: so the
 * choice depends on the points and the database, not on the number of workers. The first round of a study has
 * the wanted number of points, at least four; each later round is half as large again. */
#ifndef DSE_DRIVER_PRUNE_H
#define DSE_DRIVER_PRUNE_H

#include "driver/bound.h"

typedef struct {
    uint64_t top;     /* wanted results of each study; 0: all that fit */
    double hbm_bytes; /* memory of an NPU; NaN: the system's, if it has a limit */
} drv_prune;

/* Why a point is skipped: it needs too much memory, or one of its bounds on time is too large. */
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

/* Adds a point; the hashes are those of its future row. A point that the generator refuses has no bound, is
 * run, and fails. The study is borrowed for the call. */
void drv_pruner_add(drv_pruner *p, size_t task, const drv_study *s, uint64_t study_hash, uint64_t hash,
                    const strategy *point);

/* Adds a result, from before the first round or of a point of a round. Results of other studies do not count,
 * nor do, before the first round, results of points that will run again. */
void drv_pruner_result(drv_pruner *p, const store_time *t);

/* The points of the next round, in the order to run them, borrowed until the next call; n 0: none are left.
 * Adds to `skipped` how many points were skipped for each reason since the last call. */
void drv_pruner_round(drv_pruner *p, const size_t **tasks, size_t *n, uint64_t skipped[DRV_N_SKIPS]);

#endif
