/* cmp_score -- how near simulated figures are to measured ones: of one run by metric, of many runs by step time.
 *
 * A relative error is (simulated - measured) / measured: positive where the simulation is too slow. What cannot be said is
 * NaN, never 0: a side that is absent, a measured 0, too few runs. */
#ifndef DSE_COMPARE_SCORE_H
#define DSE_COMPARE_SCORE_H

#include "base/alloc.h"

typedef enum { CMP_NEITHER, CMP_LOWER, CMP_HIGHER } cmp_better;

/* One metric of one run, from both sides. */
typedef struct {
    const char *name, *unit;
    cmp_better better;
    double tolerance;           /* of the relative error, as a fraction, within which the two sides agree */
    double simulated, measured; /* NaN: absent */
    const char *why_simulated;  /* why it is absent; NULL: it is there */
    const char *why_measured;
} cmp_pair;

/* NaN if a side is absent, or measured is 0 and simulated is not; 0 if both are 0. */
double cmp_error(double simulated, double measured);

/* Weights of metrics, by name; a metric that has none counts nothing. */
typedef struct {
    const char *path; /* of the file */
    size_t n;
    const char **name;
    double *weight; /* >= 0, one of them > 0 */
} cmp_weights;

/* Reads `metric: weight` lines (YAML). DSE_E_IO, DSE_E_SYNTAX, DSE_E_CONFIG with file, line and remedy: no number, below 0,
 * all 0. In the arena. */
dse_status cmp_weights_load(const char *path, dse_arena *a, cmp_weights *out, dse_error *err);
double cmp_weight_of(const cmp_weights *w, const char *metric); /* 0: it has none */

/* The weighted mean of |relative error| over the pairs that have one and a weight, as a fraction: 0 is perfect. NaN if there
 * is none; *used: how many there were. */
double cmp_score(const cmp_pair *pairs, size_t n, const cmp_weights *w, size_t *used);

/* ---- over runs ------------------------------------------------------------------------------- */

/* A run for which both step times are known (seconds, > 0). Runs of one group are choices for the same work: the same model,
 * batch, sequence and devices; ranks and regret compare within groups alone. */
typedef struct {
    double simulated, measured;
    uint32_t group;
} cmp_run;

/* A figure with a bootstrap percentile interval of 95 %; NaN: it cannot be said. */
typedef struct {
    double value, low, high;
} cmp_estimate;

/* How much slower than the truly best the best measured of the k simulated-best is, as a fraction. */
#define CMP_TOPS 3
extern const uint32_t cmp_top_k[CMP_TOPS]; /* 1, 3, 5 */

typedef struct {
    size_t n;
    cmp_estimate mape;             /* mean |relative error| */
    cmp_estimate geometric;        /* exp(mean |ln(simulated / measured)|) - 1 */
    cmp_estimate bias;             /* exp(mean ln(simulated / measured)) - 1: too slow where positive */
    size_t worst;                  /* index of the largest |relative error|; the first among equals */
    double worst_error;            /* signed */
    cmp_estimate r2;               /* 1 - SS(simulated - measured) / SS(measured - mean); 3 runs or more */
    size_t n_groups, n_runs;       /* groups of two runs or more, and the runs in them */
    cmp_estimate spearman;         /* mean over groups of three or more, weighted by runs */
    cmp_estimate kendall;          /* tau-b over all pairs of runs within groups */
    cmp_estimate regret[CMP_TOPS]; /* mean over groups of more than k runs */
    double worst_regret[CMP_TOPS];
} cmp_summary;

typedef struct {
    uint64_t seed;
    uint32_t resamples; /* 0: no intervals */
} cmp_bootstrap;

/* Resampling draws whole runs with replacement within each group, so that groups keep their sizes (GSL's mt19937). The
 * same runs, in whatever order the caller keeps, give the same figures for the same seed. DSE_E_NOMEM. */
dse_status cmp_summarize(const cmp_run *runs, size_t n, const cmp_bootstrap *b, dse_arena *a,
                         cmp_summary *out, dse_error *err);

#endif
