/* The memory that tensors of a GPU hold over time, by the instants "[memory]" of Kineto's traces
 * (profile_memory=True): its peak, that of each step, and in which part of the step what is held at the peak
 * was allocated.
 *
 * The level after a change is "Total Allocated"; of older profilers, which do not give it, the sum of the
 * changes over the least that must have been held before, so that the peak is a lower bound. In what part of
 * a step something was allocated, the ranges of the host around it say: the optimizer's, autograd's, those of
 * other operators (the forward pass), or none of them. Of what was allocated before the recording it is not
 * told, nor which tensors are parameters: PyTorch's own timeline of categories takes these from a graph of
 * operators that is not exported.
 *
 * Source: PyTorch's torch/csrc/profiler/collection.cpp and kineto_shim.cpp for the keys of the events. */
#include "metrics/metric.h"
#include "metrics/nest.h"
#include "metrics/numbers.h"
#include "metrics/order.h"
#include "metrics/pick.h"
#include "trace/pairs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum { PART_FORWARD, PART_BACKWARD, PART_OPTIMIZER, PART_ELSEWHERE, PART_EARLIER, PARTS } memory_part;

static const char *const part_key[PARTS] = {"forward_bytes", "backward_bytes", "optimizer_bytes",
                                            "elsewhere_bytes", "earlier_bytes"};

typedef struct {
    int64_t at, level; /* after it */
    uint32_t place;    /* of rank->change */
    memory_part part;  /* of what was allocated */
} point;

METRIC_COMPARE(by_time, point, {x->at, y->at}, {x->place, y->place})

/* What a device holds over time. */
typedef struct {
    const metric_view *view; /* NULL: nothing is recorded */
    int64_t device;
    uint32_t n, peak; /* points; the first of the highest level */
    int64_t base;     /* held before the first change */
    int64_t most;     /* at the peak, which is before it if both are the same */
    point *item;
    int64_t reserved; /* at most; -1: not given */
    bool has_totals, has_addresses;
} timeline;

static const trace_memory_change *change_of(const timeline *t, uint32_t i)
{
    return &t->view->rank->change[t->item[i].place];
}

/* What it held before its first change. */
static int64_t base_of(const timeline *t)
{
    int64_t sum = 0, least = 0;

    if (t->has_totals)
        return t->item[0].level - change_of(t, 0)->bytes;
    for (uint32_t i = 0; i < t->n; i++) {
        sum += change_of(t, i)->bytes;
        least = sum < least ? sum : least;
    }
    return -least;
}

static timeline timeline_of(const metric_view *v, int64_t device, dse_arena *a)
{
    const trace_rank *r = v->rank;
    timeline t = {.view = v, .device = device, .reserved = -1, .has_totals = true, .has_addresses = true};
    int64_t level;

    t.item = DSE_ARENA_NEW(a, point, r->n_changes);
    for (uint32_t i = 0; i < r->n_changes; i++) {
        const trace_memory_change *c = &r->change[i];

        if (c->device_type <= 0 || c->device != device)
            continue;
        t.item[t.n++] = (point){r->event[c->event].start_ps, c->allocated, i, PART_EARLIER};
        t.has_totals &= c->allocated >= 0;
        t.has_addresses &= c->address >= 0;
        t.reserved = c->reserved > t.reserved ? c->reserved : t.reserved;
    }
    qsort(t.item, t.n, sizeof *t.item, by_time);
    level = t.base = base_of(&t);
    for (uint32_t i = 0; i < t.n; i++) {
        level = t.has_totals ? t.item[i].level : level + change_of(&t, i)->bytes;
        t.item[i].level = level;
        t.peak = level > t.item[t.peak].level ? i : t.peak;
    }
    t.most = t.n && t.item[t.peak].level > t.base ? t.item[t.peak].level : t.base;
    return t;
}

/* Of the device that holds most. */
static timeline fullest_of(const metric_view *v, dse_arena *a)
{
    const trace_rank *r = v->rank;
    trace_pairs devices = {0};
    timeline most = {0};

    for (size_t i = 0; i < r->n_changes; i++) {
        timeline t;
        bool is_new;

        if (r->change[i].device_type <= 0)
            continue;
        trace_pairs_at(&devices, r->change[i].device, 0, &is_new);
        if (!is_new)
            continue;
        t = timeline_of(v, r->change[i].device, a);
        if (!most.view || t.most > most.most)
            most = t;
    }
    trace_pairs_free(&devices);
    return most;
}

/* ---- what allocated it ----------------------------------------------------------------------- */

#define ON_HOST (1 << TRACE_CPU_OP | 1 << TRACE_ANNOTATION)

static const metric_pick ranges_of_parts = METRIC_PICK(
    METRIC_LASTING, {METRIC_NOT_PICKED, .names = "=^" METRIC_STEP_PREFIX},
    {PART_OPTIMIZER, .categories = ON_HOST, .names = "=^Optimizer.step#|=^Optimizer.zero_grad#"},
    {PART_BACKWARD, .categories = ON_HOST, .names = "=^autograd::engine::evaluate_function|=Backward"},
    {PART_ELSEWHERE, .categories = ON_HOST, .names = "=^enumerate(DataLoader)"},
    {PART_FORWARD, .categories = 1 << TRACE_CPU_OP});

typedef struct {
    metric_picker picker;
    metric_nest nest;
} host_ranges;

static host_ranges host_ranges_of(const trace_rank *r, dse_arena *a)
{
    const metric_picked picked = metric_pick_of(r, NULL, &ranges_of_parts, a);

    return (host_ranges){metric_picker_of(r, &ranges_of_parts, a), metric_nest_of(r, &picked.list, a)};
}

/* The innermost range around a change; DSE_NONE. */
static uint32_t range_at(const timeline *t, const host_ranges *h, uint32_t i)
{
    return metric_nest_at(&h->nest, t->view->rank->event[change_of(t, i)->event].lane, t->item[i].at);
}

/* The outermost range that says more than that it is an operator. */
static memory_part part_at(const timeline *t, host_ranges *h, uint32_t i)
{
    memory_part part = PART_ELSEWHERE;

    for (uint32_t k = range_at(t, h, i); k != DSE_NONE; k = h->nest.item[k].outer) {
        const uint8_t class = metric_picker_ask(&h->picker, &t->view->rank->event[h->nest.item[k].event]);

        if (h->nest.item[k].end >= t->item[i].at && (class != PART_FORWARD || part == PART_ELSEWHERE))
            part = (memory_part) class;
    }
    return part;
}

/* False: addresses and totals contradict each other. */
static bool find_parts(const timeline *t, host_ranges *h, int64_t part[PARTS])
{
    trace_pairs live = {0}; /* address -> point that allocated it */
    int64_t told = 0;

    for (uint32_t i = 0; t->most > t->base && i <= t->peak; i++) {
        bool is_new, frees = change_of(t, i)->bytes < 0;
        uint32_t *held = trace_pairs_at(&live, change_of(t, i)->address, 0, &is_new);

        if (*held != DSE_NONE)
            part[t->item[*held].part] -= change_of(t, *held)->bytes;
        *held = frees ? DSE_NONE : i;
        if (frees)
            continue;
        t->item[i].part = part_at(t, h, i);
        part[t->item[i].part] += change_of(t, i)->bytes;
    }
    trace_pairs_free(&live);
    for (int p = 0; p < PART_EARLIER; p++)
        told += part[p];
    part[PART_EARLIER] = t->most - told;
    return part[PART_EARLIER] >= 0;
}

/* ---- what is said ---------------------------------------------------------------------------- */

static void put_parts(const timeline *t, host_ranges *h, metric_value *to)
{
    static const char no_addresses[] = "the events have no addresses, as of older profilers",
                      contradicts[] = "the events' addresses and totals contradict each other";
    int64_t part[PARTS] = {0};
    const char *why = !t->has_addresses ? no_addresses : !find_parts(t, h, part) ? contradicts : NULL;

    for (int p = 0; p < PARTS; p++)
        if (why)
            metric_put_absent(to, part_key[p], why);
        else
            metric_put_integer(to, part_key[p], part[p]);
}

/* The most that is held during each step, of what is held at its begin as well. */
static void put_steps(const timeline *t, metric_value *to)
{
    const metric_view *v = t->view;
    metric_value *steps;

    if (!v->n_steps)
        return;
    steps = metric_put_object(to, "peak_by_step");
    for (uint32_t s = 0; s < v->n_steps; s++) {
        const metric_span span = v->step[s].span;
        char number[24];
        int64_t most;
        size_t i;

        METRIC_BISECT(i, 0, t->n, t->item[i].at < span.start);
        most = i ? t->item[i - 1].level : t->base;
        for (; i < t->n && t->item[i].at <= span.end; i++)
            most = t->item[i].level > most ? t->item[i].level : most;
        snprintf(number, sizeof number, "%" PRId64, v->step[s].number);
        metric_put_integer(steps, number, most);
    }
}

static void put_place(const timeline *t, const host_ranges *h, metric_value *to)
{
    const trace_rank *r = t->view->rank;
    const int64_t at = t->item[t->peak].at;
    const uint32_t range = metric_nest_around(&h->nest, r->event[change_of(t, t->peak)->event].lane, at);

    for (uint32_t s = 0; s < t->view->n_steps; s++)
        if (t->view->step[s].span.start <= at && at <= t->view->step[s].span.end) {
            metric_put_integer(to, "peak_step", t->view->step[s].number);
            metric_put_ms(to, "peak_time_in_step_ms", at - t->view->step[s].span.start);
            break;
        }
    if (range != DSE_NONE)
        metric_put_text(to, "peak_operator", METRIC_TEXT_OF(r, &r->event[h->nest.item[range].event]));
}

static void put(const timeline *t, dse_arena *a, metric_value *to)
{
    host_ranges h = host_ranges_of(t->view->rank, a);

    metric_put_integer(to, "device", t->device);
    metric_put_integer(to, "peak_allocated_bytes", t->most);
    metric_put_bool(to, "peak_is_lower_bound", !t->has_totals);
    if (t->reserved >= 0)
        metric_put_integer(to, "peak_reserved_bytes", t->reserved);
    else
        metric_put_absent(to, "peak_reserved_bytes", "the events do not say what is reserved");
    if (t->most > t->base)
        put_place(t, &h, to);
    put_parts(t, &h, to);
    metric_put_integer(to, "initial_allocated_bytes", t->base);
    metric_put_integer(to, "final_allocated_bytes", t->item[t->n - 1].level);
    metric_put_integer(to, "changes", t->n);
    put_steps(t, to);
}

static dse_status memory_timeline(const metric_context *x, metric_value *out, dse_error *err)
{
    timeline *of = DSE_ARENA_NEW(x->arena, timeline, (size_t)x->n_views + 1), *most = NULL;
    metric_value *ranks;

    for (uint32_t i = 0; i < x->n_views; i++) {
        of[i] = fullest_of(&x->view[i], x->arena);
        if (of[i].view && (!most || of[i].most > most->most))
            most = &of[i];
    }
    if (!most)
        return metric_absent(err,
                             "there are no [memory] events of a device; record with profile_memory=True, "
                             "or a memory snapshot, of which metric memory is");
    put(most, x->arena, out);
    ranks = metric_put_object(out, "per_rank");
    for (uint32_t i = 0; i < x->n_views; i++)
        if (of[i].view)
            put(&of[i], x->arena, metric_put_rank(ranks, x->view[i].rank));
    return DSE_OK;
}

static const metric rows[] = {
    {METRIC_ROW("memory_timeline", "guide", "bytes", METRIC_ON(TRACE_KINETO), 0,
                "what tensors of a GPU hold over time, by [memory] events: peak, steps, what allocated it"),
     .compute = memory_timeline, .headline = "peak_allocated_bytes"},
};

METRIC_FAMILY(memory_timeline);
