/* Plans with their orders, one of them kept. */
#include "schedule/compose.h"

struct sched_keeper {
    const sched_def *def; /* NULL: none is kept */
    sched_options options;
    dse_arena arena;
    sched_ordered ordered;
};

dse_status sched_ordered_make(const sched_def *d, const sched_options *o, dse_arena *a, sched_ordered *out,
                              dse_error *err)
{
    dse_status st;

    if ((st = sched_make(d, o, a, &out->plan, err)) != DSE_OK ||
        (st = sched_order_make(&out->plan, a, &out->order, err)) != DSE_OK)
        return st;
    out->tensors = sched_order_tensors(&out->order, a);
    return DSE_OK;
}

sched_keeper *sched_keeper_new(void)
{
    sched_keeper *k = dse_calloc(1, sizeof *k);

    dse_arena_init(&k->arena);
    return k;
}

void sched_keeper_free(sched_keeper *k)
{
    if (k)
        dse_arena_free(&k->arena);
    dse_free(k);
}

static bool is_same(const sched_options *a, const sched_options *b)
{
    return a->pp == b->pp && a->micro_batches == b->micro_batches && a->vp == b->vp &&
           a->group_size == b->group_size && a->overlap_moe == b->overlap_moe &&
           a->overlap_pairs == b->overlap_pairs && a->like == b->like;
}

dse_status sched_keeper_find(sched_keeper *k, const sched_def *d, const sched_options *o,
                             const sched_ordered **out, dse_error *err)
{
    dse_status st;

    *out = &k->ordered;
    if (k->def == d && is_same(&k->options, o))
        return DSE_OK;
    k->def = NULL;
    dse_arena_reset(&k->arena);
    st = sched_ordered_make(d, o, &k->arena, &k->ordered, err);
    if (st == DSE_OK) {
        k->def = d;
        k->options = *o;
    }
    return st;
}
