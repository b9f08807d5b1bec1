#include "metrics/tpu_ops.h"

#include "metrics/events.h"
#include "metrics/hlo.h"
#include "metrics/order.h"
#include "metrics/tpu_planes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    metric_comm_type type;
} comms[TPU_COMMS] = {
    [TPU_ALL_REDUCE] = {"all-reduce", METRIC_ALL_REDUCE},
    [TPU_ALL_GATHER] = {"all-gather", METRIC_ALL_GATHER},
    [TPU_REDUCE_SCATTER] = {"reduce-scatter", METRIC_REDUCE_SCATTER},
    [TPU_ALL_TO_ALL] = {"all-to-all", METRIC_ALL_TO_ALL},
    [TPU_RAGGED_ALL_TO_ALL] = {"ragged-all-to-all", METRIC_ALL_TO_ALL},
    [TPU_COLLECTIVE_PERMUTE] = {"collective-permute", METRIC_OTHER_COMM},
    [TPU_COLLECTIVE_BROADCAST] = {"collective-broadcast", METRIC_BROADCAST},
    [TPU_SEND] = {"send", METRIC_SEND_RECV},
    [TPU_RECV] = {"recv", METRIC_SEND_RECV},
};

const char *tpu_comm_name(tpu_comm c) { return comms[c].name; }

metric_comm_type tpu_comm_type(tpu_comm c) { return comms[c].type; }

static int comm_of(hlo_word w)
{
    for (int i = 0; i < TPU_COMMS; i++)
        if (hlo_is(w, comms[i].name))
            return i;
    return -1;
}

/* ---- what an instruction is ---------------------------------------------------------------- */

/* An instruction. A trace repeats it with the same args, so it is classified once per args. */
typedef struct {
    bool asked;
    bool complete; /* its args name it; else its event does */
    bool wraps;    /* while, call, conditional */
    uint8_t work, comm;
    uint8_t phase;          /* HLO_START, HLO_DONE, 0 */
    uint32_t self, operand; /* names of instructions, in the builder's; DSE_NONE */
    uint32_t group;
    uint64_t bytes;
} instruction;

static tpu_work work_of(hlo_word what)
{
    static const char *const moves[] = {"infeed", "outfeed"};
    int phase;

    hlo_strip(what, &phase);
    if (phase || (what.n >= strlen("copy") && memcmp(what.at, "copy", strlen("copy")) == 0))
        return TPU_MEMORY;
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++)
        if (hlo_is(what, moves[i]))
            return TPU_MEMORY;
    return TPU_COMPUTE;
}

/* The words are tried in turn: the first that names a collective decides; else the first that is there. */
static void classify(instruction *x, const hlo_word *word, size_t n)
{
    static const char *const wrappers[] = {"while", "call", "conditional"};
    hlo_word first = {0};

    for (size_t i = 0; i < n; i++) {
        int phase, comm = word[i].n ? comm_of(hlo_strip(word[i], &phase)) : -1;

        if (comm >= 0) {
            x->work = TPU_COMMUNICATION;
            x->comm = (uint8_t)comm;
            x->phase = x->phase ? x->phase : (uint8_t)phase;
            return;
        }
        if (!first.n)
            first = word[i];
        for (size_t w = 0; w < sizeof wrappers / sizeof wrappers[0]; w++)
            x->wraps = x->wraps || hlo_is(word[i], wrappers[w]);
    }
    x->work = first.n ? (uint8_t)work_of(first) : TPU_COMPUTE;
}

/* A start that waits for its done: the last of its name, on the device that it ran on. */
typedef struct {
    uint32_t device, op; /* DSE_NONE */
} waiting;

typedef struct {
    const trace_rank *r;
    dse_arena *a; /* of the result */
    dse_arena scratch;
    instruction *by_args;
    trace_names names; /* of instructions */
    tpu_lanes lanes;
    waiting *start; /* by name of an instruction */
    size_t cap_start;
    tpu_rank *out;
} builder;

static uint32_t name_id(builder *b, hlo_word w)
{
    return w.n ? trace_names_add(&b->names, w.at, w.n) : DSE_NONE;
}

static bool is_async(hlo_word w)
{
    int phase;

    return !w.n || hlo_is(hlo_strip(w, &phase), "async");
}

static void ask(builder *b, const trace_args *args, const char *name, instruction *x)
{
    const char *text = args ? TRACE_NAME(b->r, args->long_name) : NULL,
               *shape = args ? TRACE_NAME(b->r, args->shape) : NULL;
    hlo_instruction h = hlo_parse(text);
    hlo_word word[3] = {hlo_word_of(args ? TRACE_NAME(b->r, args->hlo_category) : NULL), h.opcode};
    hlo_word self = h.name.n ? h.name : hlo_word_of(name);
    int phase = 0, of_category = 0;

    *x = (instruction){.asked = true, .bytes = hlo_shape_bytes(shape), .group = hlo_group_size(text)};
    x->complete = h.name.n > 0;
    hlo_strip(word[0], &of_category);
    hlo_strip(h.opcode, &phase);
    phase = phase ? phase : of_category;
    /* "async-start" does not tell what it starts, and a file may have no text at all: then the name
     * decides. */
    if (is_async(word[0]) && is_async(h.opcode)) {
        word[2] = hlo_base(self);
        if (!phase)
            hlo_strip(word[2], &phase);
    }
    x->phase = (uint8_t)phase;
    classify(x, word, sizeof word / sizeof word[0]);
    x->self = name_id(b, self);
    x->operand = name_id(b, h.operand);
}

/* ---- operations ---------------------------------------------------------------------------- */

typedef struct {
    metric_span span;
    uint32_t line, event;
} candidate;

/* Orders by line, then start; of equal starts the longest first, since it may hold the others. */
METRIC_COMPARE(by_line, candidate, {x->line, y->line}, {x->span.start, y->span.start},
               {y->span.end, x->span.end}, {x->event, y->event})

/* Keeps the leaves of n candidates in this order, and returns how many. A candidate that holds another is
 * followed by one that ends no later, so the least end of those that follow decides. Neighbours that
 * overlap by a picosecond of rounding do not hold each other, and an event without duration makes no other
 * a parent. */
static size_t keep_leaves(candidate *c, size_t n)
{
    size_t kept = n;
    int64_t least = INT64_MAX;
    uint32_t line = DSE_NONE;

    for (size_t i = n; i-- > 0;) {
        bool leaf;

        if (c[i].line != line)
            least = INT64_MAX;
        line = c[i].line;
        leaf = c[i].span.end == c[i].span.start || least > c[i].span.end;
        if (c[i].span.end > c[i].span.start && c[i].span.end < least)
            least = c[i].span.end;
        if (leaf)
            c[--kept] = c[i];
    }
    memmove(c, c + kept, (n - kept) * sizeof *c);
    return n - kept;
}

METRIC_COMPARE(by_start, candidate, {x->span.start, y->span.start}, {x->event, y->event})

static const char *event_name(const trace_rank *r, const trace_event *e)
{
    return e->name == DSE_NONE ? NULL : r->names.text[e->name];
}

static const instruction *instruction_of(builder *b, const trace_event *e, instruction *own)
{
    instruction *x = e->args == DSE_NONE ? own : &b->by_args[e->args];

    if (e->args == DSE_NONE || !x->asked)
        ask(b, metric_args_of(b->r, e), event_name(b->r, e), x);
    if (x->complete || x == own)
        return x;
    ask(b, &b->r->args[e->args], event_name(b->r, e), own);
    return own;
}

/* The start that a done refers to; without a text, by its own name. */
static uint32_t start_of(builder *b, const instruction *done)
{
    char name[256];
    const char *self, *at;
    int n;

    if (done->operand != DSE_NONE || done->self == DSE_NONE)
        return done->operand;
    self = b->names.text[done->self];
    if (!(at = strstr(self, "-done")))
        return DSE_NONE;
    n = snprintf(name, sizeof name, "%.*s-start%s", (int)(at - self), self, at + strlen("-done"));
    return n > 0 && (size_t)n < sizeof name ? trace_names_find(&b->names, name) : DSE_NONE;
}

/* Adds an operation, or lets the start that it ends last until its end. */
static void add_op(builder *b, uint32_t device, const candidate *c)
{
    tpu_device *d = &b->out->device[device];
    instruction own = {0};
    const instruction *x = instruction_of(b, &b->r->event[c->event], &own);
    size_t old = b->cap_start;
    uint32_t start = DSE_NONE;

    if (x->wraps)
        return;
    DSE_GROW(b->start, b->cap_start, (size_t)b->names.n + 1);
    memset(b->start + old, 0xff, (b->cap_start - old) * sizeof *b->start);
    if (x->work == TPU_COMMUNICATION && x->phase == HLO_DONE)
        start = start_of(b, x);
    if (start != DSE_NONE && b->start[start].device == device) {
        tpu_op *op = &d->op[b->start[start].op];

        op->span.end = c->span.end > op->span.end ? c->span.end : op->span.end;
        if (x->bytes != HLO_UNKNOWN && x->bytes) /* a start's shape is operands and results */
            op->bytes = x->bytes;
        b->start[start].device = DSE_NONE;
        return;
    }
    if (x->work == TPU_COMMUNICATION && x->phase != HLO_DONE && x->self != DSE_NONE)
        b->start[x->self] = (waiting){device, (uint32_t)d->n};
    d->op[d->n++] = (tpu_op){c->event, c->span, x->bytes, x->group, x->work, x->comm};
}

/* Takes times from the device's clock, unless one of its operations has no time on it. */
static void time_candidates(const trace_rank *r, candidate *c, size_t n)
{
    bool own = r->device_time != NULL;

    for (size_t i = 0; i < n && own; i++) {
        trace_device_time t = trace_device_time_of(r, c[i].event);
        own = t.dur_ps >= 0 && t.offset_ps >= 0;
    }
    for (size_t i = 0; i < n; i++) {
        const trace_event *e = &r->event[c[i].event];
        trace_device_time t = own ? r->device_time[c[i].event] : (trace_device_time){e->start_ps, e->dur_ps};

        c[i].span = (metric_span){t.offset_ps, t.offset_ps + t.dur_ps};
    }
}

static void fill_device(builder *b, uint32_t device, candidate *c, size_t n)
{
    time_candidates(b->r, c, n);
    if (n) {
        qsort(c, n, sizeof *c, by_line);
        n = keep_leaves(c, n);
        qsort(c, n, sizeof *c, by_start);
    }
    b->out->device[device].op = DSE_ARENA_NEW(b->a, tpu_op, n);
    for (size_t i = 0; i < n; i++)
        add_op(b, device, &c[i]);
}

/* ---- times --------------------------------------------------------------------------------- */

static double flops_of(const trace_rank *r, const tpu_op *op)
{
    uint32_t args = r->event[op->event].args;
    double flops = args == DSE_NONE ? 0 : r->args[args].model_flops;

    return flops > 0 && isfinite(flops) ? flops : 0;
}

/* The unions of which an operation is part, a bit each: of all, of a kind of work, of a collective, of
 * those with FLOPs. */
enum { IN_BUSY = 1 << 0, IN_FLOPS = 1 << 1, IN_WORK = 1 << 2, IN_COMM = 1 << 5 };

static unsigned unions_of(const trace_rank *r, const tpu_op *op)
{
    return IN_BUSY | (flops_of(r, op) > 0 ? IN_FLOPS : 0) | (unsigned)IN_WORK << op->work |
           (op->work == TPU_COMMUNICATION ? (unsigned)IN_COMM << op->comm : 0);
}

static metric_spans union_of(const trace_rank *r, const tpu_device *d, unsigned which, dse_arena *a)
{
    metric_span *span;
    size_t n = 0;

    for (size_t i = 0; i < d->n; i++)
        n += (unions_of(r, &d->op[i]) & which) != 0;
    span = DSE_ARENA_NEW(a, metric_span, n);
    n = 0;
    for (size_t i = 0; i < d->n; i++)
        if (unions_of(r, &d->op[i]) & which)
            span[n++] = d->op[i].span;
    return metric_spans_merge(span, n);
}

static void sum_device(const trace_rank *r, dse_arena *a, tpu_device *d)
{
    d->span = METRIC_NO_SPAN;
    for (size_t i = 0; i < d->n; i++) {
        const tpu_op *op = &d->op[i];

        metric_span_extend(&d->span, op->span.start, op->span.end);
        d->flops += flops_of(r, op);
        if (op->work == TPU_COMMUNICATION) {
            d->n_comm[op->comm]++;
            d->n_comms++;
        }
    }
    for (tpu_comm c = 0; c < TPU_COMMS; c++)
        if (d->n_comm[c])
            d->of_comm[c] = union_of(r, d, (unsigned)IN_COMM << c, a);
    d->busy = union_of(r, d, IN_BUSY, a);
    d->compute = union_of(r, d, IN_WORK << TPU_COMPUTE, a);
    d->comm = union_of(r, d, IN_WORK << TPU_COMMUNICATION, a);
    d->memory = union_of(r, d, IN_WORK << TPU_MEMORY, a);
    d->with_flops = union_of(r, d, IN_FLOPS, a);
}

/* ---- all ------------------------------------------------------------------------------------ */

/* The device that an event ran on; DSE_NONE. */
static uint32_t device_of(const builder *b, size_t event)
{
    const trace_event *e = &b->r->event[event];

    return e->instant || (b->lanes.timed_only && trace_device_time_of(b->r, event).dur_ps < 0)
               ? DSE_NONE
               : b->lanes.device[e->lane];
}

/* The events of each device, which may be as many as these. */
static void fill_devices(builder *b)
{
    const trace_rank *r = b->r;
    uint32_t n = b->out->n;
    size_t *end = DSE_ARENA_NEW(&b->scratch, size_t, (size_t)n + 1), begin = 0; /* by device */
    candidate *c = DSE_ARENA_NEW(&b->scratch, candidate, r->n_events);

    for (size_t i = 0; i < r->n_events; i++)
        if (device_of(b, i) != DSE_NONE)
            end[device_of(b, i) + 1]++;
    for (uint32_t d = 0; d < n; d++)
        end[d + 1] += end[d];
    for (size_t i = 0; i < r->n_events; i++)
        if (device_of(b, i) != DSE_NONE)
            c[end[device_of(b, i)]++] =
                (candidate){.line = b->lanes.line[r->event[i].lane], .event = (uint32_t)i};
    for (uint32_t d = 0; d < n; begin = end[d++]) {
        fill_device(b, d, c + begin, end[d] - begin);
        sum_device(r, b->a, &b->out->device[d]);
    }
}

/* Devices without an operation are none. */
static void drop_empty(tpu_rank *out)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < out->n; i++)
        if (out->device[i].n)
            out->device[kept++] = out->device[i];
    out->n = kept;
}

void tpu_rank_init(const trace_rank *r, dse_arena *a, tpu_rank *out)
{
    builder b = {.r = r, .a = a, .out = out};

    *out = (tpu_rank){0};
    dse_arena_init(&b.scratch);
    b.by_args = DSE_ARENA_NEW(&b.scratch, instruction, (size_t)r->n_args + 1);
    b.lanes = tpu_lanes_of(r, &b.scratch);
    out->n = b.lanes.n;
    out->device = DSE_ARENA_NEW(a, tpu_device, out->n);
    for (uint32_t d = 0; d < out->n; d++) {
        out->device[d].number = b.lanes.plane[d].number;
        out->device[d].pid = b.lanes.plane[d].pid;
    }
    if (out->n)
        fill_devices(&b);
    drop_empty(out);
    dse_free(b.start);
    trace_names_free(&b.names);
    dse_arena_free(&b.scratch);
}

metric_spans tpu_host_time(const tpu_rank *t, const trace_rank *r, dse_arena *a)
{
    size_t n = 0;
    metric_span *span;

    for (uint32_t d = 0; d < t->n; d++)
        n += t->device[d].n;
    span = DSE_ARENA_NEW(a, metric_span, n);
    n = 0;
    for (uint32_t d = 0; d < t->n; d++)
        for (size_t k = 0; k < t->device[d].n; k++) {
            const trace_event *e = &r->event[t->device[d].op[k].event];

            span[n++] = (metric_span){metric_start(e), metric_end(e)};
        }
    return metric_spans_merge_any(span, n);
}
