/* cmp_rank -- whether a group of runs, choices for the same work, is simulated in the order in which it was
 * measured: for score.h. What cannot be said is NaN. */
#ifndef DSE_COMPARE_RANK_H
#define DSE_COMPARE_RANK_H

#include "compare/score.h"

typedef struct {
    double simulated, measured;
    size_t index; /* of the run, as the caller has it */
} cmp_item;

/* Pairs of runs, summed over groups; whole numbers. */
typedef struct {
    double all;
    double tied_simulated, tied_measured; /* equal there; a pair may be both */
    double difference;                    /* pairs in the same order less pairs in the opposite one */
} cmp_pair_counts;

/* Adds those of n items; scratch holds 2 n items. n log n steps (Knight, JASA 61, 1966). */
void cmp_count_pairs(const cmp_item *items, size_t n, cmp_item *scratch, cmp_pair_counts *sum);

/* Kendall's tau-b: difference / sqrt((all - tied_simulated) * (all - tied_measured)). NaN if all are tied on
 * a side. */
double cmp_tau_b(const cmp_pair_counts *c);

/* Spearman's rho, equal values at the mean of their ranks. NaN for fewer than three items, or if all are
 * equal on a side. scratch holds n items. */
double cmp_spearman(const cmp_item *items, size_t n, cmp_item *scratch);

/* For each of cmp_top_k: how much slower than the truly best the best measured of the k simulated-best is;
 * NaN unless there are more than k items. Of equals the earlier run counts as the better simulated. n > 0. */
void cmp_regret(const cmp_item *items, size_t n, double out[CMP_TOPS]);

/* ---- repeats -------------------------------------------------------------------------------- */

/* Runs of which some measure the same thing again, each thing once: at the geometric mean of its
 * measurements, simulated as the first of them. */
typedef struct {
    size_t n, n_repeated; /* things; of which several measurements are there */
    cmp_run *run;         /* n */
    double *count;        /* n: measurements */
    /* standard deviation of ln measured among repeats, pooled over all of them; NaN without any, as are the
     * next */
    double deviation;
    /* What a model without error would reach, on average over 400 draws: where each thing's true time is what
     * was measured times a normal error of that deviation (over the root of its measurements), tau-b and the
     * mean top-1 regret (cmp_summary). A bit too good, as the times that are drawn from have an error of
     * their own. */
    double kendall, regret;
} cmp_repeats;

/* repeats[i]: the first run of the same thing as i, itself where it is the first. In the arena. */
cmp_repeats cmp_merge_repeats(const cmp_run *run, const size_t *repeats, size_t n, uint64_t seed,
                              dse_arena *a);

#endif
