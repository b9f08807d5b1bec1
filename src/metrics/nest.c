#include "metrics/nest.h"

#include "metrics/order.h"

#include <stdlib.h>

METRIC_COMPARE(by_place, metric_nested, {x->lane, y->lane}, {x->start, y->start}, {y->end, x->end},
               {x->event, y->event})

metric_nest metric_nest_of(const trace_rank *r, const metric_events *list, dse_arena *a)
{
    metric_nest nest = {list->n, DSE_ARENA_NEW(a, metric_nested, list->n)};
    metric_nested *item = nest.item;

    for (uint32_t i = 0; i < nest.n; i++) {
        const trace_event *e = &r->event[list->event[i]];

        item[i] = (metric_nested){e->lane, list->event[i], DSE_NONE, metric_start(e), metric_end(e)};
    }
    if (nest.n)
        qsort(item, nest.n, sizeof *item, by_place);
    for (uint32_t i = 1; i < nest.n; i++) {
        uint32_t outer = item[i - 1].lane == item[i].lane ? i - 1 : DSE_NONE;

        while (outer != DSE_NONE && item[outer].end < item[i].end)
            outer = item[outer].outer;
        item[i].outer = outer;
    }
    return nest;
}

/* The first range from i outwards that holds this time; DSE_NONE. */
static uint32_t holding(const metric_nest *nest, uint32_t i, int64_t at)
{
    while (i != DSE_NONE && nest->item[i].end < at)
        i = nest->item[i].outer;
    return i;
}

uint32_t metric_nest_at(const metric_nest *nest, uint32_t lane, int64_t at)
{
    const metric_nested *item = nest->item;
    size_t next;

    METRIC_BISECT(next, 0, nest->n,
                  item[next].lane < lane || (item[next].lane == lane && item[next].start <= at));
    return next && item[next - 1].lane == lane ? holding(nest, (uint32_t)next - 1, at) : DSE_NONE;
}

uint32_t metric_nest_around(const metric_nest *nest, uint32_t lane, int64_t at)
{
    uint32_t found = metric_nest_at(nest, lane, at);

    for (uint32_t i = found; i != DSE_NONE; i = holding(nest, nest->item[i].outer, at))
        found = i;
    return found;
}
