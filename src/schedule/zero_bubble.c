/* Interleaved zero bubble as in PyTorch; with one chunk it is ZB-H1 (Qi et al. 2023, there with a
 * scheduler that places W by cost and memory: a file of its rows can be read instead). Backward is split
 * in I and W: I passes the gradient on as early as a B would, and W fills what would be idle. */
#include "schedule/parts.h"

typedef struct {
    const sched_options *o;
    sched_queue *q;
    uint32_t total, n_f, n_i, n_w; /* virtual micro-batches; how many of each kind were put */
} zero_bubble;

static void put_f(zero_bubble *z)
{
    sched_virtual at = sched_virtual_at(z->o, z->n_f++);

    sched_put(z->q, SCHED_F, at.chunk, at.micro_batch);
}

static void put_w(zero_bubble *z)
{
    sched_virtual at = sched_virtual_at(z->o, z->n_w++);

    sched_put(z->q, SCHED_W, z->o->vp - 1 - at.chunk, at.micro_batch);
}

/* As many I as the rank's number stay without a W behind them: what the pipeline's end then waits for is done
 * that much earlier. */
static void put_i_and_w(zero_bubble *z)
{
    sched_virtual at = sched_virtual_at(z->o, z->n_i++);

    sched_put(z->q, SCHED_I, z->o->vp - 1 - at.chunk, at.micro_batch);
    if (z->n_i > z->q->rank)
        put_w(z);
}

static void fill(const sched_options *o, sched_queue *q)
{
    zero_bubble z = {.o = o, .q = q, .total = o->micro_batches * o->vp};
    uint32_t warm_up = sched_min(o->pp - 1 - q->rank + (o->vp - 1) * o->group_size, z.total);

    while (z.n_f < warm_up)
        put_f(&z);
    while (z.n_f < z.total) {
        put_f(&z);
        put_i_and_w(&z);
    }
    while (z.n_i < z.total)
        put_i_and_w(&z);
    while (z.n_w < z.total)
        put_w(&z);
}

static const sched_condition *const conditions[] = {&sched_group_possible, &sched_rounds_pytorch,
                                                    &sched_group_pytorch, NULL};

const sched_def sched_def_zero_bubble = {
    .name = "zero_bubble",
    .summary = "interleaved, with the weight gradients moved into idle time; with one chunk ZB-H1",
    .pytorch = "InterleavedZeroBubble",
    .placement = SCHED_LOOP,
    .default_vp = 1,
    .has_groups = true,
    .conditions = conditions,
    .fill = fill,
};
