#include "driver/stage_paths.h"

#include "base/array.h"

#include <math.h>
#include <string.h>

/* How far behind the longest path others still count, as a part of the step: less from time to time. */
static const double heats[] = {0.03, 0.01, 0.003, 0.001, 0.0003};

/* What twice the memory there is costs, of the step, by the root of the heat. */
#define PENALTY 0.1

#define N_STEPS    40 /* of a heat at most */
#define N_SHORTER  12 /* of a step that is too long */
#define N_HALVINGS 8

/* A path, part of one, or a mean of them. */
typedef struct {
    double *count; /* per stage and kind of pass */
    double fixed;  /* transfers */
    double *price; /* per rank: of a byte, in ns; NULL: not of parts */
} path;

/* A path up to a pass of a rank, less what the rank does before; or from all that the rank does before the end
 * of a pass. */
typedef struct {
    uint32_t action;
    path path;
    double ticks, *by; /* of the layout at hand; by one layer more of each stage */
    double share;      /* of all paths */
} half;

typedef struct {
    uint32_t n_begins, n_ends;
    half *begin, *end;
} halves;

struct drv_paths {
    const sched_plan *plan;
    uint32_t whole;
    sched_kind back;           /* the backward passes that stages wait for */
    bool is_mixed;             /* some are whole, others are of inputs alone */
    double *time, *bytes;      /* per stage, layers and kind; per stage and layers */
    double *receive, *return_; /* per stage: of a tensor from the stage before, and to it */
    halves *of;                /* per rank; NULL: not made yet */
    path best, newest, aside;  /* means */
    /* Of the box at hand. */
    uint32_t *most, *left; /* per stage; per rank: layers that it may have, and has left */
    double *value;         /* per layers */
    double *slope;         /* per stage: of the convex function, part by part, */
    uint32_t *length, *n_parts, *part;
    /* Of layouts with parts of layers. */
    double longest, sum; /* of the paths of the last one that was measured: the longest, all shares */
    double *least_layers, *most_layers, *layers, *moved;
    double *by, *slopes, *curves, *step; /* derivatives by each stage's layers; a step of Newton's method */
    double *system;
    uint32_t *open;
    bool *is_held;
    dse_arena *arena;
};

static path new_path(const drv_paths *p)
{
    return (path){.count = DSE_ARENA_NEW(p->arena, double, (size_t)p->plan->n_stages *SCHED_KINDS),
                  .price = DSE_ARENA_NEW(p->arena, double, p->plan->n_ranks)};
}

static void make_room_for_parts(drv_paths *p, dse_arena *a)
{
    const size_t n = p->plan->n_stages;
    double **const of_stages[] = {&p->least_layers, &p->most_layers, &p->layers, &p->moved,
                                  &p->by,           &p->slopes,      &p->step};

    for (size_t i = 0; i < DSE_COUNT(of_stages); i++)
        *of_stages[i] = DSE_ARENA_NEW(a, double, n);
    p->curves = DSE_ARENA_NEW(a, double, n *n);
    p->system = DSE_ARENA_NEW(a, double, (n + 1) * (n + 2));
    p->open = DSE_ARENA_NEW(a, uint32_t, n);
    p->is_held = DSE_ARENA_NEW(a, bool, n);
}

drv_paths *drv_paths_new(const sched_plan *plan, uint32_t whole, dse_arena *a)
{
    drv_paths *p = DSE_ARENA_NEW(a, drv_paths, 1);
    const size_t n = plan->n_stages, each = n * (whole + 1);
    bool has[SCHED_KINDS] = {false};

    p->plan = plan;
    p->whole = whole;
    p->arena = a;
    for (uint32_t i = 0; i < sched_n_actions(plan); i++)
        has[plan->action[i].kind] = true;
    p->is_mixed = has[SCHED_B] && has[SCHED_I];
    p->back = has[SCHED_I] ? SCHED_I : SCHED_B;
    p->time = DSE_ARENA_NEW(a, double, each *SCHED_KINDS);
    p->bytes = DSE_ARENA_NEW(a, double, each);
    p->receive = DSE_ARENA_NEW(a, double, n + 1);
    p->return_ = DSE_ARENA_NEW(a, double, n + 1);
    p->best = new_path(p);
    p->newest = new_path(p);
    p->aside = new_path(p);
    p->most = DSE_ARENA_NEW(a, uint32_t, plan->n_ranks);
    p->left = DSE_ARENA_NEW(a, uint32_t, plan->n_ranks);
    p->value = DSE_ARENA_NEW(a, double, whole + 1);
    p->slope = DSE_ARENA_NEW(a, double, each);
    p->length = DSE_ARENA_NEW(a, uint32_t, each);
    p->n_parts = DSE_ARENA_NEW(a, uint32_t, n);
    p->part = DSE_ARENA_NEW(a, uint32_t, n);
    make_room_for_parts(p, a);
    return p;
}

static size_t at(const drv_paths *p, uint32_t stage, uint32_t layers)
{
    return (size_t)stage * (p->whole + 1) + layers;
}

void drv_paths_set(drv_paths *p, uint32_t stage, uint32_t layers, const step_stage_floor *f, uint64_t bytes)
{
    double *time = &p->time[at(p, stage, layers) * SCHED_KINDS];

    for (int kind = 0; kind < SCHED_KINDS; kind++)
        time[kind] = f->pass[kind] == DSE_TIME_NONE ? 0 : (double)f->pass[kind];
    if (p->is_mixed) /* whatever a micro-batch has in a stage: the one that takes less */
        time[SCHED_I] = (double)(f->pass[SCHED_I] < f->pass[SCHED_B] ? f->pass[SCHED_I] : f->pass[SCHED_B]);
    p->bytes[at(p, stage, layers)] = (double)bytes;
    p->receive[stage] = (double)f->receive;
    p->return_[stage] = (double)f->send_back;
}

/* ---- the paths ----------------------------------------------------------------------------- */

static void add_pass(const path *to, uint32_t stage, sched_kind kind, double times)
{
    to->count[(size_t)stage * SCHED_KINDS + (size_t)kind] += times;
}

/* The forward passes of stages from `from` to before `to`, and the tensors from each to the next. */
static void add_forward(const drv_paths *p, path *to, uint32_t from, uint32_t until)
{
    for (uint32_t s = from; s < until; s++) {
        add_pass(to, s, SCHED_F, 1);
        to->fixed += p->receive[s + 1]; /* 0 behind the last */
    }
}

/* The backward passes of the same stages, and the tensors from each to the one before. */
static void add_backward(const drv_paths *p, path *to, uint32_t from, uint32_t until)
{
    for (uint32_t s = from; s < until; s++) {
        add_pass(to, s, p->back, 1);
        to->fixed += p->return_[s]; /* 0 before the first */
    }
}

/* The way of a micro-batch to a pass, without it. */
static void add_way_to(const drv_paths *p, const sched_action *action, path *to)
{
    if (action->kind == SCHED_F) {
        add_forward(p, to, 0, action->stage);
        return;
    }
    add_forward(p, to, 0, p->plan->n_stages);
    add_backward(p, to, action->stage + 1u, p->plan->n_stages);
}

/* And from it on: with the tensor that it sends, too. */
static void add_way_from(const drv_paths *p, const sched_action *action, path *to)
{
    if (action->kind == SCHED_F) {
        to->fixed += p->receive[action->stage + 1];
        add_forward(p, to, action->stage + 1u, p->plan->n_stages);
        add_backward(p, to, 0, p->plan->n_stages);
    } else if (action->kind == p->back) {
        to->fixed += p->return_[action->stage];
        add_backward(p, to, 0, action->stage);
    }
}

/* The passes of a rank before one. */
static void add_passes(const drv_paths *p, uint32_t rank, uint32_t end, double times, const path *to)
{
    for (uint32_t i = p->plan->first[rank]; i < end; i++)
        add_pass(to, p->plan->action[i].stage, (sched_kind)p->plan->action[i].kind, times);
}

static bool is_on_way(const drv_paths *p, const sched_action *action)
{
    return action->kind == SCHED_F || action->kind == p->back;
}

/* Whether an action is the first of its kind and stage on its rank, or the last. */
static bool is_at_end(const drv_paths *p, uint32_t rank, uint32_t action, bool last)
{
    const sched_action *a = &p->plan->action[action];
    const uint32_t end = last ? p->plan->first[rank + 1] : action;

    for (uint32_t i = last ? action + 1 : p->plan->first[rank]; i < end; i++)
        if (p->plan->action[i].stage == a->stage && p->plan->action[i].kind == a->kind)
            return false;
    return true;
}

static half *add_half(half *list, uint32_t *n, const drv_paths *p, uint32_t action)
{
    half *h = &list[(*n)++];

    *h = (half){.action = action,
                .by = DSE_ARENA_NEW(p->arena, double, p->plan->n_stages),
                .path.count = DSE_ARENA_NEW(p->arena, double, (size_t)p->plan->n_stages *SCHED_KINDS)};
    return h;
}

/* A rank is come to at the first pass of a kind of a stage, and left behind the last one, or its own. */
static void make_halves(drv_paths *p, uint32_t rank)
{
    const uint32_t first = p->plan->first[rank], end = p->plan->first[rank + 1];
    const size_t most = (size_t)p->plan->n_stages * SCHED_KINDS + 1;
    halves *h = &p->of[rank];

    h->begin = DSE_ARENA_NEW(p->arena, half, most);
    h->end = DSE_ARENA_NEW(p->arena, half, most);
    for (uint32_t i = first; i < end; i++) {
        const sched_action *a = &p->plan->action[i];

        if (is_on_way(p, a) && is_at_end(p, rank, i, false)) {
            half *begin = add_half(h->begin, &h->n_begins, p, i);

            add_way_to(p, a, &begin->path);
            add_passes(p, rank, i, -1, &begin->path);
        }
        if (i + 1 == end || (is_on_way(p, a) && is_at_end(p, rank, i, true))) {
            half *ends = add_half(h->end, &h->n_ends, p, i);

            add_passes(p, rank, i + 1, 1, &ends->path);
            add_way_from(p, a, &ends->path);
        }
    }
}

/* What a path takes by a layout with parts of layers; by[stage]: what one layer more adds. */
static double ticks_of(const drv_paths *p, const path *of, const double *layout, double *by)
{
    double sum = of->fixed;

    for (uint32_t s = 0; s < p->plan->n_stages; s++) {
        const uint32_t whole = (uint32_t)layout[s] < p->whole ? (uint32_t)layout[s] : p->whole - 1;
        const double *count = &of->count[(size_t)s * SCHED_KINDS],
                     *time = &p->time[at(p, s, whole) * SCHED_KINDS], *next = time + SCHED_KINDS;

        by[s] = 0;
        for (int kind = 0; kind < SCHED_KINDS; kind++) {
            sum += count[kind] * time[kind];
            by[s] += count[kind] * (next[kind] - time[kind]);
        }
        sum += by[s] * (layout[s] - whole);
    }
    return sum;
}

/* Adds a share of a path to a mean. */
static void add_share(const drv_paths *p, const path *of, double share, path *to)
{
    for (size_t i = 0; i < (size_t)p->plan->n_stages * SCHED_KINDS; i++)
        to->count[i] += share * of->count[i];
    to->fixed += share * of->fixed;
}

/* The longest of all paths of a layout. */
static double measure(drv_paths *p, const double *layout)
{
    double longest = 0;

    for (uint32_t r = 0; r < p->plan->n_ranks; r++) {
        halves *h = &p->of[r];

        for (uint32_t i = 0; i < h->n_begins; i++)
            h->begin[i].ticks = ticks_of(p, &h->begin[i].path, layout, h->begin[i].by);
        for (uint32_t k = 0; k < h->n_ends; k++)
            h->end[k].ticks = ticks_of(p, &h->end[k].path, layout, h->end[k].by);
        for (uint32_t i = 0; i < h->n_begins; i++)
            for (uint32_t k = 0; k < h->n_ends; k++)
                if (h->begin[i].action <= h->end[k].action)
                    longest = fmax(longest, h->begin[i].ticks + h->end[k].ticks);
    }
    return longest;
}

/* The shares of the halves of a rank, which add up to what is returned. */
static double share_out(const halves *h, double longest, double heat)
{
    double sum = 0;

    for (uint32_t i = 0; i < h->n_begins; i++)
        h->begin[i].share = 0;
    for (uint32_t k = 0; k < h->n_ends; k++)
        h->end[k].share = 0;
    for (uint32_t i = 0; i < h->n_begins; i++)
        for (uint32_t k = 0; k < h->n_ends; k++) {
            const double behind = longest - h->begin[i].ticks - h->end[k].ticks;
            const double share = h->begin[i].action <= h->end[k].action ? exp(-behind / heat) : 0;

            h->begin[i].share += share;
            h->end[k].share += share;
            sum += share;
        }
    return sum;
}

/* The mean of a layout's longest paths, and those that are little shorter. Returns their smooth maximum. */
static double find_paths(drv_paths *p, const double *layout, double heat, path *out)
{
    const double longest = measure(p, layout);
    double sum = 0;

    for (uint32_t r = 0; r < p->plan->n_ranks; r++)
        sum += share_out(&p->of[r], longest, heat);
    p->longest = longest;
    p->sum = sum;
    memset(out->count, 0, (size_t)p->plan->n_stages * SCHED_KINDS * sizeof *out->count);
    out->fixed = 0;
    for (uint32_t r = 0; r < p->plan->n_ranks; r++) {
        const halves *h = &p->of[r];

        for (uint32_t i = 0; i < h->n_begins; i++)
            add_share(p, &h->begin[i].path, h->begin[i].share / sum, out);
        for (uint32_t k = 0; k < h->n_ends; k++)
            add_share(p, &h->end[k].path, h->end[k].share / sum, out);
    }
    return longest + heat * log(sum);
}

/* ---- the least layout ---------------------------------------------------------------------- */

/* The largest convex function below p->value, in parts of one slope each. */
static void make_convex(drv_paths *p, uint32_t stage, uint32_t low, uint32_t high)
{
    double *slope = &p->slope[at(p, stage, 0)];
    uint32_t *length = &p->length[at(p, stage, 0)], n = 0;

    for (uint32_t k = low + 1; k < high; k++) {
        double own = p->value[k] - p->value[k - 1];
        uint32_t of = 1;

        for (; n && slope[n - 1] >= own; n--) {
            own = (own * of + slope[n - 1] * length[n - 1]) / (of + length[n - 1]);
            of += length[n - 1];
        }
        slope[n] = own;
        length[n++] = of;
    }
    p->n_parts[stage] = n;
    p->part[stage] = 0;
}

/* What a stage with its fewest layers takes by a mean; the slopes of more. */
static double begin_stage(drv_paths *p, const path *mean, uint32_t stage, uint32_t low, uint32_t high)
{
    const double *count = &mean->count[(size_t)stage * SCHED_KINDS],
                 price = mean->price[p->plan->stage_rank[stage]];

    for (uint32_t k = low; k < high; k++) {
        const double *time = &p->time[at(p, stage, k) * SCHED_KINDS];

        p->value[k] = price * p->bytes[at(p, stage, k)];
        for (int kind = 0; kind < SCHED_KINDS; kind++)
            p->value[k] += count[kind] * time[kind];
    }
    make_convex(p, stage, low, high);
    return p->value[low];
}

/* The stage to which the next layers go; DSE_NONE: no rank may have more. */
static uint32_t find_cheapest(const drv_paths *p)
{
    uint32_t best = DSE_NONE;
    double least = INFINITY;

    for (uint32_t s = 0; s < p->plan->n_stages; s++) {
        const double *slope = &p->slope[at(p, s, p->part[s])];

        if (!p->left[p->plan->stage_rank[s]] || p->part[s] == p->n_parts[s] || *slope >= least)
            continue;
        least = *slope;
        best = s;
    }
    return best;
}

static uint32_t lesser(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* The least of a mean over all layouts whose ranks have no more layers than p->most; INFINITY: there are none. A stage has no more layers than its rank may have. */
static double least_of(drv_paths *p, const path *mean, const drv_paths_box *box)
{
    uint32_t left = p->whole;
    double sum = mean->fixed;

    for (uint32_t r = 0; r < p->plan->n_ranks; r++) {
        sum -= mean->price[r] > 0 ? mean->price[r] * box->room[r] : 0;
        p->left[r] = p->most[r];
    }
    for (uint32_t s = 0; s < p->plan->n_stages; s++) {
        const uint32_t rank = p->plan->stage_rank[s], low = box->part[s].low;

        if (p->left[rank] < low)
            return INFINITY;
        sum += begin_stage(p, mean, s, low, lesser(box->part[s].high, p->most[rank] + 1));
        p->left[rank] -= low;
        left -= low;
    }
    while (left) {
        const uint32_t s = find_cheapest(p);
        uint32_t n;

        if (s == DSE_NONE)
            return INFINITY;
        n = lesser(lesser(p->length[at(p, s, p->part[s])], left), p->left[p->plan->stage_rank[s]]);
        sum += p->slope[at(p, s, p->part[s])] * n;
        p->part[s]++;
        p->left[p->plan->stage_rank[s]] -= n;
        left -= n;
    }
    return sum;
}

/* The same of those layouts of which no rank takes longer than `until`. */
static double least_until(drv_paths *p, const path *mean, const drv_paths_box *box, double until)
{
    for (uint32_t r = 0; r < p->plan->n_ranks; r++) {
        p->most[r] = p->whole;
        while (p->most[r] && (double)box->by_rank[r][p->most[r]] > until)
            p->most[r]--;
    }
    return least_of(p, mean, box);
}

/* The lesser of X and P(X), where that is most, if it is more than `least`; else P of that. */
static double raise(drv_paths *p, const path *mean, const drv_paths_box *box, double least)
{
    double low = least, high = least, of;

    while ((of = least_until(p, mean, box, high)) > high && high < 4 * least)
        high = isinf(of) ? high * 1.1 : of;
    if (!(of < INFINITY)) /* no rank has so few layers */
        return high;
    if (!(high > least))
        return of;
    for (int i = 0; i < N_HALVINGS && high > low; i++) {
        const double middle = (low + high) / 2;

        if (least_until(p, mean, box, middle) >= middle)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- layouts with parts of layers ------------------------------------------------------------ */

/* What a stage holds; *by: by one layer more. */
static double bytes_of(const drv_paths *p, uint32_t stage, double layers, double *by)
{
    const uint32_t whole = (uint32_t)layers < p->whole ? (uint32_t)layers : p->whole - 1;
    const double *bytes = &p->bytes[at(p, stage, whole)];

    *by = bytes[1] - bytes[0];
    return bytes[0] + *by * (layers - whole);
}

static bool has_limit(double room) { return isfinite(room) && room > 0; }

/* The smooth maximum of a layout's paths, and a penalty for ranks without room, that grows with the square of
 * what they lack. p->newest: the mean, with the prices of bytes that follow. */
static double measure_all(drv_paths *p, const drv_paths_box *box, const double *layers, double heat,
                          double penalty)
{
    double sum = find_paths(p, layers, heat, &p->newest), by;

    for (uint32_t r = 0; r < p->plan->n_ranks; r++) {
        double held = 0, lacks;

        for (uint32_t s = 0; s < p->plan->n_stages; s++)
            held += p->plan->stage_rank[s] == r ? bytes_of(p, s, layers[s], &by) : 0;
        lacks = has_limit(box->room[r]) ? fmax(0, held / box->room[r] - 1) : 0;
        p->newest.price[r] = lacks > 0 ? penalty * lacks / box->room[r] : 0;
        sum += penalty * lacks * lacks / 2;
    }
    return sum;
}

/* Adds a path with its share to the first and second derivatives. */
static void add_curves(drv_paths *p, const half *begin, const half *end, double heat)
{
    const uint32_t n = p->plan->n_stages;
    const double share = exp((begin->ticks + end->ticks - p->longest) / heat) / p->sum;

    if (begin->action > end->action || share < 1e-9)
        return;
    for (uint32_t s = 0; s < n; s++) {
        p->by[s] = begin->by[s] + end->by[s];
        p->slopes[s] += share * p->by[s];
        for (uint32_t k = 0; k <= s; k++)
            p->curves[s * n + k] += share * p->by[s] * p->by[k] / heat;
    }
}

/* The same of the penalty. */
static void add_penalty(drv_paths *p, const drv_paths_box *box, const double *layers, double penalty)
{
    const uint32_t n = p->plan->n_stages;

    for (uint32_t s = 0; s < n; s++) {
        const uint32_t rank = p->plan->stage_rank[s];

        bytes_of(p, s, layers[s], &p->by[s]);
        if (!(p->newest.price[rank] > 0))
            continue;
        p->slopes[s] += p->newest.price[rank] * p->by[s];
        for (uint32_t k = 0; k <= s; k++)
            if (p->plan->stage_rank[k] == rank)
                p->curves[s * n + k] += penalty * p->by[s] / box->room[rank] * p->by[k] / box->room[rank];
    }
}

/* Of the layout that was measured last. */
static void find_curves(drv_paths *p, const drv_paths_box *box, const double *layers, double heat,
                        double penalty)
{
    const uint32_t n = p->plan->n_stages;
    double all = 0;

    memset(p->slopes, 0, n * sizeof *p->slopes);
    memset(p->curves, 0, (size_t)n * n * sizeof *p->curves);
    for (uint32_t r = 0; r < p->plan->n_ranks; r++)
        for (uint32_t i = 0; i < p->of[r].n_begins; i++)
            for (uint32_t k = 0; k < p->of[r].n_ends; k++)
                add_curves(p, &p->of[r].begin[i], &p->of[r].end[k], heat);
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t k = 0; k <= s; k++)
            p->curves[s * n + k] -= p->slopes[s] * p->slopes[k] / heat;
    add_penalty(p, box, layers, penalty);
    for (uint32_t s = 0; s < n; s++)
        all += p->curves[s * n + s];
    for (uint32_t s = 0; s < n; s++) /* so that there is one step, however flat it is */
        p->curves[s * n + s] += 1e-7 * all + 1;
}

/* Solves a system of n equations, each row with its right side behind it, in the place of the right sides.
 * False: there is no solution. */
static bool solve(double *row, uint32_t n)
{
    const uint32_t w = n + 1;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t best = i;

        for (uint32_t k = i + 1; k < n; k++)
            best = fabs(row[k * w + i]) > fabs(row[best * w + i]) ? k : best;
        if (!(fabs(row[best * w + i]) > 0))
            return false;
        for (uint32_t k = 0; k < w; k++) {
            const double swap = row[i * w + k];

            row[i * w + k] = row[best * w + k];
            row[best * w + k] = swap;
        }
        for (uint32_t k = 0; k < n; k++) {
            const double times = k == i ? 0 : row[k * w + i] / row[i * w + i];

            for (uint32_t c = i; c < w && times != 0; c++)
                row[k * w + c] -= times * row[i * w + c];
        }
    }
    for (uint32_t i = 0; i < n; i++)
        row[i * w + n] /= row[i * w + i];
    return true;
}

/* Newton's step of the stages that are not held, which leaves the sum of all layers as it is. */
static bool find_free_step(drv_paths *p)
{
    const uint32_t n = p->plan->n_stages;
    uint32_t n_open = 0, w;

    for (uint32_t s = 0; s < n; s++) {
        p->step[s] = 0;
        if (!p->is_held[s])
            p->open[n_open++] = s;
    }
    w = n_open + 2;
    if (n_open < 2)
        return false;
    for (uint32_t i = 0; i < n_open; i++) {
        const uint32_t s = p->open[i];

        for (uint32_t k = 0; k < n_open; k++)
            p->system[i * w + k] = p->curves[k <= i ? s * n + p->open[k] : p->open[k] * n + s];
        p->system[i * w + n_open] = p->system[n_open * w + i] = 1;
        p->system[i * w + n_open + 1] = -p->slopes[s];
    }
    p->system[n_open * w + n_open] = p->system[n_open * w + n_open + 1] = 0;
    if (!solve(p->system, n_open + 1))
        return false;
    for (uint32_t i = 0; i < n_open; i++)
        p->step[p->open[i]] = p->system[i * w + n_open + 1];
    return true;
}

/* A stage at an end of its range that would go beyond is held there. */
static bool find_step(drv_paths *p, const double *layers)
{
    bool holds = true;

    memset(p->is_held, 0, p->plan->n_stages * sizeof *p->is_held);
    while (holds) {
        if (!find_free_step(p))
            return false;
        holds = false;
        for (uint32_t s = 0; s < p->plan->n_stages; s++) {
            const bool is_low = layers[s] <= p->least_layers[s] + 1e-9 && p->step[s] < 0,
                       is_high = layers[s] >= p->most_layers[s] - 1e-9 && p->step[s] > 0;

            holds |= is_low || is_high;
            p->is_held[s] |= is_low || is_high;
        }
    }
    return true;
}

static double within(const drv_paths *p, uint32_t stage, double layers)
{
    return fmin(p->most_layers[stage], fmax(p->least_layers[stage], layers));
}

/* Goes along a step as far as that is better; what is reached, or `now`. */
static double go_down(drv_paths *p, const drv_paths_box *box, double heat, double penalty, double now)
{
    double far = 1;

    for (uint32_t s = 0; s < p->plan->n_stages; s++) {
        const double end = p->step[s] > 0 ? p->most_layers[s] : p->least_layers[s];

        if (p->step[s] > 0 || p->step[s] < 0)
            far = fmin(far, (end - p->layers[s]) / p->step[s]);
    }
    for (int i = 0; i < N_SHORTER; i++, far /= 2) {
        double got;

        for (uint32_t s = 0; s < p->plan->n_stages; s++)
            p->moved[s] = within(p, s, p->layers[s] + far * p->step[s]);
        got = measure_all(p, box, p->moved, heat, penalty);
        if (got < now) {
            memcpy(p->layers, p->moved, p->plan->n_stages * sizeof *p->moved);
            return got;
        }
    }
    measure_all(p, box, p->layers, heat, penalty);
    return now;
}

static void find_least(drv_paths *p, const drv_paths_box *box, double heat, double penalty)
{
    double now = measure_all(p, box, p->layers, heat, penalty), before = INFINITY;

    for (int i = 0; i < N_STEPS && before - now > 1e-5 * now; i++) {
        find_curves(p, box, p->layers, heat, penalty);
        if (!find_step(p, p->layers))
            return;
        before = now;
        now = go_down(p, box, heat, penalty, now);
    }
}

/* An even layout, as far as the ranges of the box have it, with layers that a rank may have in a step of one
 * and a half times the least. False: there is none. */
static bool begin_even(drv_paths *p, const drv_paths_box *box, const path *mean)
{
    const uint32_t n = p->plan->n_stages;
    double left = p->whole;

    least_until(p, mean, box, 1.5 * (double)box->least);
    for (uint32_t s = 0; s < n; s++) {
        p->least_layers[s] = box->part[s].low;
        p->most_layers[s] = lesser(box->part[s].high - 1, p->most[p->plan->stage_rank[s]]);
        if (p->most_layers[s] < p->least_layers[s])
            return false;
        p->layers[s] = p->least_layers[s];
        left -= p->layers[s];
    }
    for (uint32_t pass = 0; pass <= n && left > 1e-9; pass++) {
        uint32_t n_open = 0;
        double each;

        for (uint32_t s = 0; s < n; s++)
            n_open += p->layers[s] < p->most_layers[s];
        each = left / (n_open + !n_open);
        for (uint32_t s = 0; s < n; s++) {
            const double more = fmin(each, p->most_layers[s] - p->layers[s]);

            p->layers[s] += more;
            left -= more;
        }
    }
    return left <= 1e-9;
}

static void copy_mean(const drv_paths *p, const path *from, path *to)
{
    memcpy(to->count, from->count, (size_t)p->plan->n_stages * SCHED_KINDS * sizeof *to->count);
    memcpy(to->price, from->price, p->plan->n_ranks * sizeof *to->price);
    to->fixed = from->fixed;
}

/* The best mean of a box into `best`: that of the layout, with parts of layers, whose smooth maximum is least,
 * with ever less heat. p->layers is that layout. */
static bool find_best(drv_paths *p, const drv_paths_box *box, path *best)
{
    double most = -INFINITY;

    if (!begin_even(p, box, &p->newest))
        return false;
    for (size_t i = 0; i < DSE_COUNT(heats); i++) {
        const double least = (double)box->least;
        double got;

        find_least(p, box, heats[i] * least, PENALTY / sqrt(heats[i]) * least);
        got = raise(p, &p->newest, box, fmax(most, least));
        if (got <= most)
            continue;
        most = got;
        copy_mean(p, &p->newest, best);
    }
    return true;
}

/* ---- the bound ----------------------------------------------------------------------------- */

static void begin(drv_paths *p, const drv_paths_box *box)
{
    p->of = DSE_ARENA_NEW(p->arena, halves, p->plan->n_ranks);
    for (uint32_t r = 0; r < p->plan->n_ranks; r++)
        make_halves(p, r);
    find_best(p, box, &p->best);
}

dse_time drv_paths_least(drv_paths *p, const drv_paths_box *box)
{
    double least;

    if (!p->of)
        begin(p, box);
    least = raise(p, &p->best, box, (double)box->least) * (1 - 1e-12); /* what rounding may have added */
    return least > (double)box->least ? (dse_time)least : box->least;
}

/* The stage that may have one layer more, or less, and is farthest from its part of one. */
static uint32_t find_farthest(const drv_paths *p, const drv_paths_box *box, const uint32_t *layout, bool more)
{
    uint32_t best = DSE_NONE;
    double most = -INFINITY;

    for (uint32_t s = 0; s < p->plan->n_stages; s++) {
        const double off = more ? p->layers[s] - layout[s] : layout[s] - p->layers[s];

        if (off <= most || (more ? layout[s] + 1 >= box->part[s].high : layout[s] <= box->part[s].low))
            continue;
        most = off;
        best = s;
    }
    return best;
}

bool drv_paths_lay_out(drv_paths *p, const drv_paths_box *box, uint32_t *layout)
{
    int64_t left = p->whole;

    if (!p->of)
        begin(p, box);
    if (!find_best(p, box, &p->aside))
        return false;
    for (uint32_t s = 0; s < p->plan->n_stages; s++) {
        layout[s] = (uint32_t)(p->layers[s] + 0.5);
        left -= layout[s];
    }
    while (left) {
        const uint32_t s = find_farthest(p, box, layout, left > 0);

        if (s == DSE_NONE)
            return false;
        layout[s] = left > 0 ? layout[s] + 1 : layout[s] - 1;
        left += left > 0 ? -1 : 1;
    }
    return true;
}
