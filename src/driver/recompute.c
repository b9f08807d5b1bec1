#include "driver/recompute.h"

#include "step/buckets.h"

#include <math.h>
#include <string.h>

#define N_TABLES 32

/* What ranks and stages hold and take by the number of layers that each stage makes again, or all its
 * layers: from 0 to `most`. */
typedef struct {
    uint64_t used;
    uint32_t *key; /* NULL: free */
    size_t n_key;
    strategy point;
    step_machine machine;
    dse_arena arena;
    bool is_known, has_floors;
    uint32_t n_stages, n_ranks, most;
    uint32_t *stage_rank;
    uint64_t **peak, **bytes; /* per rank, per stage: drv_held */
    int64_t *always;          /* per rank */
    /* Where ranks have several stages: step_floors. */
    step_stage_floor **stage;
    step_rank_floor *rank;
    uint32_t *first, *last;
    dse_time norm;
} table;

struct drv_recomputes {
    table table[N_TABLES];
    uint64_t clock;
    sched_keeper *orders;
    dse_arena scratch, least;
    drv_study study; /* the last one that was returned, */
    drv_training training;
};

drv_recomputes *drv_recomputes_new(void)
{
    drv_recomputes *d = dse_calloc(1, sizeof *d);

    for (size_t i = 0; i < N_TABLES; i++)
        dse_arena_init(&d->table[i].arena);
    dse_arena_init(&d->scratch);
    dse_arena_init(&d->least);
    d->orders = sched_keeper_new();
    return d;
}

void drv_recomputes_free(drv_recomputes *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < N_TABLES; i++)
        dse_arena_free(&d->table[i].arena);
    dse_arena_free(&d->scratch);
    dse_arena_free(&d->least);
    sched_keeper_free(d->orders);
    dse_free(d);
}

/* The study with these numbers, which are borrowed. */
static const drv_study *with_numbers(drv_recomputes *d, const drv_study *s, const uint32_t *number)
{
    d->study = *s;
    d->training = *s->training;
    d->training.model.recomputed = number;
    d->study.training = &d->training;
    d->study.orders = d->orders;
    return &d->study;
}

/* ---- tables -------------------------------------------------------------------------------- */

static uint32_t layers_of(const drv_study *s, uint32_t stage)
{
    const step_model *m = &s->training->model;

    return step_stage_of(m, stage, m->n_recomputed).n_layers;
}

static void take_floors(table *t, const step_floors *f, uint32_t again)
{
    t->stage[again] = dse_arena_copy(&t->arena, f->stage, t->n_stages, sizeof *f->stage);
    t->rank = dse_arena_copy(&t->arena, f->rank, t->n_ranks, sizeof *f->rank);
    t->first = dse_arena_copy(&t->arena, f->first, t->n_ranks, sizeof *f->first);
    t->last = dse_arena_copy(&t->arena, f->last, t->n_ranks, sizeof *f->last);
    t->norm = f->norm;
}

static void fill(drv_recomputes *d, table *t, const drv_study *s)
{
    const uint32_t n = s->training->model.n_recomputed;
    uint32_t *number = DSE_ARENA_NEW(&t->arena, uint32_t, n);

    t->most = 0;
    for (uint32_t i = 0; i < n; i++)
        t->most = layers_of(s, i) > t->most ? layers_of(s, i) : t->most;
    t->peak = DSE_ARENA_NEW(&t->arena, uint64_t *, t->most + 1);
    t->bytes = DSE_ARENA_NEW(&t->arena, uint64_t *, t->most + 1);
    t->stage = DSE_ARENA_NEW(&t->arena, step_stage_floor *, t->most + 1);
    t->has_floors = true;
    for (uint32_t again = 0; again <= t->most; again++) {
        step_floors floors;
        drv_held held;

        for (uint32_t i = 0; i < n; i++)
            number[i] = again < layers_of(s, i) ? again : layers_of(s, i);
        dse_arena_reset(&d->scratch);
        t->is_known =
            drv_training_held(with_numbers(d, s, number), &t->point, &d->scratch, &held, NULL) == DSE_OK &&
            held.is_known && held.n_stages == n; /* by which all tables are asked */
        if (!t->is_known)
            return;
        t->n_stages = held.n_stages;
        t->n_ranks = held.n_ranks;
        t->stage_rank = dse_arena_copy(&t->arena, held.stage_rank, held.n_stages, sizeof *held.stage_rank);
        t->peak[again] = dse_arena_copy(&t->arena, held.peak, held.n_ranks, sizeof *held.peak);
        t->bytes[again] = dse_arena_copy(&t->arena, held.bytes, held.n_stages, sizeof *held.bytes);
        t->always = dse_arena_copy(&t->arena, held.always, held.n_ranks, sizeof *held.always);
        t->has_floors =
            t->has_floors && t->n_ranks < t->n_stages &&
            drv_training_own_floors(&d->study, &t->point, t->machine, &d->scratch, &floors, NULL) == DSE_OK &&
            floors.is_known;
        if (t->has_floors)
            take_floors(t, &floors, again);
    }
}

/* The table of a study and a strategy, made where it is not there. */
static const table *find_table(drv_recomputes *d, const uint32_t *key, size_t n_key, const drv_study *s,
                               const strategy *p, step_machine machine)
{
    table *oldest = &d->table[0];

    for (size_t i = 0; i < N_TABLES; i++) {
        table *t = &d->table[i];

        if (t->key && t->n_key == n_key && t->machine == machine && !strategy_compare(&t->point, p) &&
            !memcmp(t->key, key, n_key * sizeof *key)) {
            t->used = ++d->clock;
            return t;
        }
        oldest = t->used < oldest->used ? t : oldest;
    }
    dse_arena_reset(&oldest->arena);
    oldest->point = *p;
    oldest->machine = machine;
    fill(d, oldest, s);
    oldest->key = dse_arena_copy(&oldest->arena, key, n_key, sizeof *key);
    oldest->n_key = n_key;
    oldest->used = ++d->clock;
    return oldest;
}

/* ---- the least that fit -------------------------------------------------------------------- */

static uint64_t least_bytes(const table *t, uint32_t stage, design_part range)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t k = range.low; k < range.high; k++)
        least = t->bytes[k][stage] < least ? t->bytes[k][stage] : least;
    return least;
}

/* Whether a stage may make so many layers again, where the others of its rank hold so much at least. */
static bool may_fit(const table *t, uint32_t stage, uint32_t again, uint64_t others, double hbm_bytes)
{
    const uint32_t rank = t->stage_rank[stage];

    if (t->n_ranks == t->n_stages)
        return store_fits(t->peak[again][rank], hbm_bytes);
    return store_fits((uint64_t)((int64_t)(t->bytes[again][stage] + others) + t->always[rank]), hbm_bytes);
}

static bool raise_lows(const table *t, double hbm_bytes, design_part *part)
{
    for (uint32_t s = 0; s < t->n_stages; s++) {
        uint64_t others = 0;

        for (uint32_t k = 0; k < t->n_stages; k++)
            others += k != s && t->stage_rank[k] == t->stage_rank[s] ? least_bytes(t, k, part[k]) : 0;
        while (part[s].low < part[s].high && !may_fit(t, s, part[s].low, others, hbm_bytes))
            part[s].low++;
        if (part[s].low == part[s].high)
            return false;
    }
    return true;
}

/* ---- several stages on each rank ------------------------------------------------------------ */

/* What a stage's passes take by its number. */
typedef dse_time figure(const step_stage_floor *f);

static dse_time busy_of(const step_stage_floor *f) { return f->busy; }
static dse_time until_of(const step_stage_floor *f) { return f->until_backward; }

/* The Lagrangian's least with a price of a byte, in ns. */
static double least_at(const table *t, uint32_t rank, const design_part *part, figure *of, double price,
                       double room)
{
    double sum = 0;

    for (uint32_t s = 0; s < t->n_stages; s++) {
        double least = INFINITY;

        for (uint32_t k = part[s].low; k < part[s].high && t->stage_rank[s] == rank; k++)
            least = fmin(least, (double)of(&t->stage[k][s]) + price * (double)t->bytes[k][s]);
        sum += t->stage_rank[s] == rank ? least : 0;
    }
    return sum - price * room;
}

/* The largest of them: at a price at which a stage may as well make a layer more again. */
static dse_time least_sum(const table *t, uint32_t rank, const design_part *part, figure *of,
                          double hbm_bytes)
{
    const double room = hbm_bytes - (double)t->always[rank];
    double best = least_at(t, rank, part, of, 0, room);

    for (uint32_t s = 0; s < t->n_stages; s++)
        for (uint32_t k = part[s].low; k + 1 < part[s].high && t->stage_rank[s] == rank; k++) {
            const double longer = (double)of(&t->stage[k + 1][s]) - (double)of(&t->stage[k][s]),
                         less = (double)t->bytes[k][s] - (double)t->bytes[k + 1][s];

            if (longer > 0 && less > 0)
                best = fmax(best, least_at(t, rank, part, of, longer / less, room));
        }
    return (dse_time)(best * (1 - 1e-12)); /* what rounding may have added */
}

static dse_time later(dse_time a, dse_time b) { return a > b ? a : b; }

/* Passes of one micro-batch through the stages before one, with the fewest layers: forward, or back. */
static dse_time way_to(const table *t, uint32_t stage, const design_part *part, bool back)
{
    dse_time sum = 0;

    for (uint32_t s = 0; s < stage; s++) {
        const step_stage_floor *f = &t->stage[part[s].low][s], *next = &t->stage[part[s + 1].low][s + 1];
        const dse_time b = f->pass[SCHED_B] < f->pass[SCHED_I] ? f->pass[SCHED_B] : f->pass[SCHED_I];

        sum += back ? b + next->send_back : f->pass[SCHED_F] + next->receive;
    }
    return sum;
}

static dse_time least_by_ranks(const table *t, double hbm_bytes, const design_part *part)
{
    dse_time wall = 0;

    for (uint32_t rank = 0; rank < t->n_ranks; rank++) {
        const dse_time head = way_to(t, t->first[rank], part, false),
                       tail = way_to(t, t->last[rank], part, true);
        const dse_time passes = head + least_sum(t, rank, part, busy_of, hbm_bytes) + t->rank[rank].sums,
                       back = head + least_sum(t, rank, part, until_of, hbm_bytes) + tail +
                              t->rank[t->stage_rank[0]].sums;

        wall = later(wall, later(passes, back) + t->rank[rank].rest + t->norm);
    }
    return wall;
}

/* ---- a bound ------------------------------------------------------------------------------- */

const drv_study *drv_recomputes_least(drv_recomputes *d, const uint32_t *key, size_t n_key,
                                      const drv_study *s, const strategy *p, step_machine machine,
                                      double hbm_bytes, design_part *part, dse_time *wall)
{
    const uint32_t n = s->training->model.n_recomputed;
    const bool is_limited = p->pp * p->vp == n && !isnan(hbm_bytes) && !isinf(hbm_bytes);
    const table *t = is_limited ? find_table(d, key, n_key, s, p, machine) : NULL;
    uint32_t *number;

    *wall = 0;
    if (t && t->is_known && !raise_lows(t, hbm_bytes, part))
        return NULL;
    if (t && t->is_known && t->has_floors)
        *wall = least_by_ranks(t, hbm_bytes, part);
    dse_arena_reset(&d->least);
    number = DSE_ARENA_NEW(&d->least, uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        number[i] = part[i].low;
    return with_numbers(d, s, number);
}

/* ---- a choice that fits -------------------------------------------------------------------- */

/* The stage of the rank that needs less by most bytes with one layer more that is made again, as one takes
 * as long as the other; DSE_NONE: none may make more. */
static uint32_t find_to_raise(const table *t, uint32_t rank, const design_part *part, const uint32_t *number)
{
    uint32_t best = DSE_NONE;
    double most = 0;

    for (uint32_t s = 0; s < t->n_stages; s++) {
        const uint32_t k = number[s];
        const double less = t->stage_rank[s] == rank && k + 1 < part[s].high
                                ? (double)t->bytes[k][s] - (double)t->bytes[k + 1][s]
                                : -INFINITY;

        if (less > -INFINITY && (best == DSE_NONE || less > most)) {
            best = s;
            most = less;
        }
    }
    return best;
}

bool drv_recomputes_fit(drv_recomputes *d, const uint32_t *key, size_t n_key, const drv_study *s,
                        const strategy *p, step_machine machine, double hbm_bytes, const design_part *part,
                        uint32_t *out)
{
    const uint32_t n = s->training->model.n_recomputed;
    const table *t = p->pp * p->vp == n ? find_table(d, key, n_key, s, p, machine) : NULL;
    bool is_raised = t && t->is_known;

    for (uint32_t i = 0; i < n; i++)
        out[i] = part[i].low;
    while (is_raised) {
        drv_held held;

        is_raised = false;
        dse_arena_reset(&d->scratch);
        if (drv_training_held(with_numbers(d, s, out), p, &d->scratch, &held, NULL) != DSE_OK)
            return false;
        for (uint32_t rank = 0; rank < held.n_ranks; rank++) {
            const bool fits = store_fits(held.peak[rank], hbm_bytes);
            const uint32_t stage = fits ? DSE_NONE : find_to_raise(t, rank, part, out);

            if (!fits && stage == DSE_NONE)
                return false;
            if (!fits)
                out[stage]++;
            is_raised |= !fits;
        }
    }
    return t != NULL;
}
