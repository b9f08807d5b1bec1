#include "metrics/tpu_ops.h"

#include "base/array.h"
#include "metrics/events.h"
#include "metrics/hlo.h"
#include "metrics/order.h"
#include "trace/pairs.h"

#include <ctype.h>
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

/* ---- what an instruction is ---------------------------------------------------------------- */

/* An instruction, which a trace repeats with the same args and name. */
typedef struct {
    bool wraps; /* while, call, conditional */
    uint8_t work, comm;
    int phase;              /* HLO_START, HLO_DONE, 0 */
    uint32_t self, operand; /* names of instructions, in the builder's; DSE_NONE */
    uint32_t group;
    uint64_t bytes;
} instruction;

/* A word for what it does, without "-start" or "-done", and which of them it had. */
typedef struct {
    char text[64];
    int phase;
} op_word;

static op_word op_of(hlo_word w)
{
    op_word op;

    w = hlo_strip(w, &op.phase);
    snprintf(op.text, sizeof op.text, "%.*s", w.n < sizeof op.text ? (int)w.n : 0, w.n ? w.at : "");
    return op;
}

static bool is_async(const op_word *op) { return !*op->text || strcmp(op->text, "async") == 0; }

/* The words are tried in turn: the first that names a collective decides; else the first that is there. */
static void classify(instruction *x, const op_word *op, size_t n)
{
    const op_word *first = NULL;

    for (const op_word *w = op; w < op + n; w++) {
        for (int c = 0; c < TPU_COMMS; c++)
            if (strcmp(comms[c].name, w->text) == 0) {
                x->work = TPU_COMMUNICATION;
                x->comm = (uint8_t)c;
                return;
            }
        first = !first && *w->text ? w : first;
        x->wraps = x->wraps || (!w->phase && metric_is_among("while|call|conditional", w->text));
    }
    x->work = first && (first->phase || metric_says(first->text, "=^copy|=^infeed$|=^outfeed$"))
                  ? TPU_MEMORY
                  : TPU_COMPUTE;
}

typedef struct {
    const trace_rank *r;
    dse_arena *a; /* of the result */
    dse_arena scratch;
    trace_pairs known; /* by args and name: the place of an instruction */
    size_t n_instructions, cap_instructions;
    instruction *instruction;
    trace_names names; /* of instructions */
    trace_pairs start; /* by name of an instruction and device: its last start, which waits for its done */
    /* By lane: the place of its device, DSE_NONE if it holds no operations of one; and what line it is, a
     * number that is the same for lanes whose events may nest. */
    uint32_t *device, *line;
    bool timed_only; /* no process is named a device: operations are the events that have a device duration */
    tpu_rank *out;
} builder;

static uint32_t name_id(builder *b, hlo_word w)
{
    return w.n ? trace_names_add(&b->names, w.at, w.n) : DSE_NONE;
}

static instruction ask(builder *b, const trace_event *e)
{
    const trace_args *args = metric_args_of(b->r, e);
    const char *text = args ? TRACE_NAME(b->r, args->long_name) : NULL;
    const hlo_instruction h = hlo_parse(text);
    const hlo_word self = h.name.n ? h.name : hlo_word_of(TRACE_NAME(b->r, e->name));
    op_word op[3] = {op_of(hlo_word_of(args ? TRACE_NAME(b->r, args->hlo_category) : NULL)), op_of(h.opcode)};
    instruction x = {.bytes = hlo_shape_bytes(args ? TRACE_NAME(b->r, args->shape) : NULL),
                     .group = hlo_group_size(text)};

    /* "async-start" does not tell what it starts, and a file may have no text at all: then the name
     * decides. */
    if (is_async(&op[0]) && is_async(&op[1]))
        op[2] = op_of(hlo_base(self));
    x.phase = op[1].phase ? op[1].phase : op[0].phase ? op[0].phase : op[2].phase;
    classify(&x, op, DSE_COUNT(op));
    x.self = name_id(b, self);
    x.operand = name_id(b, h.operand);
    return x;
}

static const instruction *instruction_of(builder *b, const trace_event *e)
{
    bool is_new;
    uint32_t *place = trace_pairs_at(&b->known, e->args, e->name, &is_new);

    if (is_new) {
        *place = (uint32_t)b->n_instructions++;
        DSE_ARENA_GROW(&b->scratch, b->instruction, b->cap_instructions, b->n_instructions);
        b->instruction[*place] = ask(b, e);
    }
    return &b->instruction[*place];
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
    const instruction *x = instruction_of(b, &b->r->event[c->event]);
    const bool comm = x->work == TPU_COMMUNICATION, done = comm && x->phase == HLO_DONE;
    const uint32_t name = done ? start_of(b, x) : comm ? x->self : DSE_NONE;
    uint32_t *start = NULL;
    bool is_new;

    if (x->wraps)
        return;
    if (name != DSE_NONE)
        start = trace_pairs_at(&b->start, name, device, &is_new);
    if (done && start && *start != DSE_NONE) {
        tpu_op *op = &d->op[*start];

        op->span.end = c->span.end > op->span.end ? c->span.end : op->span.end;
        if (x->bytes != HLO_UNKNOWN && x->bytes) /* a start's shape is operands and results */
            op->bytes = x->bytes;
        *start = DSE_NONE;
        return;
    }
    if (start && !done)
        *start = (uint32_t)d->n;
    d->op[d->n++] = (tpu_op){c->event, c->span, x->bytes, x->group, x->work, x->comm, 0};
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

/* The unions of which an operation is part, a bit each: of all, of those with FLOPs, of a kind of work, of a
 * collective. */
enum { IN_BUSY = 1 << 0, IN_FLOPS = 1 << 1, IN_WORK = 1 << 2, IN_COMM = 1 << 5 };

static metric_spans union_of(const tpu_device *d, unsigned which, dse_arena *a)
{
    metric_span *span;
    size_t n = 0;

    for (size_t i = 0; i < d->n; i++)
        n += (d->op[i].unions & which) != 0;
    span = DSE_ARENA_NEW(a, metric_span, n);
    n = 0;
    for (size_t i = 0; i < d->n; i++)
        if (d->op[i].unions & which)
            span[n++] = d->op[i].span;
    return metric_spans_merge(span, n);
}

static void sum_device(const trace_rank *r, dse_arena *a, tpu_device *d)
{
    d->span = METRIC_NO_SPAN;
    for (size_t i = 0; i < d->n; i++) {
        tpu_op *op = &d->op[i];
        const trace_args *args = metric_args_of(r, &r->event[op->event]);
        const double flops = args && isfinite(args->model_flops) ? args->model_flops : 0;

        metric_span_extend(&d->span, op->span.start, op->span.end);
        d->flops += flops > 0 ? flops : 0;
        op->unions = (uint16_t)(IN_BUSY | (flops > 0 ? IN_FLOPS : 0) | IN_WORK << op->work |
                                (op->work == TPU_COMMUNICATION ? IN_COMM << op->comm : 0));
        if (op->work == TPU_COMMUNICATION) {
            d->n_comm[op->comm]++;
            d->n_comms++;
        }
    }
    for (tpu_comm c = 0; c < TPU_COMMS; c++)
        if (d->n_comm[c])
            d->of_comm[c] = union_of(d, (unsigned)IN_COMM << c, a);
    d->busy = union_of(d, IN_BUSY, a);
    d->compute = union_of(d, IN_WORK << TPU_COMPUTE, a);
    d->comm = union_of(d, IN_WORK << TPU_COMMUNICATION, a);
    d->memory = union_of(d, IN_WORK << TPU_MEMORY, a);
    d->with_flops = union_of(d, IN_FLOPS, a);
}

/* ---- devices ------------------------------------------------------------------------------- */

const char *tpu_process_of(const trace_rank *r, uint32_t lane)
{
    const char *process = TRACE_NAME(r, r->lane[lane].process_name);

    return process ? process : "";
}

/* k of exactly "/device:TPU:<k>"; DSE_NONE. */
static uint32_t plane_number(const char *process)
{
    const char *s = process + strlen(TPU_PLANE);
    unsigned long n;
    char *end;

    if (!metric_begins(process, TPU_PLANE))
        return DSE_NONE;
    n = strtoul(s, &end, 10);
    return isdigit((unsigned char)*s) && !*end && n < DSE_NONE ? (uint32_t)n : DSE_NONE;
}

/* The device of a process, by pid; a new one if need be. */
static void set_device(builder *b, trace_pairs *devices, uint32_t lane, uint32_t number, bool is_line)
{
    bool is_new;
    uint32_t *place = trace_pairs_at(devices, b->r->lane[lane].pid, 0, &is_new);

    if (is_new) {
        *place = b->out->n++;
        b->out->device[*place].number = number;
        b->out->device[*place].pid = b->r->lane[lane].pid;
    }
    b->device[lane] = *place;
    b->line[lane] = is_line ? lane : b->r->n_lanes + *place;
}

/* The lanes of device planes: those called "XLA Ops"; of a plane that names no line, all. */
static void find_planes(builder *b, trace_pairs *devices)
{
    const trace_rank *r = b->r;
    trace_pairs named = {0}; /* processes that name their lines */
    bool is_new;

    for (uint32_t i = 0; i < r->n_lanes; i++)
        if (r->lane[i].thread != DSE_NONE)
            trace_pairs_at(&named, r->lane[i].pid, 0, &is_new);
    for (uint32_t i = 0; i < r->n_lanes; i++) {
        const char *thread = TRACE_NAME(r, r->lane[i].thread);
        const uint32_t number = plane_number(tpu_process_of(r, i));
        const bool is_named = trace_pairs_find_place(&named, r->lane[i].pid, 0) != DSE_NONE;

        if (number != DSE_NONE && (is_named ? thread && strcmp(thread, "XLA Ops") == 0 : !thread))
            set_device(b, devices, i, number, is_named);
    }
    trace_pairs_free(&named);
}

/* Without planes: processes with events that have a device duration. Their lines are unknown, so an event
 * that holds another event of the process is no leaf. */
static void find_processes(builder *b, trace_pairs *devices)
{
    for (size_t i = 0; i < b->r->n_events; i++) {
        const uint32_t lane = b->r->event[i].lane;

        if (b->device[lane] == DSE_NONE && trace_device_time_of(b->r, i).dur_ps >= 0)
            set_device(b, devices, lane, b->out->n, false);
    }
}

static void find_devices(builder *b)
{
    const trace_rank *r = b->r;
    trace_pairs devices = {0};

    b->out->device = DSE_ARENA_NEW(b->a, tpu_device, r->n_lanes);
    b->device = DSE_ARENA_NEW(&b->scratch, uint32_t, r->n_lanes);
    b->line = DSE_ARENA_NEW(&b->scratch, uint32_t, r->n_lanes);
    memset(b->device, 0xff, r->n_lanes * sizeof *b->device);
    find_planes(b, &devices);
    b->timed_only = !b->out->n && r->device_time;
    if (b->timed_only)
        find_processes(b, &devices);
    trace_pairs_free(&devices);
}

/* ---- all ------------------------------------------------------------------------------------ */

/* The device that an event ran on; DSE_NONE. */
static uint32_t device_of(const builder *b, size_t event)
{
    const trace_event *e = &b->r->event[event];

    return e->instant || (b->timed_only && trace_device_time_of(b->r, event).dur_ps < 0) ? DSE_NONE
                                                                                         : b->device[e->lane];
}

/* The events of each device, which may be as many as these. */
static void fill_devices(builder *b)
{
    const trace_rank *r = b->r;
    uint32_t n = b->out->n, device;
    size_t *end = DSE_ARENA_NEW(&b->scratch, size_t, (size_t)n + 1), begin = 0; /* by device */
    candidate *c = DSE_ARENA_NEW(&b->scratch, candidate, r->n_events);

    for (size_t i = 0; i < r->n_events; i++)
        if ((device = device_of(b, i)) != DSE_NONE)
            end[device + 1]++;
    for (uint32_t d = 0; d < n; d++)
        end[d + 1] += end[d];
    for (size_t i = 0; i < r->n_events; i++)
        if ((device = device_of(b, i)) != DSE_NONE)
            c[end[device]++] = (candidate){.line = b->line[r->event[i].lane], .event = (uint32_t)i};
    for (uint32_t d = 0; d < n; begin = end[d++]) {
        fill_device(b, d, c + begin, end[d] - begin);
        sum_device(r, b->a, &b->out->device[d]);
    }
}

METRIC_COMPARE(by_number, tpu_device, {x->number, y->number}, {x->pid, y->pid})

/* Devices without an operation are none. */
static void keep_devices(tpu_rank *out)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < out->n; i++)
        if (out->device[i].n)
            out->device[kept++] = out->device[i];
    out->n = kept;
    qsort(out->device, out->n, sizeof *out->device, by_number);
}

void tpu_rank_init(const trace_rank *r, dse_arena *a, tpu_rank *out)
{
    builder b = {.r = r, .a = a, .out = out};

    *out = (tpu_rank){0};
    dse_arena_init(&b.scratch);
    find_devices(&b);
    if (out->n) {
        fill_devices(&b);
        keep_devices(out);
    }
    trace_pairs_free(&b.known);
    trace_pairs_free(&b.start);
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
