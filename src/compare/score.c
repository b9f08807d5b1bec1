#include "compare/score.h"

#include <math.h>

const uint32_t cmp_top_k[CMP_TOPS] = {1, 3, 5};

double cmp_error(double simulated, double measured)
{
    if (measured == 0)
        return simulated == 0 ? 0 : NAN;
    return (simulated - measured) / measured;
}
