/* drv_search -- the best points of a space without a list of them: best-first branch and bound over boxes
 * (box.h).
 *
 * Of each study (a model on a system) the `top` points that fit and whose step is shortest, of profile train
 * by its tokens; equal ones in the order of the space: what a sweep of all points would rank first. The open
 * box with the least bound is split; a box that has become a point is simulated, by workers, into the
 * database. A box is closed when its bound is more than the last of the best that are known, or as much and
 * all of it behind that one in the order of the space. The first points to compare with are looked for on a
 * coarse grid of the most promising strategies, and from there along one axis after the other.
 *
 * What is split and simulated depends on the space, not on the workers, on time, or on what the database has.
 * The certificate: no point is faster than the least bound of the boxes that are open. */
#ifndef DSE_DRIVER_SEARCH_H
#define DSE_DRIVER_SEARCH_H

#include "driver/sweep.h"

typedef struct {
    double cost;        /* ns; of profile train by the tokens of a step */
    uint64_t wall_time; /* ns */
    uint64_t peak_memory, tokens;
    strategy strategy;
    cfg_settings settings; /* of its variant */
} drv_found;

/* Of a study. */
typedef struct {
    uint32_t n;
    drv_found *best;  /* first the best */
    double least;     /* the least open bound, as costs; INFINITY: no box is open */
    bool is_finished; /* no point would change `best` */
    double n_points;  /* before the constraints */
    bool has_all;     /* the space has no more than these */
    uint64_t n_boxes; /* that were split */
    uint64_t n_bounds;
    uint64_t n_refused;  /* strategies, in one box or another, that cannot be run, */
    const char *refusal; /* and why, the first, or why there are no points; NULL: none */
} drv_searched;

typedef struct {
    drv_searched *study;       /* per study of the space */
    uint64_t done, failed;     /* points simulated */
    uint64_t cached;           /* that were needed and in the database */
    const char *first_failure; /* or NULL */
    double seconds, cpu_seconds;
} drv_search_result;

typedef struct {
    const drv_space *space;
    drv_sweep sweep;  /* how points are run, but for points, prune, and calls */
    uint64_t top;     /* at least 1 */
    double hbm_bytes; /* memory of an NPU; NaN: the system's, if it has a limit */
    double gap;       /* ends where no point can be faster by more than this part of the best */
    double seconds;   /* ends after so long; 0: no limit */
    /* Boxes that wait to be split, at most, before the best of them is gone through depth-first, which keeps
     * few; 0: a million. */
    size_t most_open;
    /* Often, with what is known so far of the study at hand; may be NULL. */
    void (*progress)(void *user, uint32_t study, const drv_searched *s, const drv_search_result *all);
    void *user;
} drv_search;

/* How much faster than the best a point may be that is not known, as a part of the best: 0 to 1. */
double drv_search_gap(const drv_searched *s);

/* What is known of a study, as the database keeps it; names are borrowed of the space. */
store_searched drv_search_note(const drv_search *search, uint32_t study, const drv_searched *s);

/* The database then has the best as the points that were asked for, and what is known of them.
 * DSE_E_INTERRUPT after Ctrl-C: *out is set, also then. DSE_E_SIM: a point took less than its bound, of which
 * one of the two is wrong. */
dse_status drv_search_run(const drv_search *s, dse_arena *a, drv_search_result *out, dse_error *err);

#endif
