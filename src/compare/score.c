#include "compare/score.h"

#include "base/order.h"

#include <math.h>
#include <stdlib.h>

#define NEAR 0.1 /* what counts as within a tenth */

double cmp_error(double simulated, double measured)
{
    if (measured == 0)
        return simulated == 0 ? 0 : NAN;
    return (simulated - measured) / measured;
}

double cmp_score(const cmp_pair *pairs, size_t n, const cmp_weights *w, size_t *used)
{
    double sum = 0, weights = 0;

    *used = 0;
    for (size_t i = 0; i < n; i++) {
        double error = cmp_error(pairs[i].simulated, pairs[i].measured);
        double weight = cmp_weight_of(w, pairs[i].name);

        if (isnan(error) || weight <= 0)
            continue;
        sum += weight * fabs(error);
        weights += weight;
        ++*used;
    }
    return *used ? sum / weights : NAN;
}

static double percentile(const double *size, size_t n, double share)
{
    size_t i = (size_t)ceil(share * (double)n - 1e-9);

    return size[i ? i - 1 : 0];
}

cmp_spread cmp_spread_of(const double *error, size_t n)
{
    double *size = dse_calloc(n + 1, sizeof *size), sum = 0, signed_sum = 0, near = 0;
    cmp_spread s = {.mean = NAN, .median = NAN, .p90 = NAN, .worst = NAN, .bias = NAN, .within = NAN};

    for (size_t i = 0; i < n; i++) {
        if (isnan(error[i]))
            continue;
        if (!s.n || fabs(error[i]) > fabs(s.worst)) {
            s.worst = error[i];
            s.which = i;
        }
        size[s.n++] = fabs(error[i]);
        sum += fabs(error[i]);
        signed_sum += error[i];
        near += fabs(error[i]) <= NEAR;
    }
    if (s.n) {
        qsort(size, s.n, sizeof *size, dse_by_double);
        s.mean = sum / (double)s.n;
        s.median = percentile(size, s.n, 0.5);
        s.p90 = percentile(size, s.n, 0.9);
        s.bias = signed_sum / (double)s.n;
        s.within = near / (double)s.n;
    }
    dse_free(size);
    return s;
}
