/* ZB-V with equal costs, as in PyTorch's ZBVZeroBubble (Qi et al. 2024): two chunks a rank in a V, so that
 * the last stage is on the first rank, and I and W apart. The pattern needs 2p-1 micro-batches; a shorter
 * step is that pattern without the actions beyond its last one. */
#include "schedule/parts.h"

typedef struct {
    sched_queue *q;
    uint32_t m;                /* micro-batches of the step */
    uint32_t f[2], i[2], w[2]; /* next micro-batch of each chunk */
} zbv;

static void put(zbv *z, sched_kind kind, uint32_t chunk, uint32_t *next)
{
    if (*next < z->m)
        sched_put(z->q, kind, chunk, *next);
    ++*next;
}

static void put_f(zbv *z, uint32_t chunk) { put(z, SCHED_F, chunk, &z->f[chunk]); }
static void put_i(zbv *z, uint32_t chunk) { put(z, SCHED_I, chunk, &z->i[chunk]); }
static void put_w(zbv *z, uint32_t chunk) { put(z, SCHED_W, chunk, &z->w[chunk]); }

static void put_i_w(zbv *z, uint32_t chunk)
{
    put_i(z, chunk);
    put_w(z, chunk);
}

static void warm_up(zbv *z, uint32_t p, uint32_t rank)
{
    for (uint32_t k = 0; k < 2 * (p - rank) - 1; k++)
        put_f(z, 0);
    for (uint32_t k = 0; k < rank; k++) {
        put_f(z, 1);
        put_f(z, 0);
    }
    for (uint32_t k = 0; k < p - rank; k++) {
        put_f(z, 1);
        put_i_w(z, 1);
    }
}

static void cool_down(zbv *z, uint32_t p, uint32_t rank)
{
    for (uint32_t k = 0; k < rank; k++) {
        put_i(z, 0);
        put_i(z, 1);
    }
    for (uint32_t k = 0; k < p - rank; k++)
        put_i_w(z, 0);
    for (uint32_t chunk = 2; chunk-- > 0;)
        while (z->w[chunk] < z->i[chunk])
            put_w(z, chunk);
}

static void fill(const sched_options *o, sched_queue *q)
{
    zbv z = {.q = q, .m = o->micro_batches};
    uint32_t n = o->micro_batches > 2 * o->pp - 1 ? o->micro_batches : 2 * o->pp - 1;

    warm_up(&z, o->pp, q->rank);
    while (z.f[1] < z.f[0] || z.f[0] < n) {
        if (z.f[0] < n)
            put_f(&z, 0);
        put_i_w(&z, 0);
        put_f(&z, 1);
        put_i_w(&z, 1);
    }
    cool_down(&z, o->pp, q->rank);
}

static const sched_condition *const conditions[] = {&sched_two_chunks, NULL};

const sched_def sched_def_zbv = {
    .name = "zbv",
    .summary = "zero bubble with two chunks a rank in a V",
    .pytorch = "ZBVZeroBubble",
    .placement = SCHED_V,
    .default_vp = 2,
    .conditions = conditions,
    .fill = fill,
};
