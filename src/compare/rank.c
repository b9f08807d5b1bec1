#include "compare/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const uint32_t cmp_top_k[CMP_TOPS] = {1, 3, 5};
#define MOST_TOP 5 /* the last of these */

static int compare_doubles(double a, double b) { return (a > b) - (a < b); }

/* ---- Kendall -------------------------------------------------------------------------------- */

static int by_simulated_then_measured(const void *a, const void *b)
{
    const cmp_item *x = a, *y = b;
    int order = compare_doubles(x->simulated, y->simulated);

    return order ? order : compare_doubles(x->measured, y->measured);
}

static double pairs_of(size_t n) { return n < 2 ? 0 : (double)n * (double)(n - 1) / 2; }

/* Sorts by measured. Returns how many pairs stood in the wrong order. */
static double merge(cmp_item *items, size_t n, cmp_item *scratch)
{
    size_t half = n / 2, i = 0, j = half, at = 0;
    double swaps;

    if (n < 2)
        return 0;
    swaps = merge(items, half, scratch) + merge(items + half, n - half, scratch);
    while (i < half && j < n) {
        if (items[j].measured < items[i].measured) {
            swaps += (double)(half - i);
            scratch[at++] = items[j++];
        } else {
            scratch[at++] = items[i++];
        }
    }
    memcpy(scratch + at, items + i, (half - i) * sizeof *items);
    memcpy(items, scratch, j * sizeof *items); /* what is behind j stands where it belongs */
    return swaps;
}

void cmp_count_pairs(const cmp_item *items, size_t n, cmp_item *scratch, cmp_pair_counts *sum)
{
    size_t simulated_run = 0, both_run = 0, measured_run = 0; /* where equal ones began */
    double tied_simulated = 0, tied_both = 0, tied_measured = 0, swaps;

    memcpy(scratch, items, n * sizeof *items);
    qsort(scratch, n, sizeof *scratch, by_simulated_then_measured);
    for (size_t i = 1; i <= n; i++) {
        bool ends = i == n || scratch[i].simulated != scratch[i - 1].simulated;

        if (ends || scratch[i].measured != scratch[i - 1].measured) {
            tied_both += pairs_of(i - both_run);
            both_run = i;
        }
        if (ends) {
            tied_simulated += pairs_of(i - simulated_run);
            simulated_run = i;
        }
    }
    swaps = merge(scratch, n, scratch + n);
    for (size_t i = 1; i <= n; i++) {
        if (i == n || scratch[i].measured != scratch[i - 1].measured) {
            tied_measured += pairs_of(i - measured_run);
            measured_run = i;
        }
    }
    sum->all += pairs_of(n);
    sum->tied_simulated += tied_simulated;
    sum->tied_measured += tied_measured;
    sum->difference += pairs_of(n) - tied_simulated - tied_measured + tied_both - 2 * swaps;
}

/* Rounding may leave a correlation a bit beyond 1. NaN stays. */
static double clamp(double r) { return r > 1 ? 1 : r < -1 ? -1 : r; }

double cmp_tau_b(const cmp_pair_counts *c)
{
    double simulated = c->all - c->tied_simulated, measured = c->all - c->tied_measured;

    if (simulated <= 0 || measured <= 0)
        return NAN;
    return clamp(c->difference / sqrt(simulated * measured));
}

/* ---- Spearman ------------------------------------------------------------------------------- */

static int by_measured(const void *a, const void *b)
{
    return compare_doubles(((const cmp_item *)a)->measured, ((const cmp_item *)b)->measured);
}

static double *simulated_of(cmp_item *i) { return &i->simulated; }
static double *measured_of(cmp_item *i) { return &i->measured; }

/* Puts ranks in the place of one side, by which the items are sorted: twice their distance from the mean
 * rank, a whole number, so that sums of them and of their products are exact (gsl_stats_spearman's are not:
 * of equal orders it may say 1 - 2e-16). Of the i-th to before the j-th, which are equal, the mean rank is (i
 * + j + 1) / 2, and that of all is (n + 1) / 2. */
static void put_ranks(cmp_item *items, size_t n, double *(*side)(cmp_item *))
{
    for (size_t i = 0, j; i < n; i = j) {
        double value = *side(&items[i]);

        for (j = i + 1; j < n && *side(&items[j]) == value; j++)
            ;
        for (size_t k = i; k < j; k++)
            *side(&items[k]) = (double)(i + j) - (double)n;
    }
}

double cmp_spearman(const cmp_item *items, size_t n, cmp_item *scratch)
{
    double products = 0, simulated = 0, measured = 0;

    if (n < 3)
        return NAN;
    memcpy(scratch, items, n * sizeof *items);
    qsort(scratch, n, sizeof *scratch, by_simulated_then_measured);
    put_ranks(scratch, n, simulated_of);
    qsort(scratch, n, sizeof *scratch, by_measured);
    put_ranks(scratch, n, measured_of);
    for (size_t i = 0; i < n; i++) {
        products += scratch[i].simulated * scratch[i].measured;
        simulated += scratch[i].simulated * scratch[i].simulated;
        measured += scratch[i].measured * scratch[i].measured;
    }
    return simulated > 0 && measured > 0 ? clamp(products / sqrt(simulated * measured)) : NAN;
}

/* ---- regret --------------------------------------------------------------------------------- */

static bool is_simulated_better(const cmp_item *a, const cmp_item *b)
{
    return a->simulated < b->simulated || (a->simulated == b->simulated && a->index < b->index);
}

void cmp_regret(const cmp_item *items, size_t n, double out[CMP_TOPS])
{
    const cmp_item *top[MOST_TOP + 1]; /* the simulated-best, best first; the last is one that fell out */
    size_t n_top = 0;
    double best = INFINITY;

    for (size_t i = 0; i < n; i++) {
        size_t at = n_top;

        best = fmin(best, items[i].measured);
        for (; at > 0 && is_simulated_better(&items[i], top[at - 1]); at--)
            top[at] = top[at - 1];
        top[at] = &items[i];
        n_top += n_top < MOST_TOP;
    }
    for (size_t t = 0; t < CMP_TOPS; t++) {
        double picked = INFINITY;

        for (size_t i = 0; i < cmp_top_k[t] && i < n_top; i++)
            picked = fmin(picked, top[i]->measured);
        out[t] = n > cmp_top_k[t] ? picked / best - 1 : NAN;
    }
}
