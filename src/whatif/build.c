#include "whatif/build_parts.h"

#include "metrics/order.h"
#include "trace/pairs.h"

#include <stdlib.h>
#include <string.h>

void whatif_link(whatif_builder *b, uint32_t from, uint32_t to, int64_t weight, whatif_part part, uint32_t op)
{
    const whatif_edge e = {
        .from = from, .to = to, .op = op, .part = (uint8_t)part, .weight = weight > 0 ? weight : 0};

    whatif_add_edge(b->graph, e, b->arena);
}

bool whatif_communicates(const whatif_op *o) { return o->on_gpu && o->kind == METRIC_WORK_COMM; }

void whatif_wait(whatif_builder *b, uint32_t from_op, uint32_t to_op)
{
    const whatif_op *op = b->graph->op;
    const whatif_edge e = {.from = whatif_end(from_op),
                           .to = whatif_begin(to_op),
                           .op = DSE_NONE,
                           .part = WHATIF_ORDER,
                           .between = whatif_communicates(&op[from_op]) != whatif_communicates(&op[to_op])};

    whatif_add_edge(b->graph, e, b->arena);
}

/* ---- the step ------------------------------------------------------------------------------ */

static int by_length(const void *a, const void *b)
{
    const metric_step *x = *(const metric_step *const *)a, *y = *(const metric_step *const *)b;
    int64_t m = x->span.end - x->span.start, n = y->span.end - y->span.start;

    return m != n ? (m > n) - (m < n) : (x->number > y->number) - (x->number < y->number);
}

static int64_t median_step(const metric_view *v, dse_arena *a)
{
    const metric_step **by = DSE_ARENA_NEW(a, const metric_step *, v->n_steps);

    for (uint32_t i = 0; i < v->n_steps; i++)
        by[i] = &v->step[i];
    qsort(by, v->n_steps, sizeof *by, by_length);
    return by[(v->n_steps - 1) / 2]->number;
}

/* The window of the step on a rank. */
static dse_status find_window(const whatif_recording *from, int64_t number, whatif_rank *r, dse_error *err)
{
    const metric_view *v = r->view;

    r->window = METRIC_NO_SPAN;
    for (uint32_t i = 0; i < v->n_steps; i++)
        if (from->step == WHATIF_ALL_STEPS || v->step[i].number == number)
            metric_span_extend(&r->window, v->step[i].span.start, v->step[i].span.end);
    if (!v->n_steps) /* all that was recorded is one step */
        for (size_t i = 0; i < v->rank->n_events; i++)
            if (v->rank->event[i].category <= TRACE_MEMSET || v->rank->event[i].category == TRACE_RUNTIME ||
                v->rank->event[i].category == TRACE_DRIVER)
                metric_span_extend(&r->window, metric_start(&v->rank->event[i]),
                                   metric_end(&v->rank->event[i]));
    if (r->window.end > r->window.start)
        return DSE_OK;
    return dse_fail_at(err, DSE_E_ABSENT, v->rank->path ? v->rank->path : "",
                       v->n_steps ? "there is no step %lld; it has %lld to %lld" : "nothing ran in it",
                       (long long)number, v->n_steps ? (long long)v->step[0].number : 0,
                       v->n_steps ? (long long)v->step[v->n_steps - 1].number : 0);
}

/* The thread that has the marker of the step; without markers the one that calls first. */
static void find_main_lane(whatif_rank *r)
{
    const trace_rank *rank = r->view->rank;

    r->main_lane = DSE_NONE;
    for (size_t i = 0; i < rank->n_events; i++) {
        const trace_event *e = &rank->event[i];

        if (r->view->n_steps ? e->category <= TRACE_MEMSET || e->category == TRACE_GPU_ANNOTATION ||
                                   e->start_ps != r->window.start ||
                                   !metric_begins(METRIC_TEXT_OF(rank, e), METRIC_STEP_PREFIX)
                             : e->category != TRACE_RUNTIME && e->category != TRACE_DRIVER)
            continue;
        r->main_lane = e->lane;
        return;
    }
}

/* ---- operations ---------------------------------------------------------------------------- */

static bool is_call(const trace_event *e)
{
    return (e->category == TRACE_RUNTIME || e->category == TRACE_DRIVER) && !e->instant;
}

static bool is_on_gpu(const trace_event *e) { return e->category <= TRACE_MEMSET && !e->instant; }

typedef struct {
    uint32_t event, lane;
    int64_t start, end;
    bool launches;
} host_call;

static int by_thread(const void *a, const void *b)
{
    const host_call *x = a, *y = b;

    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

/* The calls of the step, without those within another; `inside` maps a correlation to the outer call, or
 * to DSE_NONE of a call outside of the step. */
static host_call *find_calls(whatif_builder *b, const whatif_rank *r, trace_pairs *inside, uint32_t *n)
{
    const trace_rank *rank = r->view->rank;
    size_t most = 0;
    host_call *call, *last = NULL;

    for (size_t i = 0; i < rank->n_events; i++)
        most += is_call(&rank->event[i]);
    call = DSE_ARENA_RAW(&b->scratch, host_call, most);
    *n = 0;
    for (uint32_t i = 0; i < rank->n_events; i++)
        if (is_call(&rank->event[i]))
            call[(*n)++] = (host_call){i, rank->event[i].lane, rank->event[i].start_ps,
                                       metric_end(&rank->event[i]), false};
    qsort(call, *n, sizeof *call, by_thread);
    most = *n;
    *n = 0;
    for (size_t i = 0; i < most; i++) {
        const host_call c = call[i];
        bool in_step = c.start >= r->window.start && c.start < r->window.end, nested, is_new;

        nested = last && last->lane == c.lane && c.start < last->end;
        if (in_step && !nested)
            *(last = &call[(*n)++]) = c;
        if (rank->event[c.event].correlation)
            *trace_pairs_at(inside, rank->event[c.event].correlation, 0, &is_new) =
                in_step && last ? (uint32_t)(last - call) : DSE_NONE;
    }
    return call;
}

static uint8_t kind_of(const metric_view *v, const whatif_rank *r, uint32_t event)
{
    const trace_event *e = &v->rank->event[event];

    if (e->category != TRACE_KERNEL)
        return WHATIF_COPY;
    if (r->comm_type[event] < METRIC_COMM_TYPES)
        return METRIC_WORK_COMM;
    /* What is named like a communication but is none of the rank's layer of them. */
    return e->name == DSE_NONE || v->work[e->name] == METRIC_WORK_COMM ? METRIC_WORK_OTHER : v->work[e->name];
}

static int compare_ops(const whatif_op *x, const whatif_op *y)
{
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->event < y->event ? -1 : x->event > y->event;
}

static int by_start(const void *a, const void *b) { return compare_ops(a, b); }

/* Which events communicate, and how. */
static void find_communication(whatif_builder *b, whatif_rank *r)
{
    const metric_view *v = r->view;

    r->comm_type = DSE_ARENA_RAW(b->arena, uint8_t, v->rank->n_events);
    memset(r->comm_type, METRIC_COMM_TYPES, v->rank->n_events);
    for (uint32_t i = 0; v->comm_layer == METRIC_LAYER_KERNEL && i < v->comm.n; i++)
        r->comm_type[v->comm.event[i]] = v->comm_type[i];
}

/* Adds the rank's operations to the graph's: what was launched in the step, and the calls that launched it or
 * that synchronise. */
static void add_ops(whatif_builder *b, whatif_rank *r, size_t *cap)
{
    const trace_rank *rank = r->view->rank;
    whatif_graph *g = b->graph;
    whatif_step *step = &g->step[r->rank];
    trace_pairs inside = {0};
    uint32_t n_calls, first = g->n_ops, *op_of;
    host_call *call = find_calls(b, r, &inside, &n_calls);

    step->first_op = first;
    step->busy_until = r->window.start;
    r->busy_until = DSE_ARENA_RAW(b->arena, int64_t, rank->n_lanes);
    for (uint32_t i = 0; i < rank->n_lanes; i++)
        r->busy_until[i] = r->window.start;
    for (uint32_t i = 0; i < rank->n_events; i++) {
        const trace_event *e = &rank->event[i];
        uint32_t by = e->correlation ? trace_pairs_find_place(&inside, e->correlation, 0) : DSE_NONE;
        bool known = by != DSE_NONE;

        if (!is_on_gpu(e))
            continue;
        by = known ? inside.entry[by].value : DSE_NONE;
        if (by == DSE_NONE && (known || e->start_ps < r->window.start || e->start_ps >= r->window.end)) {
            if (e->start_ps < r->window.end && metric_end(e) > r->busy_until[e->lane])
                r->busy_until[e->lane] = metric_end(e);
            continue; /* of an earlier step, or of a later one */
        }
        g->n_unlaunched += by == DSE_NONE;
        if (by != DSE_NONE)
            call[by].launches = true;
        DSE_ARENA_GROW(b->arena, g->op, *cap, g->n_ops + 1);
        g->op[g->n_ops++] = (whatif_op){.rank = r->rank,
                                        .event = i,
                                        .lane = e->lane,
                                        .launch = by,
                                        .collective = DSE_NONE,
                                        .on_gpu = true,
                                        .kind = kind_of(r->view, r, i),
                                        .start = e->start_ps,
                                        .end = metric_end(e)};
    }
    trace_pairs_free(&inside);
    for (uint32_t i = 0; i < rank->n_lanes; i++)
        if (r->busy_until[i] > step->busy_until)
            step->busy_until = r->busy_until[i];
    op_of = DSE_ARENA_RAW(&b->scratch, uint32_t, n_calls);
    for (uint32_t i = 0; i < n_calls; i++) {
        if (!call[i].launches && !whatif_is_blocking(METRIC_TEXT_OF(rank, &rank->event[call[i].event])))
            continue;
        DSE_ARENA_GROW(b->arena, g->op, *cap, g->n_ops + 1);
        g->op[g->n_ops++] = (whatif_op){.rank = r->rank,
                                        .event = call[i].event,
                                        .lane = call[i].lane,
                                        .launch = i,
                                        .collective = DSE_NONE,
                                        .start = call[i].start,
                                        .end = call[i].end};
    }
    step->n_ops = g->n_ops - first;
    if (step->n_ops)
        qsort(g->op + first, step->n_ops, sizeof *g->op, by_start);
    for (uint32_t i = first; i < g->n_ops; i++)
        if (!g->op[i].on_gpu)
            op_of[g->op[i].launch] = i;
    for (uint32_t i = first; i < g->n_ops; i++)
        g->op[i].launch = g->op[i].on_gpu && g->op[i].launch != DSE_NONE ? op_of[g->op[i].launch] : DSE_NONE;
}

/* ---- lists --------------------------------------------------------------------------------- */

typedef struct {
    int64_t at, then;
    uint32_t op;
} timed;

METRIC_COMPARE(by_time, timed, {x->at, y->at}, {x->then, y->then}, {x->op, y->op})

/* The operations of a list in the order of `item`. */
static uint32_t *sorted(timed *item, uint32_t n, dse_arena *a)
{
    uint32_t *list = DSE_ARENA_RAW(a, uint32_t, n);

    if (n)
        qsort(item, n, sizeof *item, by_time);
    for (uint32_t i = 0; i < n; i++)
        list[i] = item[i].op;
    return list;
}

static void make_lists(whatif_builder *b, whatif_rank *r)
{
    const whatif_graph *g = b->graph;
    const whatif_step *s = &g->step[r->rank];
    uint32_t n_lanes = r->view->rank->n_lanes, *last = DSE_ARENA_RAW(&b->scratch, uint32_t, n_lanes);
    timed *ended = DSE_ARENA_RAW(&b->scratch, timed, s->n_ops),
          *launched = DSE_ARENA_RAW(&b->scratch, timed, s->n_ops);

    r->call = DSE_ARENA_RAW(b->arena, uint32_t, s->n_ops);
    r->gpu = DSE_ARENA_RAW(b->arena, uint32_t, s->n_ops);
    r->before = DSE_ARENA_RAW(b->arena, uint32_t, s->n_ops);
    memset(last, 0xff, n_lanes * sizeof *last);
    for (uint32_t i = s->first_op; i < s->first_op + s->n_ops; i++) {
        const whatif_op *o = &g->op[i];

        if (!o->on_gpu) {
            r->call[r->n_calls++] = i;
            continue;
        }
        ended[r->n_gpu] = (timed){o->end, o->start, i};
        r->gpu[r->n_gpu++] = i;
        if (o->launch != DSE_NONE)
            launched[r->n_launched++] = (timed){g->op[o->launch].start, o->start, i};
        r->before[i - s->first_op] = last[o->lane];
        last[o->lane] = i;
    }
    r->by_end = sorted(ended, r->n_gpu, b->arena);
    r->by_launch = sorted(launched, r->n_launched, b->arena);
}

uint32_t whatif_last_ended(const whatif_builder *b, const whatif_rank *r, int64_t after, int64_t until)
{
    uint32_t lo = 0, hi = r->n_gpu;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (b->graph->op[r->by_end[mid]].end <= until)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo && b->graph->op[r->by_end[lo - 1]].end > after ? r->by_end[lo - 1] : DSE_NONE;
}

/* ---- all of it ----------------------------------------------------------------------------- */

/* Moves a rank's times. */
static void shift(whatif_graph *g, uint32_t rank, int64_t by)
{
    whatif_step *s = &g->step[rank];

    s->begin += by;
    s->end += by;
    s->busy_until += by;
    for (uint32_t i = s->first_op; i < s->first_op + s->n_ops; i++) {
        g->op[i].start += by;
        g->op[i].end += by;
    }
}

/* To one time for all ranks: by their clocks, then so that collectives end together, from 0 on. */
static void align(whatif_builder *b, const whatif_rank *rank)
{
    enum { NS_PER_HOUR = 3600 };
    const int64_t far = (int64_t)NS_PER_HOUR * 1000000000;
    whatif_graph *g = b->graph;
    int64_t first = INT64_MAX, *late = DSE_ARENA_NEW(b->arena, int64_t, g->n_ranks);

    for (uint32_t r = 0; r < g->n_ranks; r++) {
        int64_t apart = rank[r].view->rank->base_ns - rank[0].view->rank->base_ns;
        bool same_clock = apart < far && apart > -far;

        shift(g, r, same_clock ? apart * TRACE_PS_PER_NS - rank[0].window.start : -rank[r].window.start);
    }
    whatif_lateness(b, late);
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        shift(g, r, -late[r]);
        first = g->step[r].begin < first ? g->step[r].begin : first;
    }
    for (uint32_t r = 0; r < g->n_ranks; r++)
        shift(g, r, -first);
}

/* "rank 3: ncclDevKernel_AllReduce" */
static const char *describe(const whatif_builder *b, uint32_t op)
{
    const whatif_op *o = &b->graph->op[op];
    const trace_rank *rank = b->from->view[o->rank].rank;

    return dse_arena_printf(b->arena, "rank %u, '%.80s' at %lld us of the step", rank->rank,
                            METRIC_TEXT_OF(rank, &rank->event[o->event]),
                            (long long)(o->start / TRACE_PS_PER_US));
}

static dse_status build(whatif_builder *b, whatif_recorded *out, dse_error *err)
{
    const whatif_recording *from = b->from;
    whatif_graph *g = b->graph;
    whatif_rank *rank = DSE_ARENA_NEW(b->arena, whatif_rank, from->n_views);
    size_t cap = 0;
    uint32_t at;
    dse_error circle = DSE_ERROR_INIT;

    g->n_ranks = from->n_views;
    g->step = DSE_ARENA_NEW(b->arena, whatif_step, g->n_ranks);
    out->has_steps = from->view[0].n_steps > 0;
    out->number = !out->has_steps                    ? 0
                  : from->step == WHATIF_MEDIAN_STEP ? median_step(&from->view[0], &b->scratch)
                  : from->step == WHATIF_ALL_STEPS   ? from->view[0].step[0].number
                                                     : from->step;
    out->n_steps = from->step == WHATIF_ALL_STEPS && out->has_steps ? from->view[0].n_steps : 1;
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        rank[r] = (whatif_rank){.rank = r, .view = &from->view[r]};
        if (find_window(from, out->number, &rank[r], err) != DSE_OK)
            return err ? err->status : DSE_E_ABSENT;
        g->step[r].begin = rank[r].window.start;
        g->step[r].end = rank[r].window.end;
        find_communication(b, &rank[r]);
        add_ops(b, &rank[r], &cap);
        find_main_lane(&rank[r]);
        make_lists(b, &rank[r]);
        if (!rank[r].n_launched)
            return dse_fail_at(err, DSE_E_ABSENT, from->view[r].rank->path ? from->view[r].rank->path : "",
                               "in this step no call of the host launches anything on a GPU; record with "
                               "activities of the CPU and of the GPU");
    }
    whatif_match(b, rank);
    align(b, rank);
    whatif_measure_comm(b);
    g->n_points = whatif_step_begin(g, g->n_ranks);
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        whatif_build_host(b, &rank[r]);
        whatif_build_streams(b, &rank[r]);
        whatif_build_waits(b, &rank[r]);
    }
    whatif_build_comm(b);
    if (whatif_graph_finish(g, b->arena, &at, &circle) == DSE_OK)
        return DSE_OK;
    return dse_fail(
        err, DSE_E_WORKLOAD,
        "%s: collectives of the ranks do not match, so that they wait for each other in a circle; "
        "is this all of one job, and of the same step?",
        describe(b, at));
}

dse_status whatif_build(const whatif_recording *r, dse_arena *a, whatif_recorded *out, dse_error *err)
{
    whatif_builder b = {.from = r, .graph = &out->graph, .arena = a};
    dse_status st;

    *out = (whatif_recorded){0};
    dse_arena_init(&b.scratch);
    st = build(&b, out, err);
    dse_arena_free(&b.scratch);
    return st;
}
