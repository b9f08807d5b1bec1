/* cmp_groups -- where a value of one more group lies, by values that come in groups (the runs of models): a
 * prediction interval.
 *
 * Values of one group are alike, so the groups count and not the values. The model is one-way random effects:
 * group means are normal about a common mean, values normal about that of their group. With k groups of n_i
 * values, N in all, whose means have the mean m and the variance s_b, and the variance s_w within groups
 * (pooled, N - k degrees of freedom), a value of a new group differs from m with the variance
 *
 *     V = (1 + 1/k) s_b + (1 - mean of 1/n_i) s_w,
 *
 * which has no bias however different the n_i are, and about
 *
 *     V^2 / (((1 + 1/k) s_b)^2 / (k - 1) + ((1 - mean of 1/n_i) s_w)^2 / (N - k))
 *
 * degrees of freedom of Student's t (Satterthwaite, Biometrics Bulletin 2, 1946). Many values of few groups
 * that hardly differ are many degrees of freedom; where the groups make the difference, k - 1. */
#ifndef DSE_COMPARE_GROUPS_H
#define DSE_COMPARE_GROUPS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    double mean, variance, freedom; /* m, V and its degrees of freedom: infinite if V is 0 */
} cmp_new_group;

/* group[i] < k of value[i]; none of the k >= 2 groups is empty. */
cmp_new_group cmp_new_group_of(const double *value, const uint32_t *group, size_t n, uint32_t k);

/* Half the width of the interval about the mean that holds `share`, such as 0.9. */
double cmp_new_group_half(const cmp_new_group *g, double share);

#endif
