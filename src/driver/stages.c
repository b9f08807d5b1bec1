#include "driver/stages.h"

#include "driver/stage_paths.h"

#include <string.h>

#define N_TABLES 256
#define NEVER    DSE_TIME_NONE

/* By numbers of layers from 0 to `cap`, and one more for all above that: per stage, or per rank. */
typedef struct {
    uint64_t used;
    uint32_t *key; /* NULL: free */
    size_t n_key;
    strategy point;
    step_machine machine;
    dse_arena arena;
    bool is_known;
    uint32_t n_stages, n_ranks, cap;
    sched_plan plan;
    sched_order order;
    sched_costs costs; /* of the bound at hand, */
    sched_times times; /* and what becomes of them */
    uint32_t *stage_rank, *first, *last;
    step_stage_floor **stage, *more; /* per stage: what each layer beyond `cap` adds at least */
    step_rank_floor **rank;
    uint64_t **peak, **bytes; /* per rank, per stage: step_floors */
    int64_t *always;          /* per rank, likewise */
    dse_time norm;
    drv_paths *paths; /* where ranks have several stages */
} table;

struct drv_stages {
    table table[N_TABLES];
    uint64_t clock;
    sched_keeper *orders;
    dse_arena scratch, floors;
    dse_time **by_rank; /* of the bound at hand: least_by_rank */
};

drv_stages *drv_stages_new(void)
{
    drv_stages *d = dse_calloc(1, sizeof *d);

    for (size_t i = 0; i < N_TABLES; i++)
        dse_arena_init(&d->table[i].arena);
    dse_arena_init(&d->scratch);
    dse_arena_init(&d->floors);
    d->orders = sched_keeper_new();
    return d;
}

void drv_stages_free(drv_stages *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < N_TABLES; i++)
        dse_arena_free(&d->table[i].arena);
    dse_arena_free(&d->scratch);
    dse_arena_free(&d->floors);
    sched_keeper_free(d->orders);
    dse_free(d);
}

static dse_time later(dse_time a, dse_time b) { return a > b ? a : b; }
static dse_time earlier(dse_time a, dse_time b) { return a < b ? a : b; }

/* ---- tables -------------------------------------------------------------------------------- */

/* What is to be had of the plan, which is another one's soon. */
static void take_plan(table *t, const step_floors *f)
{
    t->is_known = f->is_known;
    if (!f->is_known)
        return;
    t->plan = f->ordered->plan;
    t->n_stages = t->plan.n_stages;
    t->n_ranks = t->plan.n_ranks;
    t->stage_rank = t->plan.stage_rank =
        dse_arena_copy(&t->arena, t->plan.stage_rank, t->n_stages, sizeof *t->stage_rank);
    t->plan.first = dse_arena_copy(&t->arena, t->plan.first, t->n_ranks + 1, sizeof *t->plan.first);
    t->plan.action =
        dse_arena_copy(&t->arena, t->plan.action, sched_n_actions(&t->plan), sizeof *t->plan.action);
    t->order.plan = &t->plan;
    t->order.step =
        dse_arena_copy(&t->arena, f->ordered->order.step, sched_n_actions(&t->plan), sizeof *t->order.step);
    sched_costs_init(&t->costs, &t->plan, &t->arena);
    sched_times_init(&t->times, &t->plan, &t->arena);
    t->first = dse_arena_copy(&t->arena, f->first, t->n_ranks, sizeof *t->first);
    t->last = dse_arena_copy(&t->arena, f->last, t->n_ranks, sizeof *t->last);
    t->norm = NEVER;
    t->more = DSE_ARENA_NEW(&t->arena, step_stage_floor, t->n_stages);
    for (uint32_t s = 0; s < t->n_stages; s++)
        memset(&t->more[s], 0xff, sizeof t->more[s]); /* NEVER */
}

/* The least that one layer has added to the kernels so far. */
static void take_more(table *t, const step_stage_floor *before, const step_stage_floor *kernels)
{
    for (uint32_t s = 0; s < t->n_stages; s++) {
        step_stage_floor *m = &t->more[s];

        m->busy = earlier(m->busy, kernels[s].busy - before[s].busy);
        m->until_backward = earlier(m->until_backward, kernels[s].until_backward - before[s].until_backward);
        for (int kind = 0; kind < SCHED_KINDS; kind++)
            m->pass[kind] = earlier(m->pass[kind], kernels[s].pass[kind] - before[s].pass[kind]);
    }
}

static void take_floors(table *t, const step_floors *f, uint32_t layers)
{
    t->norm = earlier(t->norm, f->norm);
    t->stage[layers] = dse_arena_copy(&t->arena, f->stage, t->n_stages, sizeof *f->stage);
    t->rank[layers] = dse_arena_copy(&t->arena, f->rank, t->n_ranks, sizeof *f->rank);
    t->bytes[layers] = dse_arena_copy(&t->arena, f->bytes, t->n_stages, sizeof *f->bytes);
    t->always = dse_arena_copy(&t->arena, f->always, t->n_ranks, sizeof *f->always);
    t->peak[layers] = dse_arena_copy(&t->arena, f->peak, t->n_ranks, sizeof *f->peak);
    if (layers < t->cap)
        return;
    t->stage[layers + 1] = dse_arena_copy(&t->arena, f->kernels, t->n_stages, sizeof *f->kernels);
    t->rank[layers + 1] = dse_arena_copy(&t->arena, f->rank_kernels, t->n_ranks, sizeof *f->rank_kernels);
    t->peak[layers + 1] = t->peak[layers];
    t->bytes[layers + 1] = t->bytes[layers];
}

/* Up to which numbers of layers all is counted: half as many again as an even stage has, or an even rank,
 * which may have them all in one of its stages. */
static uint32_t cap_of(const drv_study *study, const strategy *p, bool is_close)
{
    const uint32_t whole = (uint32_t)study->model.layers,
                   n = is_close ? p->pp : study->training->model.n_laid_out;
    const uint32_t even = (whole + n - 1) / n;

    return even + even / 2 + 2 < whole ? even + even / 2 + 2 : whole;
}

static dse_status fill(drv_stages *d, table *t, const drv_study *study, dse_error *err)
{
    drv_study with_orders = *study;
    step_stage_floor *before = NULL;
    dse_status st = DSE_OK;

    with_orders.orders = d->orders;
    t->stage = DSE_ARENA_NEW(&t->arena, step_stage_floor *, t->cap + 2);
    t->rank = DSE_ARENA_NEW(&t->arena, step_rank_floor *, t->cap + 2);
    t->peak = DSE_ARENA_NEW(&t->arena, uint64_t *, t->cap + 2);
    t->bytes = DSE_ARENA_NEW(&t->arena, uint64_t *, t->cap + 2);
    for (uint32_t layers = 0; st == DSE_OK && layers <= t->cap; layers++) {
        step_floors f;

        dse_arena_reset(&d->floors);
        st = drv_training_floors(&with_orders, &t->point, t->machine, layers, &d->floors, &f, err);
        if (st == DSE_OK && !layers)
            take_plan(t, &f);
        if (st != DSE_OK || !t->is_known)
            break;
        take_floors(t, &f, layers);
        if (before && layers > 1)
            take_more(t, before, f.kernels);
        before = dse_arena_copy(&t->arena, f.kernels, t->n_stages, sizeof *f.kernels);
    }
    if (st == DSE_OK && t->is_known && (t->cap < 2 || t->point.recompute_layers >= t->cap))
        memset(t->more, 0, t->n_stages * sizeof *t->more); /* later layers may be kept, and add less */
    return st;
}

/* The table of a study and a strategy, made where it is not there. */
static dse_status find_table(drv_stages *d, const uint32_t *key, size_t n_key, const drv_study *s,
                             const strategy *p, step_machine machine, bool is_close, table **out,
                             dse_error *err)
{
    const uint32_t cap = cap_of(s, p, is_close);
    table *oldest = &d->table[0];
    dse_status st;

    for (size_t i = 0; i < N_TABLES; i++) {
        table *t = &d->table[i];

        if (t->key && t->n_key == n_key && t->machine == machine && t->cap == cap &&
            !strategy_compare(&t->point, p) && !memcmp(t->key, key, n_key * sizeof *key)) {
            t->used = ++d->clock;
            *out = t;
            return DSE_OK;
        }
        oldest = t->used < oldest->used ? t : oldest;
    }
    dse_arena_reset(&oldest->arena);
    oldest->key = NULL;
    oldest->paths = NULL;
    oldest->point = *p;
    oldest->machine = machine;
    oldest->cap = cap;
    if ((st = fill(d, oldest, s, err)) != DSE_OK)
        return st;
    oldest->key = dse_arena_copy(&oldest->arena, key, n_key, sizeof *key);
    oldest->n_key = n_key;
    oldest->used = ++d->clock;
    *out = oldest;
    return DSE_OK;
}

/* The row of the tables for so many layers. */
static uint32_t row_of(const table *t, uint32_t layers) { return layers <= t->cap ? layers : t->cap + 1; }

/* Of a backward pass, for the gradient of its input. */
static dse_time back_of(const step_stage_floor *f) { return earlier(f->pass[SCHED_B], f->pass[SCHED_I]); }

static step_stage_floor stage_at(const table *t, uint32_t stage, uint32_t layers)
{
    const uint64_t more = layers > t->cap ? layers - t->cap : 0;
    step_stage_floor f = t->stage[row_of(t, layers)][stage];

    if (more) {
        f.busy += more * t->more[stage].busy;
        f.until_backward += more * t->more[stage].until_backward;
        for (int kind = 0; kind < SCHED_KINDS; kind++)
            f.pass[kind] += more * t->more[stage].pass[kind];
    }
    return f;
}

static const step_rank_floor *rank_at(const table *t, uint32_t rank, uint32_t layers)
{
    return &t->rank[row_of(t, layers)][rank];
}

/* The least of a kind of pass. */
static dse_time least_pass(const table *t, uint32_t stage, design_part range, sched_kind kind)
{
    dse_time least = NEVER;

    for (uint32_t layers = range.low; layers < range.high; layers++)
        least = earlier(least, stage_at(t, stage, layers).pass[kind]);
    return least;
}

/* ---- one stage on each rank ---------------------------------------------------------------- */

/* Of the stages so far, with so many layers in all. */
typedef struct {
    dse_time head;     /* their forward passes, */
    dse_time there;    /* and their backward passes, too; the least of any of these layouts */
    dse_time least;    /* the step, by these stages; NEVER: no layout has so many */
    uint32_t of_stage; /* layers of the last of them, in the layout with that least */
} reached;

static bool fits_on(const table *t, uint32_t rank, uint32_t layers, double hbm_bytes)
{
    return store_fits(t->peak[row_of(t, layers)][rank], hbm_bytes);
}

/* What the step takes by one stage behind others. `after`: what the first rank's end takes behind its
 * last pass. */
static dse_time least_by(const table *t, const reached *before, uint32_t stage, uint32_t layers,
                         dse_time after)
{
    const step_stage_floor f = stage_at(t, stage, layers);
    const step_rank_floor *r = rank_at(t, t->stage_rank[stage], layers);

    return later(before->head + f.busy + r->sums, before->there + f.until_backward + after) + r->rest +
           t->norm;
}

static void add_stage(const table *t, uint32_t stage, design_part range, double hbm_bytes, dse_time after,
                      uint32_t whole, const reached *from, reached *to)
{
    for (uint32_t k = 0; k <= whole; k++)
        to[k] = (reached){NEVER, NEVER, NEVER, 0};
    for (uint32_t layers = range.low; layers < range.high; layers++) {
        const step_stage_floor f = stage_at(t, stage, layers);
        const step_stage_floor next =
            stage + 1 < t->n_stages ? stage_at(t, stage + 1, 1) : (step_stage_floor){0};
        const dse_time forward = f.pass[SCHED_F] + next.receive,
                       there = forward + back_of(&f) + next.send_back;

        if (!fits_on(t, t->stage_rank[stage], layers, hbm_bytes))
            continue;
        for (uint32_t k = 0; k + layers <= whole; k++) {
            reached *r = &to[k + layers];
            dse_time least;

            if (from[k].least == NEVER)
                continue;
            least = later(from[k].least, least_by(t, &from[k], stage, layers, after));
            r->head = earlier(r->head, from[k].head + forward);
            r->there = earlier(r->there, from[k].there + there);
            if (least < r->least) {
                r->least = least;
                r->of_stage = layers;
            }
        }
    }
}

static void bound_stages(drv_stages *d, const table *t, uint32_t whole, const design_part *part,
                         double hbm_bytes, drv_stages_bound *out)
{
    const uint32_t n = t->n_stages;
    reached *at = DSE_ARENA_RAW(&d->scratch, reached, (size_t)(n + 1) * (whole + 1));
    dse_time after = NEVER;

    for (uint32_t layers = part[0].low; layers < part[0].high; layers++)
        after = earlier(after, rank_at(t, t->stage_rank[0], layers)->sums);
    for (uint32_t k = 0; k <= whole; k++)
        at[k] = k ? (reached){NEVER, NEVER, NEVER, 0} : (reached){0};
    for (uint32_t s = 0; s < n; s++)
        add_stage(t, s, part[s], hbm_bytes, after, whole, &at[(size_t)s * (whole + 1)],
                  &at[(s + 1u) * (size_t)(whole + 1)]);
    out->wall = at[n * (whole + 1) + whole].least;
    out->is_empty = out->wall == NEVER;
    for (uint32_t s = n, k = whole; out->layout && !out->is_empty && s--;) {
        out->layout[s] = at[(s + 1) * (whole + 1) + k].of_stage;
        k -= out->layout[s];
    }
}

/* ---- several stages on each rank ------------------------------------------------------------ */

/* What a stage takes, or holds, by its layers. */
typedef uint64_t figure(const table *t, uint32_t stage, uint32_t layers);

static uint64_t busy_of(const table *t, uint32_t stage, uint32_t layers)
{
    return stage_at(t, stage, layers).busy;
}

static uint64_t until_of(const table *t, uint32_t stage, uint32_t layers)
{
    return stage_at(t, stage, layers).until_backward;
}

static uint64_t bytes_of(const table *t, uint32_t stage, uint32_t layers)
{
    return t->bytes[row_of(t, layers)][stage];
}

/* Per number of layers that a rank has in all its stages: the least sum of a figure; NEVER: it cannot
 * have so many. */
static uint64_t *least_sums(drv_stages *d, const table *t, uint32_t rank, uint32_t whole,
                            const design_part *part, figure *of)
{
    uint64_t *sum = DSE_ARENA_RAW(&d->scratch, uint64_t, whole + 1),
             *next = DSE_ARENA_RAW(&d->scratch, uint64_t, whole + 1);

    for (uint32_t k = 0; k <= whole; k++)
        sum[k] = k ? NEVER : 0;
    for (uint32_t s = 0; s < t->n_stages; s++) {
        uint64_t *swap = sum;

        if (t->stage_rank[s] != rank)
            continue;
        for (uint32_t k = 0; k <= whole; k++)
            next[k] = NEVER;
        for (uint32_t layers = part[s].low; layers < part[s].high; layers++) {
            const uint64_t own = of(t, s, layers);

            for (uint32_t k = 0; k + layers <= whole; k++)
                if (sum[k] != NEVER)
                    next[k + layers] = earlier(next[k + layers], sum[k] + own);
        }
        sum = next;
        next = swap;
    }
    return sum;
}

/* What a rank makes of the step at least, without its end, by its layers; NEVER: it cannot have so many, or
 * they do not fit. */
static dse_time *least_by_rank(drv_stages *d, const table *t, uint32_t rank, uint32_t whole,
                               const design_part *part, double hbm_bytes)
{
    const uint64_t *busy = least_sums(d, t, rank, whole, part, busy_of);
    const uint64_t *until = least_sums(d, t, rank, whole, part, until_of);
    const uint64_t *bytes = least_sums(d, t, rank, whole, part, bytes_of);
    dse_time *least = DSE_ARENA_RAW(&d->scratch, dse_time, whole + 1), head = 0, tail = 0;

    for (uint32_t s = 0; s < t->first[rank]; s++)
        head += least_pass(t, s, part[s], SCHED_F) + stage_at(t, s + 1, 1).receive;
    for (uint32_t s = 0; s < t->last[rank]; s++)
        tail += earlier(least_pass(t, s, part[s], SCHED_B), least_pass(t, s, part[s], SCHED_I)) +
                stage_at(t, s + 1, 1).send_back;
    for (uint32_t k = 0; k <= whole; k++)
        least[k] = busy[k] == NEVER || !store_fits((uint64_t)((int64_t)bytes[k] + t->always[rank]), hbm_bytes)
                       ? NEVER
                       : later(head + busy[k], head + until[k] + tail);
    return least;
}

/* Each layer of a rank goes to the stage with the fewest that may have it. */
static void spread_layers(const table *t, uint32_t rank, uint32_t n, const design_part *part,
                          uint32_t *layout)
{
    for (uint32_t s = 0; s < t->n_stages; s++)
        if (t->stage_rank[s] == rank)
            n -= layout[s] = part[s].low;
    for (; n; n--) {
        uint32_t to = DSE_NONE;

        for (uint32_t s = 0; s < t->n_stages; s++)
            if (t->stage_rank[s] == rank && layout[s] + 1 < part[s].high &&
                (to == DSE_NONE || layout[s] < layout[to]))
                to = s;
        layout[to]++;
    }
}

/* What a stage holds more by its last layer, or would by one more. */
static int64_t last_bytes(const table *t, uint32_t stage, uint32_t layers)
{
    return (int64_t)(bytes_of(t, stage, layers) - bytes_of(t, stage, layers - 1));
}

/* While a rank's layers do not fit, the one that takes most goes to the stage of the rank where it takes
 * least: that of fewer micro-batches at a time. */
static void make_fit(const table *t, uint32_t rank, const design_part *part, double hbm_bytes,
                     uint32_t *layout)
{
    for (;;) {
        int64_t bytes = t->always[rank];
        uint32_t from = DSE_NONE, to = DSE_NONE;

        for (uint32_t s = 0; s < t->n_stages; s++) {
            if (t->stage_rank[s] != rank)
                continue;
            bytes += (int64_t)bytes_of(t, s, layout[s]);
            if (layout[s] > part[s].low &&
                (from == DSE_NONE || last_bytes(t, s, layout[s]) > last_bytes(t, from, layout[from])))
                from = s;
            if (layout[s] + 1 < part[s].high &&
                (to == DSE_NONE || last_bytes(t, s, layout[s] + 1) < last_bytes(t, to, layout[to] + 1)))
                to = s;
        }
        if (store_fits((uint64_t)bytes, hbm_bytes) || from == DSE_NONE || to == DSE_NONE || from == to ||
            last_bytes(t, from, layout[from]) <= last_bytes(t, to, layout[to] + 1))
            return;
        layout[from]--;
        layout[to]++;
    }
}

/* The slowest rank, where the layers are shared out to ranks so that it takes least. */
static void bound_ranks(drv_stages *d, const table *t, uint32_t whole, const design_part *part,
                        double hbm_bytes, drv_stages_bound *out)
{
    const uint32_t n = t->n_ranks;
    dse_time *at = DSE_ARENA_RAW(&d->scratch, dse_time, (size_t)(n + 1) * (whole + 1));
    uint32_t *own = DSE_ARENA_NEW(&d->scratch, uint32_t, (size_t)(n + 1) * (whole + 1));

    d->by_rank = DSE_ARENA_RAW(&d->scratch, dse_time *, n);
    for (uint32_t k = 0; k <= whole; k++)
        at[k] = k ? NEVER : 0;
    for (uint32_t rank = 0; rank < n; rank++) {
        const dse_time *least = d->by_rank[rank] = least_by_rank(d, t, rank, whole, part, hbm_bytes),
                       *from = &at[(size_t)rank * (whole + 1)];
        dse_time *to = &at[(size_t)(rank + 1) * (whole + 1)];

        for (uint32_t k = 0; k <= whole; k++)
            to[k] = NEVER;
        for (uint32_t layers = 0; layers <= whole; layers++)
            for (uint32_t k = 0; least[layers] != NEVER && k + layers <= whole; k++) {
                const dse_time both = later(from[k], least[layers]);

                if (both >= to[k + layers])
                    continue;
                to[k + layers] = both;
                own[(rank + 1) * (whole + 1) + k + layers] = layers;
            }
    }
    out->is_empty = at[n * (whole + 1) + whole] == NEVER;
    out->wall = out->is_empty ? NEVER : at[n * (whole + 1) + whole] + t->norm;
    for (uint32_t rank = n, k = whole; out->layout && !out->is_empty && rank--;) {
        const uint32_t layers = own[(rank + 1) * (whole + 1) + k];

        spread_layers(t, rank, layers, part, out->layout);
        make_fit(t, rank, part, hbm_bytes, out->layout);
        k -= layers;
    }
}

/* ---- the schedule with the least of each pass ------------------------------------------------ */

/* All passes in their order, which says little of wide ranges, and nearly all of narrow ones. */
static dse_time run_least(table *t, const design_part *part)
{
    for (uint32_t s = 0; s < t->n_stages; s++) {
        for (int kind = 0; kind < SCHED_KINDS; kind++) {
            const dse_time least = least_pass(t, s, part[s], (sched_kind)kind);

            for (int place = 0; place < SCHED_PLACES; place++)
                t->costs.duration[sched_duration_at(s, (sched_kind)kind, (sched_place)place)] =
                    least == NEVER ? 0 : least;
        }
        t->costs.transfer[2 * (size_t)s] = stage_at(t, s, 1).receive;
        t->costs.transfer[2 * (size_t)s + 1] = s + 1 < t->n_stages ? stage_at(t, s + 1, 1).send_back : 0;
    }
    sched_compose(&t->order, &t->costs, &t->times);
    return t->times.makespan + t->norm;
}

/* ---- paths through the schedule --------------------------------------------------------------- */

static void make_paths(table *t, uint32_t whole)
{
    t->paths = drv_paths_new(&t->plan, whole, &t->arena);
    for (uint32_t s = 0; s < t->n_stages; s++)
        for (uint32_t layers = 0; layers <= whole; layers++) {
            const step_stage_floor f = stage_at(t, s, layers);

            drv_paths_set(t->paths, s, layers, &f, bytes_of(t, s, layers));
        }
}

static dse_time bound_paths(drv_stages *d, table *t, uint32_t whole, const design_part *part,
                            double hbm_bytes, dse_time least, uint32_t *layout)
{
    double *room = DSE_ARENA_RAW(&d->scratch, double, t->n_ranks);
    const drv_paths_box box = {part, room, d->by_rank, least - t->norm};

    if (!t->paths)
        make_paths(t, whole);
    for (uint32_t r = 0; r < t->n_ranks; r++)
        room[r] = hbm_bytes - (double)t->always[r];
    if (layout)
        drv_paths_lay_out(t->paths, &box, layout);
    return drv_paths_least(t->paths, &box) + t->norm;
}

/* ---- a bound ------------------------------------------------------------------------------- */

dse_status drv_stages_least(drv_stages *d, const uint32_t *key, size_t n_key, const drv_study *s,
                            const strategy *p, step_machine machine, const design_part *part,
                            double hbm_bytes, bool is_close, drv_stages_bound *out, dse_error *err)
{
    const uint32_t whole = (uint32_t)s->model.layers;
    table *t = NULL;
    dse_status st = find_table(d, key, n_key, s, p, machine, is_close, &t, err);

    out->is_empty = false;
    out->wall = 0;
    if (st != DSE_OK)
        return st;
    dse_arena_reset(&d->scratch);
    if (!t->is_known) {
        if (out->layout)
            design_parts_first(whole, part, s->training->model.n_laid_out, out->layout);
        return DSE_OK;
    }
    (t->n_ranks == t->n_stages ? bound_stages : bound_ranks)(d, t, whole, part, hbm_bytes, out);
    out->wall = out->is_empty ? 0 : later(out->wall, run_least(t, part));
    if (!out->is_empty && t->n_ranks < t->n_stages && is_close)
        out->wall = later(out->wall, bound_paths(d, t, whole, part, hbm_bytes, out->wall, out->layout));
    return DSE_OK;
}
