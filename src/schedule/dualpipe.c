/* DualPipe (DeepSeek-V3, 2024): micro-batches enter at both ends of the pipeline, of which each rank holds
 * two stages, one for each direction. In the middle of the step a forward of one direction overlaps with a
 * backward of the other. Follows DualPipe's step(), whose eight parts are named nF0, nF0F1, ... */
#include "schedule/dualpipe.h"

typedef struct {
    sched_queue *q;
    uint32_t f[2], b[2];        /* next micro-batch of each chunk */
    uint32_t n_late, next_late; /* W that were deferred: first in, first out */
    struct {
        uint32_t chunk, micro_batch;
    } late[]; /* as many as a rank defers */
} dual;

static void put_f(dual *d, uint32_t chunk) { sched_put(d->q, SCHED_F, chunk, d->f[chunk]++); }
static void put_b(dual *d, uint32_t chunk) { sched_put(d->q, SCHED_B, chunk, d->b[chunk]++); }

static void put_i(dual *d, uint32_t chunk)
{
    d->late[d->n_late].chunk = chunk;
    d->late[d->n_late++].micro_batch = d->b[chunk];
    sched_put(d->q, SCHED_I, chunk, d->b[chunk]++);
}

static void put_w(dual *d)
{
    sched_put(d->q, SCHED_W, d->late[d->next_late].chunk, d->late[d->next_late].micro_batch);
    d->next_late++;
}

static void put_pair(dual *d, uint32_t f_chunk, uint32_t b_chunk)
{
    sched_put_pair(d->q, f_chunk, d->f[f_chunk]++, b_chunk, d->b[b_chunk]++);
}

static void put_b_or_i(dual *d, uint32_t chunk, bool defer)
{
    if (defer)
        put_i(d, chunk);
    else
        put_b(d, chunk);
}

static void fill_first_half(dual *d, uint32_t p, uint32_t rank)
{
    for (uint32_t k = 0; k < 2 * (p - rank - 1); k++) /* 1: nF0 */
        put_f(d, 0);
    for (uint32_t k = 0; k < rank + 1; k++) { /* 2: nF0F1 */
        put_f(d, 0);
        put_f(d, 1);
    }
    for (uint32_t k = 0; k < p - rank - 1; k++) { /* 3: nB1W1F1 */
        put_i(d, 1);
        put_w(d);
        put_f(d, 1);
    }
}

static void fill_middle(dual *d, uint32_t p, uint32_t rank, uint32_t m)
{
    for (uint32_t k = 0; k < m - 2 * p + rank + 1; k++) { /* 4: nF0B1F1B0 */
        if (k == 0 && rank == p - 1) { /* the ends of the directions meet here: nothing to overlap with yet */
            put_f(d, 0);
            put_b(d, 1);
        } else {
            put_pair(d, 0, 1);
        }
        put_pair(d, 1, 0);
    }
    for (uint32_t k = 0; k < p - rank - 1; k++) { /* 5: nB1F1B0 */
        put_b(d, 1);
        put_pair(d, 1, 0);
    }
}

static void fill_last_half(dual *d, uint32_t p, uint32_t rank)
{
    bool defer = false;

    for (uint32_t k = 0; k < rank + 1; k++) { /* 6: nB1B0, of which the second half without W */
        bool half_way = k == (rank + 1) / 2;

        defer = defer || (half_way && rank % 2 == 1);
        put_b_or_i(d, 1, defer);
        defer = defer || half_way;
        put_b_or_i(d, 0, defer);
    }
    for (uint32_t k = 0; k < p - rank - 1; k++) { /* 7: nWB0 */
        put_w(d);
        put_b_or_i(d, 0, defer);
    }
    for (uint32_t k = 0; k < rank + 1; k++) /* 8: nW */
        put_w(d);
}

void sched_fill_dualpipe(uint32_t p, uint32_t rank, uint32_t m, sched_queue *q)
{
    /* Part 3 defers p-rank-1, part 6 rank+1 and part 7 p-rank-1. */
    dual *d = dse_calloc(1, sizeof *d + 2 * (size_t)p * sizeof d->late[0]);

    d->q = q;
    fill_first_half(d, p, rank);
    fill_middle(d, p, rank, m);
    fill_last_half(d, p, rank);
    dse_free(d);
}

static void fill(const sched_options *o, sched_queue *q)
{
    sched_fill_dualpipe(o->pp / 2, sched_min(q->rank, o->pp - 1 - q->rank), o->micro_batches / 2, q);
}

static bool has_even_ranks(const sched_options *o) { return o->pp % 2 == 0; }
static bool has_even_micro_batches(const sched_options *o) { return o->micro_batches % 2 == 0; }
bool sched_has_twice_as_many(const sched_options *o) { return o->micro_batches / 2 >= o->pp; }

static const sched_condition even_ranks = {SCHED_BIT(ANY), has_even_ranks, SCHED_VARY(pp),
                                           "the directions meet in the middle of an even number of ranks"};
static const sched_condition even_micro_batches = {SCHED_BIT(ANY), has_even_micro_batches,
                                                   SCHED_VARY(micro_batches),
                                                   "each direction takes half of the micro-batches"};
static const sched_condition enough = {SCHED_BIT(ANY), sched_has_twice_as_many, SCHED_VARY(micro_batches),
                                       "there must be at least twice as many micro-batches as ranks"};
static const sched_condition *const conditions[] = {&sched_two_chunks, &even_ranks, &even_micro_batches,
                                                    &enough, NULL};

const sched_def sched_def_dualpipe = {
    .name = "dualpipe",
    .summary = "from both ends at once, forwards overlapped with backwards",
    .placement = SCHED_DIRECTIONS,
    .default_vp = 2,
    .conditions = conditions,
    .fill = fill,
};
