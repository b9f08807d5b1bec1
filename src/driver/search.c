#include "driver/search.h"

#include "driver/box_layout.h"
#include "exec/interrupt.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Points that are simulated together: at first, and at most. As in prune.h rounds grow: where bounds are weak
 * many points are wanted. */
#define FIRST_BATCH 16
#define MOST_BATCH  1024

/* Open boxes where drv_search.most_open is 0: some 200 MB. */
#define MOST_OPEN 1000000

/* Strategies of a shape from which points to compare with are looked for, those that may turn out to have
 * none that fits, and shapes that have it. */
#define MOST_SEEDS  4
#define MOST_TRIES  16
#define MOST_SHAPES 8
/* Axes of the coarse grid, with its three values. */
#define GRID_AXES 4
/* Times along all axes. */
#define MOST_PASSES 8

/* A result, in the order of the best. */
typedef struct {
    drv_box *box;
    double cost;
    uint64_t wall_time, peak_memory, tokens;
} found;

typedef struct {
    drv_box **box;
    size_t n, cap;
} boxes;

typedef struct {
    const drv_search *search;
    drv_search_result *all;
    dse_arena *arena;
    struct timespec start;
    bool out_of_time;

    /* Of the study at hand. */
    uint32_t number;
    bool is_searching;
    drv_boxes space;
    boxes open;  /* a heap: the one with the least bound first */
    boxes deep;  /* a stack, where there are too many of these: what a box was split into, the best last */
    boxes batch; /* points to be simulated */
    boxes child; /* of the box that was split last */
    size_t batch_size;
    uint32_t n_shapes;
    found *best; /* `top` at most */
    size_t n_best, cap_best;
    drv_searched *out;

    store_time *result; /* per point of the sweep at hand; wall_time STORE_ABSENT: none */
} state;

static double since(const struct timespec *start)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) * 1e-9;
}

/* ---- open boxes ---------------------------------------------------------------------------- */

static void add(boxes *b, drv_box *box)
{
    DSE_GROW(b->box, b->cap, b->n + 1);
    b->box[b->n++] = box;
}

static void free_boxes(boxes *b)
{
    for (size_t i = 0; i < b->n; i++)
        dse_free(b->box[i]);
    dse_free(b->box);
    *b = (boxes){0};
}

/* By bound, then in the order of the space. */
static bool is_before(const state *s, const drv_box *x, const drv_box *y)
{
    if (x->bound < y->bound || x->bound > y->bound)
        return x->bound < y->bound;
    return drv_box_order(&s->space, x, y) < 0;
}

static void push(state *s, drv_box *box)
{
    boxes *h = &s->open;
    size_t i;

    add(h, box);
    for (i = h->n - 1; i && is_before(s, box, h->box[(i - 1) / 2]); i = (i - 1) / 2)
        h->box[i] = h->box[(i - 1) / 2];
    h->box[i] = box;
}

static drv_box *pop(state *s)
{
    boxes *h = &s->open;
    drv_box *first = h->box[0], *last = h->box[--h->n];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < h->n) {
        if (child + 1 < h->n && is_before(s, h->box[child + 1], h->box[child]))
            child++;
        if (!is_before(s, h->box[child], last))
            break;
        h->box[i] = h->box[child];
        i = child;
    }
    if (h->n)
        h->box[i] = last;
    return first;
}

/* Whether a point of the box may be among the best. */
static bool is_worth(const state *s, const drv_box *box)
{
    const found *last = s->n_best ? &s->best[s->n_best - 1] : NULL;

    if (s->n_best < s->search->top || box->bound < last->cost)
        return true;
    return !(box->bound > last->cost) && drv_box_order(&s->space, box, last->box) < 0;
}

static bool has_open(const state *s)
{
    for (size_t i = 0; i < s->deep.n; i++)
        if (is_worth(s, s->deep.box[i]))
            return true;
    return s->open.n && is_worth(s, s->open.box[0]);
}

/* The next box to split, of which there is one: of the stack the last that is still worth it. */
static drv_box *take_next(state *s)
{
    while (s->deep.n) {
        drv_box *box = s->deep.box[--s->deep.n];

        if (is_worth(s, box))
            return box;
        dse_free(box);
    }
    return pop(s);
}

/* Puts a box on top of the stack, below those of this split that are better. */
static void stack(state *s, size_t from, drv_box *box)
{
    size_t i;

    add(&s->deep, box);
    for (i = s->deep.n - 1; i > from && is_before(s, s->deep.box[i - 1], box); i--)
        s->deep.box[i] = s->deep.box[i - 1];
    s->deep.box[i] = box;
}

/* ---- results ------------------------------------------------------------------------------- */

/* Keeps the box of a point if it is among the best, else frees it. */
static void keep(state *s, found f)
{
    size_t i = s->n_best;

    while (i && (f.cost < s->best[i - 1].cost || (!(f.cost > s->best[i - 1].cost) &&
                                                  drv_box_order(&s->space, f.box, s->best[i - 1].box) < 0)))
        i--;
    if (i == s->search->top || (i && !drv_box_order(&s->space, f.box, s->best[i - 1].box))) {
        dse_free(f.box);
        return;
    }
    if (s->n_best == s->search->top)
        dse_free(s->best[--s->n_best].box);
    DSE_GROW(s->best, s->cap_best, s->n_best + 1);
    for (size_t k = s->n_best++; k > i; k--)
        s->best[k] = s->best[k - 1];
    s->best[i] = f;
}

static bool is_known(const state *s, const drv_box *box)
{
    for (size_t i = 0; i < s->n_best; i++)
        if (!drv_box_order(&s->space, box, s->best[i].box))
            return true;
    return false;
}

static void take_result(void *user, size_t task, uint64_t wall_time, uint64_t peak_memory)
{
    state *s = user;

    s->result[task] = (store_time){.wall_time = wall_time, .peak_memory = peak_memory};
}

static void show(state *s);

static void take_progress(void *user, const drv_progress *p)
{
    state *s = user;

    (void)p;
    if (s->is_searching)
        show(s);
}

/* Points of a drv_points; each has a variant of its own. */
typedef struct {
    drv_points points;
    size_t cap_variants, cap;
} listing;

static void list_point(uint32_t study, const cfg_settings *settings, const strategy *p, listing *l,
                       dse_arena *a)
{
    DSE_ARENA_GROW(a, l->points.variant, l->cap_variants, l->points.n_variants + 1);
    DSE_ARENA_GROW(a, l->points.point, l->cap, l->points.n + 1);
    l->points.point[l->points.n++] = (drv_space_point){l->points.n_variants, *p};
    l->points.variant[l->points.n_variants++] = (drv_variant){.study = study, .settings = *settings};
}

static dse_status run_points(state *s, const listing *l, dse_arena *a, dse_error *err)
{
    drv_search_result *all = s->all;
    drv_sweep sweep = s->search->sweep;
    drv_progress p = {0};
    dse_status st;

    sweep.points = &l->points;
    sweep.prune = NULL;
    sweep.begin = NULL;
    sweep.progress = take_progress;
    sweep.result = take_result;
    sweep.user = s;
    sweep.more_follow = true; /* the note of what was found, at least */
    s->result = DSE_ARENA_NEW(a, store_time, l->points.n);
    for (size_t i = 0; i < l->points.n; i++)
        s->result[i].wall_time = STORE_ABSENT;
    st = drv_sweep_run(&sweep, a, &p, err);
    all->done += p.done;
    all->failed += p.failed;
    all->cpu_seconds += p.cpu_seconds;
    if (p.first_failure && !all->first_failure)
        all->first_failure = dse_arena_strdup(s->arena, p.first_failure);
    all->cached += p.cached;
    return st;
}

/* The box of a point that was simulated; freed unless it is kept. */
static dse_status judge(state *s, drv_box *box, const store_time *t, dse_error *err)
{
    const drv_study *study = &drv_boxes_corner(&s->space, box)->study;
    const double hbm = isnan(s->search->hbm_bytes) ? study->system.hbm_bytes : s->search->hbm_bytes;
    const uint64_t tokens = study->training ? (uint64_t)(study->model.batch * study->model.sequence) : 0;
    const double cost = (double)t->wall_time / (double)(tokens ? tokens : 1);

    if (t->wall_time == STORE_ABSENT || (cost >= box->bound && !store_fits(t->peak_memory, hbm))) {
        dse_free(box);
        return DSE_OK;
    }
    if (cost < box->bound) {
        dse_fail(err, DSE_E_SIM,
                 "a point of %s on %s%s%s takes %" PRIu64 " ns, less than its bound: --search cannot be "
                 "trusted with this space; please report it",
                 study->model_name, study->system_name, *study->settings ? " with " : "", study->settings,
                 t->wall_time);
        dse_free(box);
        return DSE_E_SIM;
    }
    keep(s, (found){box, cost, t->wall_time, t->peak_memory, tokens});
    return DSE_OK;
}

/* Simulates points, which are taken; those of which nothing is known, as it was interrupted, stay. */
static dse_status simulate(state *s, boxes *points, dse_error *err)
{
    dse_arena a;
    listing l = {.points = {.space = s->search->space}};
    dse_status st = DSE_OK, judged = DSE_OK;
    size_t left = 0;

    dse_arena_init(&a);
    for (size_t i = 0; i < points->n; i++) {
        cfg_settings settings = {0};

        drv_boxes_settings(&s->space, points->box[i], &a, &settings);
        list_point(s->number, &settings, &points->box[i]->strategy, &l, &a);
    }
    if (points->n)
        st = run_points(s, &l, &a, err);
    for (size_t i = 0; i < points->n; i++)
        if (st != DSE_OK && s->result[i].wall_time == STORE_ABSENT)
            points->box[left++] = points->box[i];
        else if (judged == DSE_OK)
            judged = judge(s, points->box[i], &s->result[i], st == DSE_OK ? err : NULL);
        else
            dse_free(points->box[i]);
    points->n = left;
    dse_arena_free(&a);
    return st == DSE_OK ? judged : st;
}

/* ---- points to compare with ---------------------------------------------------------------- */

/* Ctrl-C, or the end of the time. */
static bool is_over(state *s)
{
    s->out_of_time |= s->search->seconds > 0 && since(&s->start) >= s->search->seconds;
    return s->out_of_time || exec_was_interrupted();
}

/* The bound of the point of a box with these places; INFINITY: it is none. */
static double bound_at(state *s, const drv_box *box, const uint32_t *place)
{
    drv_box *point = drv_box_copy(&s->space, box);
    bool is_empty = false;
    double bound;

    for (uint32_t i = 0; i < s->search->space->n_axes; i++)
        point->range[i] = (drv_box_range){place[i], place[i] + 1};
    bound =
        drv_boxes_bound(&s->space, point, &is_empty, NULL) == DSE_OK && !is_empty ? point->bound : INFINITY;
    dse_free(point);
    return bound;
}

/* The best of a grid with the first, the middle and the last value of an axis. */
static double find_on_grid(state *s, const drv_box *box, uint32_t *place)
{
    const uint32_t n = s->search->space->n_axes;
    uint32_t *at = dse_calloc(n + 1, sizeof *at), corners = 1, used = 0;
    uint32_t axis[GRID_AXES];
    double best = INFINITY;

    for (uint32_t i = 0; i < n; i++) {
        at[i] = box->range[i].low;
        if (box->range[i].high - box->range[i].low > 1 && used < GRID_AXES) {
            axis[used++] = i;
            corners *= 3;
        }
    }
    for (uint32_t k = 0; k < corners; k++) {
        double bound;

        for (uint32_t i = 0, rest = k; i < used; i++, rest /= 3) {
            const drv_box_range r = box->range[axis[i]];

            at[axis[i]] = r.low + (r.high - 1 - r.low) * (rest % 3) / 2;
        }
        bound = bound_at(s, box, at);
        if (bound < best) {
            best = bound;
            memcpy(place, at, n * sizeof *at);
        }
    }
    dse_free(at);
    return best;
}

/* Goes along one axis, by ever smaller steps, as long as that is better. */
static bool go_along(state *s, const drv_box *box, uint32_t axis, uint32_t *place, double *best)
{
    const drv_box_range r = box->range[axis];
    bool moved = false;

    for (uint32_t step = (r.high - r.low) / 2; step; step /= 2)
        for (int up = 0; up < 2; up++) {
            const uint32_t from = place[axis];
            double bound;

            if (up ? step >= r.high - from : from - r.low < step)
                continue;
            place[axis] = up ? from + step : from - step;
            bound = bound_at(s, box, place);
            if (bound < *best) {
                *best = bound;
                moved = true;
            } else {
                place[axis] = from;
            }
        }
    return moved;
}

static bool may_hold_at(state *s, drv_box *point, const uint32_t *place)
{
    for (uint32_t i = 0; i < s->search->space->n_axes; i++)
        point->range[i] = (drv_box_range){place[i], place[i] + 1};
    return drv_boxes_may_hold(&s->space, point);
}

/* Makes one axis as little worse as satisfies the constraints again; false: none does. */
static bool give_way(state *s, const drv_box *box, uint32_t axis, uint32_t *place)
{
    drv_box *point = drv_box_copy(&s->space, box);
    uint32_t low = place[axis], high = box->range[axis].high - 1; /* `high` does if anything does */
    bool holds;

    place[axis] = high;
    holds = may_hold_at(s, point, place);
    while (holds && low < high) {
        place[axis] = low + (high - low) / 2;
        if (may_hold_at(s, point, place))
            high = place[axis];
        else
            low = place[axis] + 1;
    }
    place[axis] = high;
    dse_free(point);
    return holds;
}

/* Makes one axis better, by ever smaller steps, and another one worse that a constraint ties to it. */
static bool exchange(state *s, const drv_box *box, uint32_t axis, uint32_t other, uint32_t *place,
                     double *best)
{
    const drv_box_range r = box->range[axis];
    bool moved = false;

    for (uint32_t step = (r.high - r.low) / 2; step; step /= 2) {
        const uint32_t from = place[axis], other_from = place[other];
        double bound = INFINITY;

        if (from - r.low < step)
            continue;
        place[axis] = from - step;
        if (give_way(s, box, other, place))
            bound = bound_at(s, box, place);
        if (bound < *best) {
            *best = bound;
            moved = true;
        } else {
            place[axis] = from;
            place[other] = other_from;
        }
    }
    return moved;
}

/* Has one stage give a layer to another one as long as that is better. */
static void move_layers(state *s, drv_box *seed)
{
    drv_box_range *stage = &seed->range[s->search->space->n_axes];
    bool moved = true;

    for (int pass = 0; moved && pass < MOST_PASSES; pass++) {
        moved = false;
        for (uint32_t i = 0; i < seed->n_stages * seed->n_stages && !is_over(s); i++) {
            const uint32_t from = i / seed->n_stages, to = i % seed->n_stages;
            drv_box *other;
            bool is_empty = true;

            other = drv_box_copy(&s->space, seed);
            other->bound = 0;
            if (drv_box_give_layer(&s->space, other, from, to) &&
                drv_boxes_bound(&s->space, other, &is_empty, NULL) == DSE_OK && !is_empty &&
                other->bound < seed->bound) {
                memcpy(stage, &other->range[s->search->space->n_axes], seed->n_stages * sizeof *stage);
                seed->bound = other->bound;
                moved = true;
            }
            dse_free(other);
        }
    }
}

/* A good point of a box of one strategy whose layout is fixed; NULL: the grid has none. */
static drv_box *find_seed_of(state *s, const drv_box *box)
{
    const uint32_t n = s->search->space->n_axes;
    uint32_t *place = dse_calloc(n + 1, sizeof *place);
    double best = find_on_grid(s, box, place);
    drv_box *seed = NULL;
    bool moved = best < INFINITY;

    for (int pass = 0; moved && pass < MOST_PASSES; pass++) {
        moved = false;
        for (uint32_t i = 0; i < n && !is_over(s); i++)
            moved |= go_along(s, box, i, place, &best);
        for (uint32_t i = 0; s->search->space->n_constraints && i < n; i++)
            for (uint32_t k = 0; k < n && !is_over(s); k++)
                moved |= k != i && exchange(s, box, i, k, place, &best);
    }
    if (best < INFINITY) {
        seed = drv_box_copy(&s->space, box);
        for (uint32_t i = 0; i < n; i++)
            seed->range[i] = (drv_box_range){place[i], place[i] + 1};
        seed->bound = best;
    }
    dse_free(place);
    return seed;
}

/* The same of any box of one strategy. */
static drv_box *find_seed(state *s, const drv_box *box)
{
    drv_box *fixed = drv_box_copy(&s->space, box), *seed = NULL;

    if (drv_boxes_lay_out(&s->space, fixed))
        seed = find_seed_of(s, fixed);
    if (seed && seed->n_stages > 1)
        move_layers(s, seed);
    dse_free(fixed);
    return seed;
}

/* Of the children with the least bounds. Where time is over, of one at least, so that something is known;
 * after Ctrl-C none is simulated. */
static dse_status seed(state *s, dse_error *err)
{
    const boxes *c = &s->child;
    bool *is_used = dse_calloc(c->n + 1, sizeof *is_used);
    boxes seeds = {0};
    dse_status st = DSE_OK;

    for (int k = 0;
         k < MOST_TRIES && seeds.n < MOST_SEEDS && !(seeds.n && is_over(s)) && !exec_was_interrupted(); k++) {
        size_t best = c->n;
        drv_box *found_one;

        for (size_t i = 0; i < c->n; i++)
            if (!is_used[i] && (best == c->n || is_before(s, c->box[i], c->box[best])))
                best = i;
        if (best == c->n)
            break;
        is_used[best] = true;
        found_one = find_seed(s, c->box[best]);
        if (found_one)
            add(&seeds, found_one);
    }
    dse_free(is_used);
    if (!exec_was_interrupted())
        st = simulate(s, &seeds, err);
    free_boxes(&seeds);
    return st;
}

/* ---- the search ---------------------------------------------------------------------------- */

double drv_search_gap(const drv_searched *s)
{
    const double best = s->n ? s->best[0].cost : INFINITY;

    if (s->is_finished || !(s->least < best))
        return 0;
    return s->n ? (best - s->least) / best : 1;
}

static void sum_up(state *s)
{
    drv_searched *o = s->out;

    o->least = s->open.n ? s->open.box[0]->bound : INFINITY;
    for (size_t i = 0; i < s->deep.n; i++)
        o->least = fmin(o->least, s->deep.box[i]->bound);
    for (size_t i = 0; i < s->batch.n; i++)
        o->least = fmin(o->least, s->batch.box[i]->bound);
    o->is_finished = !s->batch.n && !has_open(s);
    o->n_points = s->space.n_points;
    o->n_bounds = s->space.n_bounds;
    o->n_refused = s->space.n_refused;
}

/* What was known when it was summed up last: of a box that is being split nothing is. Of the best only the
 * first, whose settings are not there yet. */
static void show(state *s)
{
    drv_found first = {0};

    s->all->seconds = since(&s->start);
    if (!s->search->progress)
        return;
    if (s->n_best) {
        first = (drv_found){s->best[0].cost,   s->best[0].wall_time,     s->best[0].peak_memory,
                            s->best[0].tokens, s->best[0].box->strategy, {0}};
        s->out->best = &first;
        s->out->n = 1;
    }
    s->search->progress(s->search->user, s->number, s->out, s->all);
    s->out->best = NULL;
    s->out->n = 0;
}

/* Whether time is over, or the best is good enough. */
static bool has_ended(state *s)
{
    const double gap = s->search->gap;

    sum_up(s);
    show(s);
    return is_over(s) || (gap > 0 && s->n_best && s->out->least >= s->best[0].cost * (1 - gap));
}

static void take_child(void *user, drv_box *child)
{
    state *s = user;

    add(&s->child, child);
}

/* Whether a point is known to be better than the best: then it is simulated before its turn, so that others
 * are compared with it. */
static bool is_better(const state *s, const drv_box *box)
{
    return box->is_exact && (!s->n_best || box->bound < s->best[0].cost);
}

static dse_status split(state *s, drv_box *box, dse_error *err)
{
    const size_t most = s->search->most_open ? s->search->most_open : MOST_OPEN, from = s->deep.n;
    const bool had_strategy = box->has_strategy, is_deep = from || s->open.n >= most;
    dse_status st = drv_boxes_split(&s->space, box, take_child, s, err);

    if (st == DSE_E_INTERRUPT) { /* it is open, as before */
        free_boxes(&s->child);
        push(s, box);
        return st;
    }
    dse_free(box);
    s->out->n_boxes++;
    if (st == DSE_OK && !had_strategy && s->child.n && s->child.box[0]->has_strategy &&
        s->n_shapes++ < MOST_SHAPES)
        st = seed(s, err);
    for (size_t i = 0; i < s->child.n; i++)
        if (!is_worth(s, s->child.box[i]))
            dse_free(s->child.box[i]);
        else if (is_better(s, s->child.box[i]))
            add(&s->batch, s->child.box[i]);
        else if (is_deep)
            stack(s, from, s->child.box[i]);
        else
            push(s, s->child.box[i]);
    s->child.n = 0;
    return st;
}

static dse_status run_batch(state *s, dse_error *err)
{
    if (s->batch_size < MOST_BATCH)
        s->batch_size += s->batch_size / 2;
    return simulate(s, &s->batch, err);
}

static dse_status search_boxes(state *s, dse_error *err)
{
    dse_status st = DSE_OK;

    push(s, drv_boxes_whole(&s->space));
    while (st == DSE_OK && (has_open(s) || s->batch.n) && !has_ended(s)) {
        drv_box *box;

        if (s->batch.n >= s->batch_size || !has_open(s) ||
            (s->batch.n && is_better(s, s->batch.box[s->batch.n - 1]))) {
            st = run_batch(s, err);
            continue;
        }
        box = take_next(s);
        if (!drv_box_is_point(&s->space, box))
            st = split(s, box, err);
        else if (is_known(s, box))
            dse_free(box);
        else
            add(&s->batch, box);
    }
    return st;
}

static void keep_best(state *s)
{
    drv_searched *o = s->out;

    o->has_all = !s->space.has_unlisted;
    for (size_t i = 0; i < s->open.n; i++)
        o->has_all &= s->open.box[i]->has_strategy;
    for (size_t i = 0; i < s->deep.n; i++)
        o->has_all &= s->deep.box[i]->has_strategy;
    o->best = DSE_ARENA_NEW(s->arena, drv_found, s->n_best + 1);
    o->n = (uint32_t)s->n_best;
    for (size_t i = 0; i < s->n_best; i++) {
        const found *f = &s->best[i];

        o->best[i] = (drv_found){f->cost, f->wall_time, f->peak_memory, f->tokens, f->box->strategy, {0}};
        drv_boxes_settings(&s->space, f->box, s->arena, &o->best[i].settings);
        dse_free(f->box);
    }
    s->n_best = 0;
    if (s->space.n_refused)
        o->refusal = dse_arena_strdup(s->arena, s->space.refusal.text);
    else if (o->has_all && !(o->n_points > 0) && s->space.none.status != DSE_OK)
        o->refusal = dse_arena_strdup(s->arena, s->space.none.text);
}

static dse_status search_study(state *s, uint32_t study, dse_error *err)
{
    dse_status st;

    s->number = study;
    s->out = &s->all->study[study];
    s->batch_size = FIRST_BATCH;
    s->n_shapes = 0;
    drv_boxes_init(&s->space, s->search->space, study, s->search->hbm_bytes);
    s->is_searching = true;
    st = search_boxes(s, err);
    s->is_searching = false;
    sum_up(s);
    keep_best(s);
    free_boxes(&s->open);
    free_boxes(&s->deep);
    free_boxes(&s->batch);
    free_boxes(&s->child);
    drv_boxes_free(&s->space);
    return st;
}

store_searched drv_search_note(const drv_search *search, uint32_t study, const drv_searched *s)
{
    const drv_study *of = &search->space->study[study];
    const uint64_t tokens = s->n && s->best[0].tokens ? s->best[0].tokens : 1;

    return (store_searched){.model = of->model_name,
                            .system = of->system_name,
                            .n = s->n,
                            .is_finished = s->is_finished,
                            .gap = drv_search_gap(s),
                            .least_step = isinf(s->least) ? 0 : (uint64_t)(s->least * (double)tokens),
                            .points = s->n_points,
                            .has_all = s->has_all,
                            .boxes = s->n_boxes,
                            .hbm_bytes = search->hbm_bytes};
}

static dse_status note_certificates(const state *s, dse_arena *a, dse_error *err)
{
    const uint32_t n = s->search->space->n_studies;
    store_searched *note = DSE_ARENA_NEW(a, store_searched, n);
    store *db = NULL;
    dse_status st = store_open(s->search->sweep.database, STORE_WRITE, &db, err);

    if (st != DSE_OK)
        return st;
    for (uint32_t i = 0; i < n; i++)
        note[i] = drv_search_note(s->search, i, &s->all->study[i]);
    if ((st = store_put_searched(db, note, n, err)) == DSE_OK)
        return store_finish(db, err);
    store_close(db);
    return st;
}

/* A ranking is of these points: all have been simulated. */
static dse_status ask_for_best(state *s, dse_error *err)
{
    dse_arena a;
    listing l = {.points = {.space = s->search->space}};
    drv_search_result before = *s->all;
    dse_status st = DSE_OK;

    dse_arena_init(&a);
    for (uint32_t i = 0; i < s->search->space->n_studies; i++)
        for (uint32_t k = 0; k < s->all->study[i].n; k++) {
            const drv_found *f = &s->all->study[i].best[k];

            list_point(i, &f->settings, &f->strategy, &l, &a);
        }
    if ((st = run_points(s, &l, &a, err)) == DSE_OK)
        st = note_certificates(s, &a, err);
    before.first_failure = s->all->first_failure;
    *s->all = before;
    dse_arena_free(&a);
    return st;
}

dse_status drv_search_run(const drv_search *search, dse_arena *a, drv_search_result *out, dse_error *err)
{
    state s = {.search = search, .all = out, .arena = a};
    dse_status st = drv_space_check(search->space, err), asked;

    clock_gettime(CLOCK_MONOTONIC, &s.start);
    *out = (drv_search_result){.study = DSE_ARENA_NEW(a, drv_searched, search->space->n_studies)};
    exec_watch_interrupts();
    for (uint32_t i = 0; st == DSE_OK && i < search->space->n_studies; i++)
        if (!exec_was_interrupted() && !s.out_of_time)
            st = search_study(&s, i, err);
    if (st == DSE_OK || st == DSE_E_INTERRUPT) {
        asked = ask_for_best(&s, st == DSE_OK ? err : NULL);
        st = st == DSE_OK ? asked : st;
    }
    if (st == DSE_OK && exec_was_interrupted())
        st = dse_fail(err, DSE_E_INTERRUPT, "interrupted");
    exec_unwatch_interrupts();
    out->seconds = since(&s.start);
    dse_free(s.best);
    return st;
}
