/* The order that design_enumerate promises: by pp, dp, tp, sp, weight sharding, recomputation. */
#ifndef SUPPORT_POINT_ORDER_H
#define SUPPORT_POINT_ORDER_H

#include "design/space.h"

/* <0, 0, >0. */
static inline int compare_points(const strategy *a, const strategy *b)
{
    const int64_t x[] = {a->pp, a->dp, a->tp, a->sp, a->weight_sharded, a->recompute};
    const int64_t y[] = {b->pp, b->dp, b->tp, b->sp, b->weight_sharded, b->recompute};

    for (int i = 0; i < 6; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

#endif
