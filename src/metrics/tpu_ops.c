#include "metrics/tpu_ops.h"

#include "metrics/hlo.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLANE "/device:TPU:"

static const struct {
    const char *name;
    double reduce, share; /* factor: reduce for both halves of a ring, share 1: (n - 1) / n, 0: once */
} comms[TPU_COMMS] = {
    [TPU_ALL_REDUCE] = {"all-reduce", 2, 1},
    [TPU_ALL_GATHER] = {"all-gather", 1, 1},
    [TPU_REDUCE_SCATTER] = {"reduce-scatter", 1, 1},
    [TPU_ALL_TO_ALL] = {"all-to-all", 1, 1},
    [TPU_RAGGED_ALL_TO_ALL] = {"ragged-all-to-all", 1, 1},
    [TPU_COLLECTIVE_PERMUTE] = {"collective-permute", 1, 0},
    [TPU_COLLECTIVE_BROADCAST] = {"collective-broadcast", 1, 0},
    [TPU_SEND] = {"send", 1, 0},
    [TPU_RECV] = {"recv", 1, 0},
};

const char *tpu_comm_name(tpu_comm c) { return comms[c].name; }

double tpu_bus_factor(tpu_comm c, uint32_t n)
{
    return comms[c].reduce * (comms[c].share != 0 ? (double)(n - 1) / n : 1);
}

static int comm_of(hlo_word w)
{
    for (int i = 0; i < TPU_COMMS; i++)
        if (hlo_is(w, comms[i].name))
            return i;
    return -1;
}

/* ---- what an instruction is ---------------------------------------------------------------- */

/* Of an instruction, which a trace repeats with the same args; so it is asked once for each of those. */
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

typedef struct {
    const trace_rank *r;
    dse_arena *a; /* of the result */
    dse_arena scratch;
    instruction *by_args;
    trace_names names; /* of instructions */
    uint32_t *device_of;
    uint32_t *line_of; /* by lane; events of a line may nest */
    tpu_rank *out;
    bool failed; /* out of memory */
} builder;

static uint32_t name_id(builder *b, hlo_word w)
{
    uint32_t id = w.n ? trace_names_add(&b->names, w.at, w.n) : DSE_NONE;

    b->failed = b->failed || (w.n && id == DSE_NONE);
    return id;
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
    /* "async-start" says nothing of what it starts, and a file may say nothing at all: then the name does. */
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

/* ---- which events -------------------------------------------------------------------------- */

/* A file may name a process on one of its lanes only. */
static const char *process_of(const trace_rank *r, uint32_t lane)
{
    const char *name = TRACE_NAME(r, r->lane[lane].process_name);

    for (uint32_t i = 0; i < r->n_lanes && !name; i++)
        if (r->lane[i].pid == r->lane[lane].pid)
            name = TRACE_NAME(r, r->lane[i].process_name);
    return name;
}

bool *tpu_device_lanes(const trace_rank *r, dse_arena *a)
{
    bool *is = DSE_ARENA_NEW(a, bool, (size_t)r->n_lanes + 1), any = false;

    for (uint32_t i = 0; is && i < r->n_lanes; i++) {
        const char *process = process_of(r, i);

        is[i] = process && strstr(process, PLANE);
        any = any || is[i];
    }
    for (uint32_t i = 0; is && !any && i < r->n_lanes; i++)
        is[i] = true;
    return is;
}

/* k of exactly "/device:TPU:<k>"; DSE_NONE. */
static uint32_t plane_number(const char *process)
{
    const char *s;
    char *end;
    unsigned long n;

    if (!process || strncmp(process, PLANE, strlen(PLANE)) != 0)
        return DSE_NONE;
    s = process + strlen(PLANE);
    n = strtoul(s, &end, 10);
    return isdigit((unsigned char)*s) && !*end && n < DSE_NONE ? (uint32_t)n : DSE_NONE;
}

static uint32_t device_at(tpu_rank *out, uint32_t pid, uint32_t number)
{
    for (uint32_t i = out->n; i-- > 0;)
        if (out->device[i].pid == pid)
            return i;
    out->device[out->n] = (tpu_device){.number = number, .pid = pid};
    return out->n++;
}

static bool is_line(const trace_rank *r, uint32_t lane, const char *name)
{
    const char *thread = TRACE_NAME(r, r->lane[lane].thread);

    return name ? thread && strcmp(thread, name) == 0 : !thread;
}

/* The lanes of device planes: those called "XLA Ops"; of a plane that names no line, all. */
static void find_planes(builder *b)
{
    const trace_rank *r = b->r;

    for (uint32_t i = 0; i < r->n_lanes; i++) {
        uint32_t number = plane_number(process_of(r, i));
        bool named = false;

        if (number == DSE_NONE)
            continue;
        for (uint32_t j = 0; j < r->n_lanes && !named; j++)
            named = r->lane[j].pid == r->lane[i].pid && !is_line(r, j, NULL);
        if (!is_line(r, i, named ? "XLA Ops" : NULL))
            continue;
        b->device_of[i] = device_at(b->out, r->lane[i].pid, number);
        b->line_of[i] = named ? i : r->n_lanes + b->device_of[i];
    }
}

/* Without planes: processes with events that say how long they took on a device. What their lines are is unknown, so
 * what holds another event of the process is no leaf. */
static void find_processes(builder *b)
{
    const trace_rank *r = b->r;

    for (size_t i = 0; i < r->n_events; i++) {
        uint32_t lane = r->event[i].lane;

        if (b->device_of[lane] != DSE_NONE || trace_device_time_of(r, i).dur_ps < 0)
            continue;
        b->device_of[lane] = device_at(b->out, r->lane[lane].pid, b->out->n);
        b->line_of[lane] = r->n_lanes + b->device_of[lane];
    }
}

static int by_number(const void *a, const void *b)
{
    const tpu_device *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

/* Puts the devices into order; their places in device_of and line_of change with them. */
static void sort_devices(builder *b)
{
    const trace_rank *r = b->r;
    tpu_rank *out = b->out;

    if (out->n)
        qsort(out->device, out->n, sizeof *out->device, by_number);
    for (uint32_t i = 0; i < r->n_lanes; i++)
        if (b->device_of[i] != DSE_NONE) {
            b->device_of[i] = device_at(out, r->lane[i].pid, 0);
            if (b->line_of[i] >= r->n_lanes)
                b->line_of[i] = r->n_lanes + b->device_of[i];
        }
}

static bool find_devices(builder *b)
{
    const trace_rank *r = b->r;

    b->device_of = DSE_ARENA_NEW(&b->scratch, uint32_t, (size_t)r->n_lanes + 1);
    b->line_of = DSE_ARENA_NEW(&b->scratch, uint32_t, (size_t)r->n_lanes + 1);
    b->out->device = DSE_ARENA_NEW(b->a, tpu_device, (size_t)r->n_lanes + 1);
    if (!b->device_of || !b->line_of || !b->out->device)
        return false;
    memset(b->device_of, 0xff, r->n_lanes * sizeof *b->device_of);
    find_planes(b);
    if (!b->out->n && r->device_time)
        find_processes(b);
    sort_devices(b);
    return true;
}

/* ---- operations ---------------------------------------------------------------------------- */

typedef struct {
    metric_span span;
    uint32_t line, event;
} candidate;

/* By line, then start; of those that start together the longest first, since it may hold the others. */
static int by_line(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->span.start != y->span.start)
        return x->span.start < y->span.start ? -1 : 1;
    if (x->span.end != y->span.end)
        return x->span.end > y->span.end ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

/* Keeps the leaves of n candidates in this order, and returns how many: what holds another has one after it that ends no
 * later, so the least end of those that follow decides. Neighbours overlap by a picosecond of rounding, which is not
 * holding; an event that lasts no time makes nobody a parent. */
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

static int by_start(const void *a, const void *b)
{
    const candidate *x = a, *y = b;

    if (x->span.start != y->span.start)
        return x->span.start < y->span.start ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

static const char *event_name(const trace_rank *r, const trace_event *e)
{
    return e->name == DSE_NONE ? NULL : r->names.text[e->name];
}

static const instruction *instruction_of(builder *b, const trace_event *e, instruction *own)
{
    instruction *x = e->args == DSE_NONE ? own : &b->by_args[e->args];

    if (e->args == DSE_NONE || !x->asked)
        ask(b, e->args == DSE_NONE ? NULL : &b->r->args[e->args], event_name(b->r, e), x);
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
static bool add_op(builder *b, tpu_device *d, const candidate *c, uint32_t **pending, size_t *cap)
{
    instruction own = {0};
    const instruction *x = instruction_of(b, &b->r->event[c->event], &own);
    size_t old = *cap;
    uint32_t start = DSE_NONE;

    if (x->wraps)
        return !b->failed;
    if (b->failed || !DSE_GROW(*pending, *cap, (size_t)b->names.n + 1))
        return false;
    memset(*pending + old, 0xff, (*cap - old) * sizeof **pending);
    if (x->work == TPU_COMMUNICATION && x->phase == HLO_DONE)
        start = start_of(b, x);
    if (start != DSE_NONE && (*pending)[start] != DSE_NONE) {
        tpu_op *op = &d->op[(*pending)[start]];

        op->span.end = c->span.end > op->span.end ? c->span.end : op->span.end;
        if (x->bytes != HLO_UNKNOWN && x->bytes) /* a start's shape is operands and results */
            op->bytes = x->bytes;
        (*pending)[start] = DSE_NONE;
        return true;
    }
    if (x->work == TPU_COMMUNICATION && x->phase != HLO_DONE && x->self != DSE_NONE)
        (*pending)[x->self] = (uint32_t)d->n;
    d->op[d->n++] = (tpu_op){c->event, c->span, x->bytes, x->group, x->work, x->comm};
    return true;
}

/* On the device's clock, unless one of its operations has no time on that. */
static void time_candidates(const trace_rank *r, candidate *c, size_t n)
{
    bool own = r->device_time != NULL;

    for (size_t i = 0; i < n && own; i++)
        own = trace_device_time_of(r, c[i].event).dur_ps >= 0;
    for (size_t i = 0; i < n; i++) {
        const trace_event *e = &r->event[c[i].event];
        trace_device_time t = own ? r->device_time[c[i].event] : (trace_device_time){e->start_ps, e->dur_ps};

        c[i].span = (metric_span){t.offset_ps, t.offset_ps + t.dur_ps};
    }
}

static bool fill_device(builder *b, uint32_t device, candidate *c)
{
    const trace_rank *r = b->r;
    tpu_device *d = &b->out->device[device];
    uint32_t *pending = NULL;
    size_t n = 0, cap = 0;
    bool ok;

    for (size_t i = 0; i < r->n_events; i++)
        if (!r->event[i].instant && b->device_of[r->event[i].lane] == device)
            c[n++] = (candidate){.line = b->line_of[r->event[i].lane], .event = (uint32_t)i};
    time_candidates(r, c, n);
    if (n) {
        qsort(c, n, sizeof *c, by_line);
        n = keep_leaves(c, n);
        qsort(c, n, sizeof *c, by_start);
    }
    ok = (d->op = DSE_ARENA_NEW(b->a, tpu_op, n)) != NULL;
    for (size_t i = 0; ok && i < n; i++)
        ok = add_op(b, d, &c[i], &pending, &cap);
    dse_free(pending);
    return ok;
}

/* ---- times --------------------------------------------------------------------------------- */

static bool is_any(const tpu_op *op, const void *what)
{
    (void)op;
    (void)what;
    return true;
}

static bool is_work(const tpu_op *op, const void *what) { return op->work == *(const tpu_work *)what; }

static bool is_comm(const tpu_op *op, const void *what)
{
    return op->work == TPU_COMMUNICATION && op->comm == *(const tpu_comm *)what;
}

static double flops_of(const trace_rank *r, const tpu_op *op)
{
    uint32_t args = r->event[op->event].args;
    double flops = args == DSE_NONE ? 0 : r->args[args].model_flops;

    return flops > 0 && isfinite(flops) ? flops : 0;
}

static bool has_flops(const tpu_op *op, const void *rank) { return flops_of(rank, op) > 0; }

static bool union_of(const tpu_device *d, bool (*is)(const tpu_op *, const void *), const void *what,
                     dse_arena *a, metric_spans *out)
{
    metric_span *span;
    size_t n = 0;

    for (size_t i = 0; i < d->n; i++)
        n += is(&d->op[i], what);
    if (!(span = DSE_ARENA_NEW(a, metric_span, n)))
        return false;
    n = 0;
    for (size_t i = 0; i < d->n; i++)
        if (is(&d->op[i], what))
            span[n++] = d->op[i].span;
    *out = metric_spans_merge(span, n);
    return true;
}

static bool sum_device(const trace_rank *r, dse_arena *a, tpu_device *d)
{
    const tpu_work works[] = {TPU_COMPUTE, TPU_COMMUNICATION, TPU_MEMORY};

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
        if (d->n_comm[c] && !union_of(d, is_comm, &c, a, &d->of_comm[c]))
            return false;
    return union_of(d, is_any, NULL, a, &d->busy) && union_of(d, is_work, &works[0], a, &d->compute) &&
           union_of(d, is_work, &works[1], a, &d->comm) && union_of(d, is_work, &works[2], a, &d->memory) &&
           union_of(d, has_flops, r, a, &d->with_flops);
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

bool tpu_rank_init(const trace_rank *r, dse_arena *a, tpu_rank *out)
{
    builder b = {.r = r, .a = a, .out = out};
    candidate *c;
    bool ok;

    *out = (tpu_rank){0};
    dse_arena_init(&b.scratch);
    ok = (b.by_args = DSE_ARENA_NEW(&b.scratch, instruction, (size_t)r->n_args + 1)) && find_devices(&b) &&
         (!out->n || (c = DSE_ARENA_NEW(&b.scratch, candidate, r->n_events)) != NULL);
    for (uint32_t i = 0; ok && i < out->n; i++)
        ok = fill_device(&b, i, c) && sum_device(r, a, &out->device[i]);
    if (ok)
        drop_empty(out);
    trace_names_free(&b.names);
    dse_arena_free(&b.scratch);
    return ok;
}
