#include "compare/score.h"

#include <math.h>

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
