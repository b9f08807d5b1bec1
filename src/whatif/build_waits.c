/* The GPU: launches, streams, and what streams wait for. */
#include "whatif/build_parts.h"

#include "metrics/order.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_GAP_PS                                                                                         \
    (10 * (int64_t)TRACE_PS_PER_US) /* between kernels that wait for nothing but each other */

static int by_time(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static int64_t median(int64_t *v, uint32_t n)
{
    if (!n)
        return 0;
    qsort(v, n, sizeof *v, by_time);
    return v[(n - 1) / 2];
}

static int64_t launched_at(const whatif_graph *g, uint32_t op) { return g->op[g->op[op].launch].start; }

static uint32_t before(const whatif_builder *b, const whatif_rank *r, uint32_t op)
{
    return r->before[op - b->graph->step[r->rank].first_op];
}

/* Whether the stream had nothing to do when an operation was launched, so that it shows how long a launch
 * takes. */
static bool found_idle(const whatif_builder *b, const whatif_rank *r, uint32_t op)
{
    uint32_t prev = before(b, r, op);

    return b->graph->op[op].launch != DSE_NONE &&
           (prev == DSE_NONE || b->graph->op[prev].end <= launched_at(b->graph, op));
}

static bool is_graph(const whatif_builder *b, const whatif_rank *r, uint32_t op)
{
    const trace_rank *rank = r->view->rank;
    const whatif_op *call = &b->graph->op[b->graph->op[op].launch];

    return metric_says(METRIC_TEXT_OF(rank, &rank->event[call->event]), "graphlaunch");
}

/* Gaps between the operations of a graph are the graph's own, as nothing else starts them; so is the one
 * before it begins, since whatever ended last. */
static void follow_graph(whatif_builder *b, const whatif_rank *r, uint32_t op, uint32_t prev)
{
    const whatif_graph *g = b->graph;
    bool goes_on = prev != DSE_NONE && g->op[prev].launch == g->op[op].launch;
    uint32_t from = goes_on ? prev : whatif_last_ended(b, r, g->op[g->op[op].launch].start, g->op[op].start);

    if (from != DSE_NONE && g->op[from].start < g->op[op].start)
        whatif_link(b, whatif_end(from), whatif_begin(op), g->op[op].start - g->op[from].end, WHATIF_DEVICE,
                    DSE_NONE);
}

/* Whether an operation waited for something that was not recorded, as what ran before the recording began:
 * long after the call that launched it, and nothing on its GPU came to an end meanwhile. */
static bool waits_for_unrecorded(const whatif_builder *b, const whatif_rank *r, uint32_t op)
{
    const whatif_graph *g = b->graph;

    return found_idle(b, r, op) && g->op[op].start - g->op[g->op[op].launch].end > WHATIF_IDLE_PS &&
           whatif_last_ended(b, r, launched_at(g, op), g->op[op].start) == DSE_NONE;
}

/* A launch takes as long as recorded where that can be seen, else as long as is usual; a gap between two
 * operations of a stream is theirs if it is small, else the usual, as something else made it longer. */
void whatif_build_streams(whatif_builder *b, const whatif_rank *r)
{
    const whatif_graph *g = b->graph;
    const whatif_step *s = &g->step[r->rank];
    int64_t *launch = DSE_ARENA_RAW(&b->scratch, int64_t, r->n_gpu),
            *gap = DSE_ARENA_RAW(&b->scratch, int64_t, r->n_gpu), usual_launch, usual_gap;
    uint32_t n_launches = 0, n_gaps = 0;

    for (uint32_t i = 0; i < r->n_gpu; i++) {
        uint32_t op = r->gpu[i], prev = before(b, r, op);
        int64_t since = prev == DSE_NONE ? INT64_MAX : g->op[op].start - g->op[prev].end;

        if (found_idle(b, r, op) && !whatif_communicates(&g->op[op]) && g->op[op].start >= launched_at(g, op))
            launch[n_launches++] = g->op[op].start - launched_at(g, op);
        if (since >= 0 && since <= SMALL_GAP_PS)
            gap[n_gaps++] = since;
    }
    usual_launch = median(launch, n_launches);
    usual_gap = median(gap, n_gaps);
    for (uint32_t i = 0; i < r->n_gpu; i++) {
        uint32_t op = r->gpu[i], prev = before(b, r, op);
        const whatif_op *o = &g->op[op];
        int64_t since = o->start - (prev == DSE_NONE ? s->begin : g->op[prev].end), took;

        if (o->launch == DSE_NONE) { /* nothing says why it began then */
            whatif_link(b, prev == DSE_NONE ? whatif_step_begin(g, r->rank) : whatif_end(prev),
                        whatif_begin(op), since, WHATIF_ORDER, DSE_NONE);
        } else {
            took = o->start - launched_at(g, op);
            if (took > usual_launch && !(found_idle(b, r, op) && took <= WHATIF_CLOSE_PS))
                took = usual_launch;
            whatif_link(b, whatif_begin(o->launch), whatif_begin(op), took, WHATIF_LAUNCH, DSE_NONE);
            if (prev != DSE_NONE)
                whatif_link(b, whatif_end(prev), whatif_begin(op), since <= SMALL_GAP_PS ? since : usual_gap,
                            WHATIF_DEVICE, DSE_NONE);
            else /* behind what was launched before the step */
                whatif_link(b, whatif_step_begin(g, r->rank), whatif_begin(op),
                            r->busy_until[o->lane] - r->window.start, WHATIF_ORDER, DSE_NONE);
            if (waits_for_unrecorded(b, r, op))
                whatif_link(b, whatif_begin(o->launch), whatif_begin(op), o->start - launched_at(g, op),
                            WHATIF_ORDER, DSE_NONE);
            if (is_graph(b, r, op))
                follow_graph(b, r, op, prev);
        }
        if (o->collective == DSE_NONE)
            whatif_link(b, whatif_begin(op), whatif_end(op), o->end - o->start, WHATIF_RUN, op);
    }
}

/* ---- waits --------------------------------------------------------------------------------- */

/* A host operation about communication: it issues one, or it waits for one. */
typedef struct {
    uint32_t lane;
    int64_t start, end;
    bool issues;
} comm_op;

/* A call by which a stream waits for another. */
typedef struct {
    int64_t at;
    uint32_t lane, event;
    uint32_t target; /* the operation it waits for, found when the next is launched; DSE_NONE */
} stream_wait;

typedef struct {
    whatif_builder *b;
    const whatif_rank *r;
    uint32_t n_comm_ops, n_waits;
    comm_op *comm_op;
    stream_wait *wait;
    uint32_t n_issued, n_awaited, *issued; /* communications in the order of their launches; awaited so far */
    uint32_t n_streams, *stream, *latest;  /* streams, and what was launched last on each */
} waits;

METRIC_COMPARE(by_thread, comm_op, {x->lane, y->lane}, {x->start, y->start}, {y->end, x->end})
METRIC_COMPARE(by_call, stream_wait, {x->at, y->at}, {x->event, y->event})

/* The outermost host operation about communication around a call; NULL. */
static const comm_op *around(const waits *w, uint32_t lane, int64_t at)
{
    size_t i;

    METRIC_BISECT(i, 0, w->n_comm_ops,
                  w->comm_op[i].lane < lane || (w->comm_op[i].lane == lane && w->comm_op[i].start <= at));
    return i && w->comm_op[i - 1].lane == lane && w->comm_op[i - 1].end > at ? &w->comm_op[i - 1] : NULL;
}

static void find_waits(waits *w)
{
    const whatif_builder *b = w->b;
    const trace_rank *rank = w->r->view->rank;
    const whatif_step *s = &b->graph->step[w->r->rank];
    int64_t shift = s->begin - w->r->window.start;
    uint32_t n = 0;

    w->comm_op = DSE_ARENA_RAW(&w->b->scratch, comm_op, rank->n_events);
    w->wait = DSE_ARENA_RAW(&w->b->scratch, stream_wait, rank->n_events);
    for (uint32_t i = 0; i < rank->n_events; i++) {
        const trace_event *e = &rank->event[i];
        const char *name = METRIC_TEXT_OF(rank, e);
        int64_t at = e->start_ps + shift;

        if (at < s->begin || at >= s->end)
            continue;
        if (e->category == TRACE_RUNTIME || e->category == TRACE_DRIVER) {
            if (metric_says(name, "streamwaitevent"))
                w->wait[w->n_waits++] = (stream_wait){at, e->lane, i, DSE_NONE};
        } else if ((e->category == TRACE_CPU_OP || e->category == TRACE_ANNOTATION) &&
                   metric_says(name, "=^record_param_comms|=^nccl:|=^c10d::")) {
            w->comm_op[n++] = (comm_op){e->lane, at, at + e->dur_ps, false};
        }
    }
    if (n)
        qsort(w->comm_op, n, sizeof *w->comm_op, by_thread);
    if (w->n_waits)
        qsort(w->wait, w->n_waits, sizeof *w->wait, by_call);
    for (uint32_t i = 0; i < n; i++) { /* keep the outermost */
        comm_op c = w->comm_op[i], *last = w->n_comm_ops ? &w->comm_op[w->n_comm_ops - 1] : NULL;

        if (!last || last->lane != c.lane || c.start >= last->end)
            w->comm_op[w->n_comm_ops++] = c;
    }
    for (uint32_t i = 0; i < w->r->n_launched; i++) {
        const whatif_op *o = &b->graph->op[w->r->by_launch[i]], *call = &b->graph->op[o->launch];
        const comm_op *c = whatif_communicates(o) ? around(w, call->lane, call->start) : NULL;

        if (c)
            w->comm_op[c - w->comm_op].issues = true;
    }
}

/* The latest launched operation on a stream other than this one; DSE_NONE. */
static uint32_t latest_elsewhere(const waits *w, uint32_t stream)
{
    const whatif_graph *g = w->b->graph;
    uint32_t found = DSE_NONE;

    for (uint32_t i = 0; i < w->n_streams; i++)
        if (w->stream[i] != stream &&
            (found == DSE_NONE || launched_at(g, w->latest[i]) > launched_at(g, found)))
            found = w->latest[i];
    return found;
}

/* A wait for a communication is for the first that nothing has waited for yet, as programs wait in the order
 * in which they issue; any other wait is for what was launched last elsewhere. */
static void take_wait(waits *w, stream_wait *s)
{
    const comm_op *c = around(w, s->lane, s->at);

    if (c && c->issues)
        return; /* of the library that issues it */
    if (w->n_awaited < w->n_issued && (c || !w->n_comm_ops))
        s->target = w->issued[w->n_awaited++];
    else if (!c)
        s->target = latest_elsewhere(w, DSE_NONE);
}

static bool ended_before(const whatif_graph *g, uint32_t from, uint32_t op)
{
    return g->op[from].end <= g->op[op].start + WHATIF_ROUND_PS && from != op;
}

/* Waits of the thread since its last launch are the operation's. */
static void apply_waits(waits *w, uint32_t op, uint32_t first, uint32_t next)
{
    const whatif_graph *g = w->b->graph;
    uint32_t lane = g->op[g->op[op].launch].lane;

    for (uint32_t i = first; i < next; i++) {
        uint32_t from = w->wait[i].target;

        if (w->wait[i].lane != lane || from == DSE_NONE || g->op[from].lane == g->op[op].lane)
            continue;
        if (ended_before(g, from, op))
            whatif_wait(w->b, from, op);
        w->wait[i].target = DSE_NONE;
    }
}

/* An operation that its launch and its stream do not explain waited for what ended shortly before it. */
static void guess_wait(waits *w, uint32_t op)
{
    const whatif_graph *g = w->b->graph;
    const whatif_op *o = &g->op[op];
    uint32_t prev = before(w->b, w->r, op), from;
    int64_t free = prev == DSE_NONE ? INT64_MIN : g->op[prev].end;

    if (o->launch == DSE_NONE || o->start - launched_at(g, op) < WHATIF_CLOSE_PS ||
        (prev != DSE_NONE && o->start - free <= SMALL_GAP_PS))
        return;
    from = whatif_last_ended(w->b, w->r, o->start - WHATIF_CLOSE_PS, o->start);
    if (from != DSE_NONE && from != op && g->op[from].lane != o->lane &&
        g->op[from].end > launched_at(g, op) && g->op[from].start < o->start)
        whatif_wait(w->b, from, op);
}

static void note_launch(waits *w, uint32_t op)
{
    uint32_t i = 0;

    while (i < w->n_streams && w->stream[i] != w->b->graph->op[op].lane)
        i++;
    if (i == w->n_streams)
        w->stream[w->n_streams++] = w->b->graph->op[op].lane;
    w->latest[i] = op;
}

void whatif_build_waits(whatif_builder *b, const whatif_rank *r)
{
    const whatif_graph *g = b->graph;
    uint32_t n_lanes = r->view->rank->n_lanes, next = 0, *first;
    uint32_t *computed = DSE_ARENA_RAW(&b->scratch, uint32_t, n_lanes); /* by thread: launched last */
    waits w = {.b = b, .r = r};

    w.issued = DSE_ARENA_RAW(&b->scratch, uint32_t, r->n_gpu);
    w.stream = DSE_ARENA_RAW(&b->scratch, uint32_t, n_lanes);
    w.latest = DSE_ARENA_RAW(&b->scratch, uint32_t, n_lanes);
    first = DSE_ARENA_NEW(&b->scratch, uint32_t, n_lanes);
    memset(computed, 0xff, n_lanes * sizeof *computed);
    find_waits(&w);
    for (uint32_t i = 0; i < r->n_launched; i++) {
        uint32_t op = r->by_launch[i], lane = g->op[g->op[op].launch].lane;

        for (; next < w.n_waits && w.wait[next].at <= launched_at(g, op); next++)
            take_wait(&w, &w.wait[next]);
        if (whatif_communicates(&g->op[op])) {
            if (computed[lane] != DSE_NONE && g->op[computed[lane]].lane != g->op[op].lane &&
                ended_before(g, computed[lane], op))
                whatif_wait(b, computed[lane], op);
            w.issued[w.n_issued++] = op;
        } else {
            apply_waits(&w, op, first[lane], next);
            first[lane] = next;
            computed[lane] = op;
        }
        guess_wait(&w, op);
        note_launch(&w, op);
    }
}
