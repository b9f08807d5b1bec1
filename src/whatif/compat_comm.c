/* Collectives of Kineto traces that all ranks of a group have alike, and what lies between them. */
#include "base/array.h"
#include "whatif/compat_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A collective on one rank. */
typedef struct {
    uint32_t event, rank, group, key; /* group 0: none is named; key: a name */
    uint32_t instance;
    uint8_t coll;
    uint64_t bytes;
} call;

/* What the ranks of a group run together: the calls of one key. */
typedef struct {
    uint32_t group, key;
    uint32_t n_ranks, last_rank, order; /* order: its place among all that are kept; DSE_NONE: dropped */
    uint32_t first;                     /* a call */
    bool alike;
    uint64_t bytes; /* the largest */
    double start;   /* the earliest */
} instance;

typedef struct {
    const whatif_compat_job *job;
    dse_arena *arena;
    trace_names names;
    compat_events *events; /* by rank */
    whatif_files *out;
    dse_idtable groups, instances;
    size_t cap_groups, n_calls, cap_calls, n_instances, cap_instances;
    call *call;      /* by rank, in file order */
    size_t *of_rank; /* n_ranks + 1: the rank's first call */
    instance *instance;
} converter;

/* ---- one event ------------------------------------------------------------------------------- */

static const char *name_of(const trace_names *n, const compat_event *e) { return compat_text(n, e->name); }

/* Ranges of the host around collectives that launch kernels of other names. */
static bool is_annotation(const char *name)
{
    return !strcmp(name, "_C_custom_ar::all_reduce") || !strcmp(name, "nccl:_all_gather_base");
}

static bool is_kernel(const trace_names *n, const compat_event *e)
{
    return !strcmp(compat_text(n, e->cat), "kernel");
}

static bool is_kept(const compat_event *e, const trace_names *n)
{
    return e->dur > 0 && !isnan(e->ts) && (is_kernel(n, e) || is_annotation(name_of(n, e)));
}

/* "All Gather" is all_gather. */
static const char *collective_of(converter *c, const compat_event *e)
{
    char *text = compat_lower(c->arena, compat_text(&c->names, e->collective));

    for (char *at = text; *at; at++)
        *at = *at == ' ' ? '_' : *at;
    return text;
}

static bool is_positive(double v) { return v > 0; }

static bool is_collective(converter *c, const compat_event *e)
{
    const char *name = name_of(&c->names, e), *dtype = compat_text(&c->names, e->dtype);

    if (is_annotation(name))
        return true;
    if (!(strstr(name, "ncclDev") || strstr(name, "ncclKernel")) ||
        !(is_positive(e->in) || is_positive(e->out)))
        return false;
    if (!strstr(name, "SendRecv"))
        return true;
    /* Small exchanges of whole numbers tell how much is to follow. */
    return !strcmp(collective_of(c, e), "all_to_allv") &&
           !((!strcmp(dtype, "Long") || !strcmp(dtype, "Int64")) && !(e->in > 64) && !(e->out > 64));
}

#define NO_TYPE UINT8_MAX

static uint8_t type_of(converter *c, const compat_event *e)
{
    static const struct {
        const char *word;
        uint8_t coll;
    } words[] = {{"all_reduce", WL_ALL_REDUCE},
                 {"allreduce", WL_ALL_REDUCE},
                 {"_all_reduce", WL_ALL_REDUCE},
                 {"all_gather", WL_ALL_GATHER},
                 {"allgather", WL_ALL_GATHER},
                 {"_allgather_base", WL_ALL_GATHER},
                 {"all_gather_base", WL_ALL_GATHER},
                 {"allgather_into_tensor_coalesced", WL_ALL_GATHER},
                 {"reduce_scatter", WL_REDUCE_SCATTER},
                 {"reducescatter", WL_REDUCE_SCATTER},
                 {"reduce_scatter_tensor", WL_REDUCE_SCATTER},
                 {"reduce_scatter_tensor_coalesced", WL_REDUCE_SCATTER},
                 {"all_to_all", WL_ALL_TO_ALL},
                 {"all_to_allv", WL_ALL_TO_ALL},
                 {"alltoall", WL_ALL_TO_ALL},
                 {"broadcast", WL_BROADCAST}},
      parts[] = {{"allreduce", WL_ALL_REDUCE},         {"allgather", WL_ALL_GATHER},
                 {"reducescatter", WL_REDUCE_SCATTER}, {"alltoall", WL_ALL_TO_ALL},
                 {"broadcast", WL_BROADCAST},          {"sendrecv", WL_ALL_TO_ALL}};
    const char *name = name_of(&c->names, e), *word = collective_of(c, e);

    for (size_t i = 0; i < DSE_COUNT(words); i++)
        if (!strcmp(word, words[i].word))
            return words[i].coll;
    for (size_t i = 0; i < DSE_COUNT(parts); i++)
        if (compat_has(name, parts[i].word))
            return parts[i].coll;
    return !is_annotation(name) ? NO_TYPE : strstr(name, "all_reduce") ? WL_ALL_REDUCE : WL_ALL_GATHER;
}

/* 2 of all that is not known, which takes Long, Int and Byte for that, too. */
static uint64_t bytes_of_type(const char *dtype)
{
    static const struct {
        const char *name;
        uint8_t bytes;
    } types[] = {{"Float32", 4}, {"Float", 4},  {"FP32", 4},  {"Int32", 4},
                 {"Float64", 8}, {"Double", 8}, {"Int64", 8}, {"Int8", 1}};

    for (size_t i = 0; i < DSE_COUNT(types); i++)
        if (!strcmp(dtype, types[i].name))
            return types[i].bytes;
    return 2;
}

static uint64_t bytes_of(converter *c, const compat_event *e)
{
    const char *type;
    double n;

    if (is_annotation(name_of(&c->names, e))) {
        uint32_t i = is_positive(e->dims[1]) ? 1 : 0;
        const char *colon;

        type = compat_text(&c->names, e->type[i]);
        colon = strrchr(type, ':');
        n = e->dims[i];
        type = colon ? colon + 1 : type;
    } else {
        type = compat_text(&c->names, e->dtype);
        n = is_positive(e->in) ? e->in : e->out;
    }
    return is_positive(n) && n < 1e18 ? (uint64_t)n * bytes_of_type(type) : 0;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* "[0, 1, ..., 7]": the dots stand for what lies between their neighbours. At most so many members. */
#define MAX_MEMBERS 65536u

static whatif_group parse_group(converter *c, const char *text)
{
    whatif_group g = {0};
    size_t cap = 0;
    bool dots = false;

    while (*text && g.n < MAX_MEMBERS) {
        char *end;
        unsigned long v = strtoul(text, &end, 10), from = v;

        if (end == text) {
            dots |= !strncmp(text, "...", 3);
            text += dots && !strncmp(text, "...", 3) ? 3 : 1;
            continue;
        }
        if (v >= DSE_NONE)
            break;
        if (dots && g.n)
            from = g.rank[g.n - 1] + 1ul;
        for (; from <= v && g.n < MAX_MEMBERS; from++) {
            DSE_ARENA_GROW(c->arena, g.rank, cap, g.n + 1);
            g.rank[g.n++] = (uint32_t)from;
        }
        dots = false;
        text = end;
    }
    if (g.n)
        qsort(g.rank, g.n, sizeof *g.rank, by_number);
    return g;
}

static bool group_is(const void *groups, uint32_t id, const void *key)
{
    const whatif_group *g = (const whatif_group *)groups + id, *k = key;

    return g->n == k->n && !memcmp(g->rank, k->rank, g->n * sizeof *g->rank);
}

/* Its number, from 1 in the order of first appearance; 0 is all ranks, of what names no group. */
static uint32_t group_of(converter *c, const compat_event *e)
{
    whatif_group g = parse_group(c, compat_text(&c->names, e->group));
    whatif_files *out = c->out;
    uint32_t id;

    if (!g.n)
        return 0;
    id = dse_idtable_intern(&c->groups, (uint32_t)dse_hash_words(g.rank, g.n * sizeof *g.rank), group_is,
                            out->group, &g, out->n_groups);
    if (id == out->n_groups) {
        DSE_ARENA_GROW(c->arena, out->group, c->cap_groups, id + 1);
        out->group[out->n_groups++] = g;
    }
    return id + 1;
}

/* ---- matching over the ranks ----------------------------------------------------------------- */

static const compat_event *event_of(const converter *c, const call *k)
{
    return &c->events[k->rank].event[k->event];
}

/* The order of events with equal times: of their names. Files' order is the last word, as Python sorts. */
static int by_time(const converter *c, const compat_event *a, const compat_event *b)
{
    int order = (a->ts > b->ts) - (a->ts < b->ts);

    order = order ? order : (a->dur > b->dur) - (a->dur < b->dur);
    return order ? order : strcmp(name_of(&c->names, a), name_of(&c->names, b));
}

static const converter *sorted; /* of a comparison: qsort has no argument for it */

static int calls_by_time(const void *a, const void *b)
{
    const call *x = *(call *const *)a, *y = *(call *const *)b;
    int order = (x->group > y->group) - (x->group < y->group);

    order = order ? order : by_time(sorted, event_of(sorted, x), event_of(sorted, y));
    return order ? order : (x->event > y->event) - (x->event < y->event);
}

static void sort_calls(const converter *c, call **list, size_t n, int (*compare)(const void *, const void *))
{
    sorted = c;
    if (n)
        qsort(list, n, sizeof *list, compare);
}

/* The key of a call is what joins it with those of other ranks: its external id, else its place among those
 * of its group, which '#' tells from an id. */
static void number_calls(converter *c, size_t from)
{
    size_t n = 0;
    uint32_t place = 0;
    call **list = DSE_ARENA_RAW(c->arena, call *, c->n_calls - from + 1);

    for (size_t i = from; i < c->n_calls; i++)
        if (c->call[i].key == DSE_NONE)
            list[n++] = &c->call[i];
    sort_calls(c, list, n, calls_by_time);
    for (size_t i = 0; i < n; i++) {
        place = i && list[i - 1]->group == list[i]->group ? place + 1 : 0;
        list[i]->key = trace_names_addf(&c->names, "#%u", place);
    }
}

static void find_calls(converter *c, uint32_t rank)
{
    const compat_events *events = &c->events[rank];
    size_t from = c->n_calls;

    c->of_rank[rank] = from;
    for (uint32_t i = 0; i < events->n; i++) {
        const compat_event *e = &events->event[i];
        uint8_t coll;

        if (!is_collective(c, e) || (coll = type_of(c, e)) == NO_TYPE)
            continue;
        DSE_ARENA_GROW(c->arena, c->call, c->cap_calls, c->n_calls + 1);
        c->call[c->n_calls++] = (call){.event = i,
                                       .rank = rank,
                                       .group = group_of(c, e),
                                       .key = e->external,
                                       .coll = coll,
                                       .bytes = bytes_of(c, e)};
    }
    number_calls(c, from);
    c->of_rank[rank + 1] = c->n_calls;
}

static bool instance_is(const void *instances, uint32_t id, const void *key)
{
    const instance *x = (const instance *)instances + id;
    const call *k = key;

    return x->group == k->group && x->key == k->key;
}

static bool is_member(const converter *c, uint32_t group, uint32_t rank)
{
    const whatif_group *g = group ? &c->out->group[group - 1] : NULL;

    return g ? bsearch(&rank, g->rank, g->n, sizeof rank, by_number) != NULL : rank < c->job->n_ranks;
}

static uint32_t group_size(const converter *c, uint32_t group)
{
    return group ? c->out->group[group - 1].n : c->job->n_ranks;
}

/* All but an all_to_allv, of which ranks send as much as each has. */
static bool sizes_agree(converter *c, const call *a, const call *b)
{
    return a->bytes == b->bytes || !strcmp(collective_of(c, event_of(c, a)), "all_to_allv");
}

static void join(converter *c, call *k, uint32_t place)
{
    const compat_event *e = event_of(c, k), *first;
    uint32_t hash = (uint32_t)dse_hash_u64((uint64_t)k->group << 32 | k->key);
    uint32_t id =
        dse_idtable_intern(&c->instances, hash, instance_is, c->instance, k, (uint32_t)c->n_instances);
    instance *x;

    if (id == c->n_instances) {
        DSE_ARENA_GROW(c->arena, c->instance, c->cap_instances, id + 1);
        c->instance[c->n_instances++] = (instance){.group = k->group,
                                                   .key = k->key,
                                                   .last_rank = DSE_NONE,
                                                   .order = DSE_NONE,
                                                   .first = place,
                                                   .alike = true,
                                                   .start = e->ts};
    }
    x = &c->instance[k->instance = id];
    first = event_of(c, &c->call[x->first]);
    x->alike = x->alike && is_member(c, k->group, k->rank) && k->coll == c->call[x->first].coll &&
               e->collective == first->collective && e->dtype == first->dtype &&
               e->type[0] == first->type[0] && e->type[1] == first->type[1] &&
               sizes_agree(c, k, &c->call[x->first]);
    x->n_ranks += k->rank != x->last_rank;
    x->last_rank = k->rank;
    x->bytes = k->bytes > x->bytes ? k->bytes : x->bytes;
    x->start = e->ts < x->start ? e->ts : x->start;
}

static int by_order(const void *a, const void *b)
{
    const instance *x = *(instance *const *)a, *y = *(instance *const *)b;
    const char *const *text = sorted->names.text;
    int order = (x->start > y->start) - (x->start < y->start);

    order = order ? order : (x->group > y->group) - (x->group < y->group);
    return order ? order : strcmp(text[x->key], text[y->key]);
}

/* Keeps what each rank of its group has, alike, and puts it in one order of all ranks. */
static uint32_t match(converter *c)
{
    instance **kept;
    uint32_t n = 0;

    for (size_t i = 0; i < c->n_calls; i++)
        join(c, &c->call[i], (uint32_t)i);
    kept = DSE_ARENA_RAW(c->arena, instance *, c->n_instances + 1);
    for (size_t i = 0; i < c->n_instances; i++) {
        instance *x = &c->instance[i];

        if (x->alike && x->n_ranks == group_size(c, x->group) && x->bytes)
            kept[n++] = x;
    }
    sorted = c;
    if (n)
        qsort(kept, n, sizeof *kept, by_order);
    for (uint32_t i = 0; i < n; i++)
        kept[i]->order = i;
    c->out->n_dropped = (uint32_t)c->n_instances - n;
    return n;
}

/* ---- the graph of a rank --------------------------------------------------------------------- */

/* An event that becomes a node. */
typedef struct {
    const compat_event *event;
    const call *call; /* NULL: computation */
    uint32_t order, node;
} step;

typedef struct {
    converter *c;
    whatif_et *et;
    step *step;
    size_t n, n_calls; /* n_calls: steps that are collectives */
} chain;

static int steps_by_time(const void *a, const void *b)
{
    const step *x = a, *y = b;
    int order = by_time(sorted, x->event, y->event);

    return order ? order : (x->event > y->event) - (x->event < y->event);
}

static int steps_by_order(const void *a, const void *b)
{
    const step *x = a, *y = b;

    return x->order != y->order ? (x->order > y->order) - (x->order < y->order) : steps_by_time(a, b);
}

static int steps_by_group(const void *a, const void *b)
{
    const step *x = a, *y = b;
    int order = (x->call->group > y->call->group) - (x->call->group < y->call->group);

    return order ? order : steps_by_time(a, b);
}

static int steps_by_node(const void *a, const void *b)
{
    const step *x = a, *y = b;

    return x->order != y->order ? (x->order > y->order) - (x->order < y->order)
                                : (x->node > y->node) - (x->node < y->node);
}

static void sort_steps(chain *h, int (*compare)(const void *, const void *))
{
    sorted = h->c;
    if (h->n)
        qsort(h->step, h->n, sizeof *h->step, compare);
}

static uint32_t add_collective(chain *h, const step *s)
{
    const trace_names *n = &h->c->names;
    const char *name = compat_text(n, s->event->collective);
    size_t length = strlen(name);

    if (!length && is_annotation(name_of(n, s->event))) {
        name = s->call->coll == WL_ALL_REDUCE ? "all_reduce" : "all_gather";
        length = strlen(name);
    } else if (!length) {
        name = name_of(n, s->event);
        length = strcspn(name, "(");
    }
    return compat_add_collective(h->et, h->c->arena, name, length, s->call->coll,
                                 h->c->instance[s->call->instance].bytes, s->call->group);
}

/* Collectives one after the other, and as much computation between two as time passed. */
static void add_chain(chain *h, size_t from, size_t to)
{
    dse_arena *a = h->c->arena;
    uint32_t last = DSE_NONE;
    double end = NAN;

    for (size_t i = from; i < to; i++) {
        step *s = &h->step[i];

        if (s->event->ts - end > 0) {
            uint32_t gap = compat_add_compute(h->et, a, "compute_gap", s->event->ts - end);

            whatif_et_depend(h->et, a, gap, last);
            last = gap;
        }
        s->node = add_collective(h, s);
        whatif_et_depend(h->et, a, s->node, last);
        last = s->node;
        end = s->event->ts + s->event->dur;
    }
}

/* Each collective after the one before it in the order of all ranks. */
static void add_order(chain *h)
{
    size_t last = SIZE_MAX;

    sort_steps(h, steps_by_node);
    for (size_t i = 0; i < h->n; i++) {
        if (!h->step[i].call)
            continue;
        if (last != SIZE_MAX)
            whatif_et_depend(h->et, h->c->arena, h->step[i].node, h->step[last].node);
        last = i;
    }
}

static void add_groups(chain *h)
{
    sort_steps(h, steps_by_group);
    for (size_t i = 0, from = 0; i < h->n; i++)
        if (i + 1 == h->n || h->step[i + 1].call->group != h->step[i].call->group) {
            add_chain(h, from, i + 1);
            from = i + 1;
        }
    add_order(h);
}

/* The last node of a stream. Without a number of the stream its process and thread are it. */
typedef struct {
    uint64_t key;
    uint32_t node;
    double end;
} stream;

typedef struct {
    size_t n, cap;
    stream *stream;
} streams;

static stream *stream_of(streams *list, const compat_event *e, dse_arena *a)
{
    uint64_t key = (uint64_t)e->pid << 32 | e->tid;

    for (size_t i = DSE_COUNT(e->stream); i-- > 0;)
        if (e->stream[i] != DSE_NONE)
            key = (uint64_t)(DSE_NONE - 1) << 32 | e->stream[i];
    for (size_t i = 0; i < list->n; i++)
        if (list->stream[i].key == key)
            return &list->stream[i];
    DSE_ARENA_GROW(a, list->stream, list->cap, list->n + 1);
    list->stream[list->n] = (stream){key, DSE_NONE, NAN};
    return &list->stream[list->n++];
}

/* A gap after `last`, if there is one, which what comes next waits for in its place. */
static uint32_t after_gap(chain *h, const compat_event *e, uint32_t last, double end)
{
    uint32_t gap;

    if (last == DSE_NONE || !(e->ts > end))
        return last;
    gap = compat_add_compute(h->et, h->c->arena, "compute_gap", e->ts - end);
    whatif_et_depend(h->et, h->c->arena, gap, last);
    return gap;
}

static void add_kernels(chain *h, bool by_rank)
{
    dse_arena *a = h->c->arena;
    streams list = {0};
    uint32_t last = DSE_NONE, order = 0, *of_group = DSE_ARENA_RAW(a, uint32_t, h->c->out->n_groups + 1);
    double end = NAN;

    memset(of_group, 0xff, (h->c->out->n_groups + 1) * sizeof *of_group); /* DSE_NONE */
    sort_steps(h, steps_by_time);
    for (size_t i = 0; i < h->n; i++) {
        step *s = &h->step[i];
        stream *m = stream_of(&list, s->event, a);
        uint32_t on_stream = m->node, on_rank = DSE_NONE;

        if (!by_rank)
            on_stream = after_gap(h, s->event, m->node, m->end);
        else if (!s->call || s->order >= order)
            on_rank = after_gap(h, s->event, last, end);
        s->node = s->call
                      ? add_collective(h, s)
                      : compat_add_compute(h->et, a,
                                           dse_arena_printf(a, "kernel_%s", name_of(&h->c->names, s->event)),
                                           s->event->dur);
        whatif_et_depend(h->et, a, s->node, on_stream);
        whatif_et_depend(h->et, a, s->node, on_rank);
        if (s->call) {
            whatif_et_depend(h->et, a, s->node, of_group[s->call->group]);
            of_group[s->call->group] = s->node;
            order = s->order;
        }
        m->node = last = s->node;
        m->end = fmax(m->end, s->event->ts + s->event->dur);
        end = fmax(end, s->event->ts + s->event->dur);
    }
    add_order(h);
}

/* NCCL's kernels that were not kept vanish; in their time is a gap. */
static bool is_computation(const converter *c, const compat_event *e)
{
    const char *name = name_of(&c->names, e);

    return is_annotation(name) || !compat_has(name, "nccl");
}

static void convert_rank(converter *c, uint32_t rank)
{
    const compat_events *events = &c->events[rank];
    bool kernels = c->job->mode == WHATIF_COMPAT_KERNELS || c->job->mode == WHATIF_COMPAT_KERNELS_STREAM;
    chain h = {c, &c->out->et[rank], DSE_ARENA_RAW(c->arena, step, events->n + 1), 0, 0};
    const call *k = c->call + c->of_rank[rank], *end = c->call + c->of_rank[rank + 1];

    for (uint32_t i = 0; i < events->n; i++) {
        const compat_event *e = &events->event[i];
        bool is_call = k < end && k->event == i;
        uint32_t order = is_call ? c->instance[k->instance].order : DSE_NONE;

        if (order != DSE_NONE)
            h.step[h.n++] = (step){e, k, order, DSE_NONE};
        else if (kernels && is_computation(c, e))
            h.step[h.n++] = (step){e, NULL, DSE_NONE, DSE_NONE};
        h.n_calls += order != DSE_NONE;
        k += is_call;
    }
    if (!h.n_calls)
        return;
    switch (c->job->mode) {
    case WHATIF_COMPAT_GAP:
        sort_steps(&h, steps_by_order);
        add_chain(&h, 0, h.n);
        break;
    case WHATIF_COMPAT_PG_GAP: add_groups(&h); break;
    default: add_kernels(&h, c->job->mode == WHATIF_COMPAT_KERNELS);
    }
}

/* The first rank that has the trace of this one. */
static uint32_t first_of(const whatif_compat_job *job, uint32_t rank)
{
    uint32_t i = 0;

    while (job->path[i] != job->path[rank])
        i++;
    return i;
}

dse_status compat_convert_comm(const whatif_compat_job *job, dse_arena *a, whatif_files *out, dse_error *err)
{
    converter c = {.job = job, .arena = a, .out = out};
    dse_status st = DSE_OK;

    c.events = DSE_ARENA_NEW(a, compat_events, job->n_ranks);
    c.of_rank = DSE_ARENA_NEW(a, size_t, job->n_ranks + 1u);
    for (uint32_t i = 0; st == DSE_OK && i < job->n_ranks; i++) {
        uint32_t same = first_of(job, i);

        c.events[i].names = &c.names;
        if (same < i)
            c.events[i] = c.events[same];
        else
            st = compat_read_events(job->path[i], is_kept, &c.events[i], err);
        if (st == DSE_OK)
            find_calls(&c, i);
    }
    if (st == DSE_OK && !match(&c))
        st = dse_fail_at(err, DSE_E_ABSENT, job->path[0],
                         "no collective is on all %u ranks of its group alike (%zu are on some): this "
                         "conversion takes only such, with their message sizes",
                         job->n_ranks, c.n_instances);
    for (uint32_t i = 0; st == DSE_OK && i < job->n_ranks; i++)
        convert_rank(&c, i);
    for (uint32_t i = 0; i < job->n_ranks; i++)
        if (first_of(job, i) == i)
            dse_free(c.events[i].event);
    dse_idtable_free(&c.groups);
    dse_idtable_free(&c.instances);
    trace_names_free(&c.names);
    return st;
}
