#include "compare/groups.h"

#include "base/alloc.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

typedef struct {
    double sum;
    size_t n;
} one_group;

static double mean_of(const one_group *g) { return g->sum / (double)g->n; }

cmp_new_group cmp_new_group_of(const double *value, const uint32_t *group, size_t n, uint32_t k)
{
    one_group *of = dse_calloc(k, sizeof *of);
    const double groups = k, within = (double)n - groups;
    double mean = 0, inverse = 0, s_b = 0, s_w = 0, between;
    cmp_new_group out;

    for (size_t i = 0; i < n; i++) {
        of[group[i]].sum += value[i];
        of[group[i]].n++;
    }
    for (uint32_t i = 0; i < k; i++) {
        mean += mean_of(&of[i]) / groups;
        inverse += 1 / (double)of[i].n / groups;
    }
    for (uint32_t i = 0; i < k; i++)
        s_b += pow(mean_of(&of[i]) - mean, 2) / (groups - 1);
    for (size_t i = 0; i < n; i++)
        s_w += within > 0 ? pow(value[i] - mean_of(&of[group[i]]), 2) / within : 0;
    dse_free(of);

    between = (1 + 1 / groups) * s_b;
    s_w *= 1 - inverse;
    out = (cmp_new_group){.mean = mean, .variance = between + s_w, .freedom = INFINITY};
    if (out.variance > 0)
        out.freedom =
            pow(out.variance, 2) / (pow(between, 2) / (groups - 1) + (within > 0 ? pow(s_w, 2) / within : 0));
    return out;
}

double cmp_new_group_half(const cmp_new_group *g, double share)
{
    return g->variance > 0 ? gsl_cdf_tdist_Pinv((1 + share) / 2, g->freedom) * sqrt(g->variance) : 0;
}
