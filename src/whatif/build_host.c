/* Threads of the host: what runs one after the other, and calls that wait for the GPU. */
#include "whatif/build_parts.h"

#include "metrics/order.h"

#include <string.h>

/* A launch that lasts so long, with so many before it that have not run, waits for room in the queue. */
#define LONG_LAUNCH_PS (1000 * (int64_t)TRACE_PS_PER_US)
#define FULL_QUEUE     1000

typedef struct {
    whatif_builder *b;
    const whatif_rank *r;
    uint32_t *last_call;     /* by thread; DSE_NONE */
    uint32_t *last_launched; /* on a GPU, by thread and by stream, as both are lanes; DSE_NONE */
    uint32_t *own;           /* by operation, from the rank's first: what a call launched */
} host;

static const char *name_of(const host *h, uint32_t op)
{
    const trace_rank *rank = h->r->view->rank;

    return METRIC_TEXT_OF(rank, &rank->event[h->b->graph->op[op].event]);
}

bool whatif_is_blocking(const char *name)
{
    return metric_says(name, "devicesynchronize|streamsynchronize|eventsynchronize|ctxsynchronize");
}

/* The latest call of another thread that was over before `until` and not before `after`; DSE_NONE. */
static uint32_t other_thread(const host *h, uint32_t lane, int64_t after, int64_t until)
{
    const whatif_op *op = h->b->graph->op;
    uint32_t found = DSE_NONE;

    for (uint32_t l = 0; l < h->r->view->rank->n_lanes; l++) {
        uint32_t c = h->last_call[l];

        if (l != lane && c != DSE_NONE && op[c].end <= until && op[c].end >= after &&
            (found == DSE_NONE || op[c].end > op[found].end))
            found = c;
    }
    return found;
}

/* What comes next on a thread at `start`: after what was before it there; or, if it rested, after what
 * another thread did meanwhile, which is taken to have woken it. */
static void follow(const host *h, uint32_t lane, int64_t start, uint32_t to)
{
    const whatif_graph *g = h->b->graph;
    uint32_t last = h->last_call[lane], waker = DSE_NONE,
             from = last != DSE_NONE ? whatif_end(last) : whatif_step_begin(g, h->r->rank);
    int64_t since = last != DSE_NONE ? g->op[last].end : g->step[h->r->rank].begin;

    if (start - since > WHATIF_IDLE_PS || (last == DSE_NONE && lane != h->r->main_lane))
        waker = other_thread(h, lane, since, start);
    whatif_link(h->b, from, to, waker == DSE_NONE ? start - since : 0, WHATIF_HOST, DSE_NONE);
    if (waker != DSE_NONE)
        whatif_link(h->b, whatif_end(waker), to, start - g->op[waker].end, WHATIF_HOST, DSE_NONE);
}

/* The operation of the GPU that a call waited for while it lasted; DSE_NONE: for none. */
static uint32_t awaited(const host *h, uint32_t call, uint32_t n_launched)
{
    const whatif_graph *g = h->b->graph;
    const whatif_op *c = &g->op[call];
    uint32_t own = h->own[call - g->step[h->r->rank].first_op], w = DSE_NONE;
    const char *name = name_of(h, call);

    if (own != DSE_NONE && g->op[own].kind == WHATIF_COPY && metric_says(name, "memcpy"))
        return g->op[own].end <= c->end + WHATIF_ROUND_PS ? own : DSE_NONE;
    if (whatif_is_blocking(name))
        w = whatif_last_ended(h->b, h->r, c->start, c->end + WHATIF_ROUND_PS);
    else if (c->end - c->start > LONG_LAUNCH_PS && n_launched >= FULL_QUEUE) {
        size_t n;

        METRIC_BISECT(n, 0, h->r->n_gpu, g->op[h->r->by_end[n]].end <= c->start);
        if (n_launched - n >= FULL_QUEUE)
            w = whatif_last_ended(h->b, h->r, c->start, c->end);
    }
    if (w == DSE_NONE || g->op[w].launch == DSE_NONE || g->op[w].launch == call)
        return w;
    return g->op[g->op[w].launch].start < c->start ? w : DSE_NONE;
}

static bool waits_for_all(const host *h, uint32_t call)
{
    return metric_says(name_of(h, call), "devicesynchronize|ctxsynchronize");
}

/* A call that synchronises would wait, if the GPU were slower, also for what had ended by `until`: when the
 * call began, or what it waited for ended. It is what was launched last before it, by this thread or, if it
 * waits for the device, on each stream. */
static void would_wait(const host *h, uint32_t call, int64_t until, int64_t rest)
{
    const whatif_op *op = h->b->graph->op;

    for (uint32_t l = 0; l < h->r->view->rank->n_lanes; l++) {
        uint32_t w = waits_for_all(h, call) || l == op[call].lane ? h->last_launched[l] : DSE_NONE;

        if (w != DSE_NONE && op[w].end <= until + WHATIF_ROUND_PS)
            whatif_link(h->b, whatif_end(w), whatif_end(call), rest, WHATIF_HOST, DSE_NONE);
    }
}

static void add_call(const host *h, uint32_t call, uint32_t n_launched)
{
    const whatif_op *op = h->b->graph->op, *c = &op[call];
    uint32_t w = awaited(h, call, n_launched);
    int64_t rest = w == DSE_NONE ? c->end - c->start : c->end - op[w].end;

    whatif_link(h->b, whatif_begin(call), whatif_end(call),
                rest < c->end - c->start ? rest : c->end - c->start, WHATIF_HOST, DSE_NONE);
    if (w != DSE_NONE)
        whatif_link(h->b, whatif_end(w), whatif_end(call), rest, WHATIF_HOST, DSE_NONE);
    if (whatif_is_blocking(name_of(h, call)) && (w == DSE_NONE || waits_for_all(h, call)))
        would_wait(h, call, w == DSE_NONE ? c->start : op[w].end, rest);
}

void whatif_build_host(whatif_builder *b, const whatif_rank *r)
{
    const whatif_graph *g = b->graph;
    const whatif_step *s = &g->step[r->rank];
    uint32_t n_lanes = r->view->rank->n_lanes, next = 0;
    host h = {b, r, DSE_ARENA_RAW(&b->scratch, uint32_t, n_lanes),
              DSE_ARENA_RAW(&b->scratch, uint32_t, n_lanes), DSE_ARENA_RAW(&b->scratch, uint32_t, s->n_ops)};

    memset(h.last_call, 0xff, n_lanes * sizeof *h.last_call);
    memset(h.last_launched, 0xff, n_lanes * sizeof *h.last_launched);
    memset(h.own, 0xff, s->n_ops * sizeof *h.own);
    for (uint32_t i = 0; i < r->n_launched; i++)
        h.own[g->op[r->by_launch[i]].launch - s->first_op] = r->by_launch[i];
    for (uint32_t i = 0; i < r->n_calls; i++) {
        const whatif_op *c = &g->op[r->call[i]];

        for (; next < r->n_launched && g->op[g->op[r->by_launch[next]].launch].start < c->start; next++) {
            const whatif_op *o = &g->op[r->by_launch[next]];

            h.last_launched[o->lane] = h.last_launched[g->op[o->launch].lane] = r->by_launch[next];
        }
        follow(&h, c->lane, c->start, whatif_begin(r->call[i]));
        add_call(&h, r->call[i], next);
        h.last_call[c->lane] = r->call[i];
    }
    if (r->main_lane != DSE_NONE)
        follow(&h, r->main_lane, s->end, whatif_step_end(g, r->rank));
}
