#include "metrics/view.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists of events ----------------------------------------------------------------------- */

#define DIGIT_BITS 11
#define DIGITS     (1u << DIGIT_BITS)

typedef struct {
    uint64_t key;
    uint32_t event;
} sort_item;

/* Radix sort by the low `bits` of the keys, stable. The result is in `item`. */
static void sort_items(sort_item *item, sort_item *other, uint32_t n, unsigned bits)
{
    sort_item *from = item, *to = other, *swap;

    for (unsigned shift = 0; shift < bits; shift += DIGIT_BITS) {
        uint32_t start[DIGITS] = {0}, sum = 0;

        for (uint32_t i = 0; i < n; i++)
            start[from[i].key >> shift & (DIGITS - 1)]++;
        for (uint32_t d = 0; d < DIGITS; d++) {
            uint32_t count = start[d];

            start[d] = sum;
            sum += count;
        }
        for (uint32_t i = 0; i < n; i++)
            to[start[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
        swap = from, from = to, to = swap;
    }
    if (from != item)
        memcpy(item, from, n * sizeof *item);
}

bool metric_sort_by_start(const trace_rank *rank, metric_events *e, dse_arena *scratch)
{
    int64_t low = INT64_MAX, last = INT64_MIN;
    uint64_t span = 0;
    bool sorted = true;
    unsigned bits = 0;
    sort_item *item;

    for (uint32_t i = 0; i < e->n; i++) {
        int64_t at = rank->event[e->event[i]].start_ps;

        sorted = sorted && at >= last;
        last = at;
        low = at < low ? at : low;
    }
    if (sorted)
        return true;
    if (!(item = DSE_ARENA_NEW(scratch, sort_item, 2 * (size_t)e->n)))
        return false;
    for (uint32_t i = 0; i < e->n; i++) {
        item[i] = (sort_item){(uint64_t)rank->event[e->event[i]].start_ps - (uint64_t)low, e->event[i]};
        span |= item[i].key;
    }
    while (bits < 64 && span >> bits)
        bits++;
    sort_items(item, item + e->n, e->n, bits);
    for (uint32_t i = 0; i < e->n; i++)
        e->event[i] = item[i].event;
    return true;
}

const char *metric_layer_name(metric_layer l)
{
    static const char *const names[] = {"none", "kernel", "gpu_user_annotation", "user_annotation"};

    return names[l];
}

/* Twice over the events: how many spans they make, and which. class_of NULL: all of them. */
bool metric_union_of_class(const trace_rank *rank, const metric_events *e, const uint8_t *class_of,
                           uint8_t class, dse_arena *a, metric_spans *out)
{
    metric_span *span = NULL;
    size_t n = 0;

    for (int pass = 0; pass < 2; pass++) {
        int64_t end = 0;

        n = 0;
        for (uint32_t i = 0; i < e->n; i++) {
            const trace_event *v = &rank->event[e->event[i]];

            if (v->dur_ps <= 0 || (class_of && class_of[i] != class))
                continue;
            if (!n || metric_start(v) > end) {
                if (pass)
                    span[n] = (metric_span){metric_start(v), metric_end(v)};
                n++;
                end = metric_end(v);
            } else if (metric_end(v) > end) {
                end = metric_end(v);
                if (pass)
                    span[n - 1].end = end;
            }
        }
        if (!pass && !(span = DSE_ARENA_NEW(a, metric_span, n)))
            return false;
    }
    *out = (metric_spans){n, span};
    return true;
}

bool metric_union_of(const trace_rank *rank, const metric_events *e, dse_arena *a, metric_spans *out)
{
    return metric_union_of_class(rank, e, NULL, 0, a, out);
}

void metric_class_lengths(const trace_rank *rank, const metric_events *e, const uint8_t *class_of,
                          uint8_t n_classes, int64_t *ps)
{
    int64_t end[UINT8_MAX + 1]; /* of each class so far */

    for (uint8_t c = 0; c < n_classes; c++) {
        ps[c] = 0;
        end[c] = INT64_MIN;
    }
    for (uint32_t i = 0; i < e->n; i++) {
        const trace_event *v = &rank->event[e->event[i]];
        int64_t from = metric_start(v), *until = &end[class_of[i]];

        from = *until > from ? *until : from;
        if (metric_end(v) <= from)
            continue;
        ps[class_of[i]] += metric_end(v) - from;
        *until = metric_end(v);
    }
}

static bool room(metric_events *e, uint32_t n, dse_arena *a)
{
    e->event = DSE_ARENA_NEW(a, uint32_t, n);
    return e->event != NULL;
}

/* ---- the sieve ------------------------------------------------------------------------------ */

/* Lists that two passes over all events fill together: a trace has millions of events, and most are in none. */
enum {
    PICK_KERNELS,
    PICK_MEMORY,
    PICK_LAUNCHES,
    PICK_RANGES,    /* of the host that name a collective: nccl:*, but nccl:coalesced */
    PICK_HOST_COMM, /* annotations nccl:* that last */
    PICK_GPU_COMM,  /* the same on the GPU's side */
    PICK_STEPS,     /* steps that last: annotations, */
    PICK_CPU_STEPS, /* operators, */
    PICK_GPU_STEPS, /* and on the GPU's side */
    PICKS
};
#define PICK(p) (1u << PICK_##p)

typedef struct {
    const trace_rank *rank;
    const uint8_t *said; /* by name */
    const char *marker;  /* what steps are called */
    metric_events list[PICKS];
} sieve;

/* Nsight Systems knows no steps but what an NVTX range is called: the first of these that there is. All others have the
 * profiler's own. */
static const char *step_marker(const trace_rank *r)
{
    static const char *const markers[] = {METRIC_STEP_PREFIX, "iteration", "step"};
    size_t n = sizeof markers / sizeof markers[0], best = n;

    for (size_t i = 0; i < r->n_events && r->kind == TRACE_NSYS; i++)
        for (size_t m = 0; m < best && r->event[i].category == TRACE_ANNOTATION && r->event[i].dur_ps > 0;
             m++)
            if (metric_begins(METRIC_TEXT_OF(r, &r->event[i]), markers[m]))
                best = m;
    return markers[best < n ? best : 0];
}

/* What a name says, asked once a name. */
enum { SAYS_NCCL = 1, SAYS_RANGE = 2, SAYS_STEP = 4 };

static uint8_t said_by(const char *name, const char *marker)
{
    if (metric_begins(name, "nccl:"))
        return strcmp(name, "nccl:coalesced") == 0 ? SAYS_NCCL : SAYS_NCCL | SAYS_RANGE;
    return metric_begins(name, marker) ? SAYS_STEP : 0;
}

static unsigned picks_of(const sieve *s, const trace_event *e)
{
    unsigned said, lasts = e->dur_ps > 0 ? ~0u : 0;

    switch (e->category) {
    case TRACE_KERNEL: return e->instant || e->name == DSE_NONE ? 0 : PICK(KERNELS);
    case TRACE_MEMCPY:
    case TRACE_MEMSET: return e->instant ? 0 : PICK(MEMORY);
    case TRACE_RUNTIME:
    case TRACE_DRIVER: return e->correlation ? PICK(LAUNCHES) : 0;
    case TRACE_CPU_OP:
    case TRACE_ANNOTATION:
    case TRACE_GPU_ANNOTATION: break;
    default: return 0;
    }
    said = e->name == DSE_NONE ? 0 : s->said[e->name];
    if (!said)
        return 0;
    if (e->category == TRACE_GPU_ANNOTATION)
        return lasts & (said & SAYS_NCCL ? PICK(GPU_COMM) : PICK(GPU_STEPS));
    if (e->category == TRACE_CPU_OP)
        return said & SAYS_RANGE ? PICK(RANGES) : said & SAYS_STEP ? lasts & PICK(CPU_STEPS) : 0;
    return (said & SAYS_RANGE ? PICK(RANGES) : 0) |
           (lasts & (said & SAYS_NCCL ? PICK(HOST_COMM) : PICK(STEPS)));
}

static bool sieve_init(sieve *s, const trace_rank *r, dse_arena *scratch)
{
    uint8_t *said = DSE_ARENA_NEW(scratch, uint8_t, (size_t)r->names.n + 1);
    uint32_t n[PICKS] = {0};

    *s = (sieve){.rank = r, .said = said, .marker = step_marker(r)};
    if (!said)
        return false;
    for (uint32_t i = 0; i < r->names.n; i++)
        said[i] = said_by(r->names.text[i], s->marker);
    for (size_t i = 0; i < r->n_events; i++)
        for (unsigned picks = picks_of(s, &r->event[i]); picks; picks &= picks - 1)
            n[__builtin_ctz(picks)]++;
    for (unsigned p = 0; p < PICKS; p++)
        if (!room(&s->list[p], n[p], scratch))
            return false;
    for (size_t i = 0; i < r->n_events; i++)
        for (unsigned picks = picks_of(s, &r->event[i]); picks; picks &= picks - 1) {
            metric_events *list = &s->list[__builtin_ctz(picks)];
            list->event[list->n++] = (uint32_t)i;
        }
    return true;
}

/* ---- which is which ------------------------------------------------------------------------ */

static bool keep(const metric_events *picked, dse_arena *a, metric_events *out)
{
    if (!room(out, picked->n, a))
        return false;
    memcpy(out->event, picked->event, picked->n * sizeof *out->event);
    out->n = picked->n;
    return true;
}

/* A simulated run's kernels are called what its workload calls them; what communicates says so itself. */
static bool communicates(const metric_view *v, const trace_event *e)
{
    const trace_rank *r = v->rank;

    if (r->kind == TRACE_SIMULATED)
        return e->args != DSE_NONE && r->args[e->args].collective != DSE_NONE;
    return v->work[e->name] == METRIC_WORK_COMM;
}

/* A kernel of Nsight Systems has a short name, and a long one with namespace and template arguments. The short one has
 * the word; where it says nothing, or the long one says that it communicates (ep::intranode::dispatch), that has it. */
static void ask_long_name(metric_view *v, const trace_event *e, bool *asked)
{
    const trace_rank *r = v->rank;
    uint32_t name = e->args == DSE_NONE ? DSE_NONE : r->args[e->args].long_name;
    metric_work work;

    if (name == DSE_NONE || asked[name])
        return;
    asked[name] = true;
    work = metric_work_of(r->names.text[name]);
    if (work == METRIC_WORK_COMM || v->work[e->name] == METRIC_WORK_OTHER)
        v->work[e->name] = (uint8_t)work;
}

/* The kind of work of each kernel's name, asked once a name; how many kernels communicate. */
static bool work_init(metric_view *v, dse_arena *scratch, uint32_t *n_comm)
{
    const trace_rank *r = v->rank;
    bool *asked = DSE_ARENA_NEW(scratch, bool, 2 * ((size_t)r->names.n + 1)), *asked_long;

    v->work = DSE_ARENA_NEW(&v->arena, uint8_t, (size_t)r->names.n + 1);
    if (!asked || !v->work)
        return false;
    asked_long = asked + r->names.n + 1;
    for (uint32_t i = 0; i < v->kernels.n; i++) {
        const trace_event *e = &r->event[v->kernels.event[i]];

        if (!asked[e->name]) {
            asked[e->name] = true;
            v->work[e->name] = (uint8_t)metric_work_of(r->names.text[e->name]);
        }
        if (r->kind == TRACE_NSYS)
            ask_long_name(v, e, asked_long);
    }
    *n_comm = 0;
    for (uint32_t i = 0; i < v->kernels.n; i++) {
        const trace_event *e = &r->event[v->kernels.event[i]];

        if (communicates(v, e)) {
            v->work[e->name] = METRIC_WORK_COMM;
            (*n_comm)++;
        }
    }
    return true;
}

static bool lists_fill(metric_view *v, const sieve *s, dse_arena *scratch)
{
    const trace_rank *r = v->rank;
    uint32_t n_comm;

    if (!keep(&s->list[PICK_KERNELS], &v->arena, &v->kernels) ||
        !keep(&s->list[PICK_MEMORY], &v->arena, &v->memory_ops) || !work_init(v, scratch, &n_comm) ||
        !metric_sort_by_start(r, &v->kernels, scratch) || !metric_sort_by_start(r, &v->memory_ops, scratch) ||
        !room(&v->comm, n_comm, &v->arena) || !room(&v->compute, v->kernels.n - n_comm, &v->arena) ||
        !(v->comm_at = DSE_ARENA_NEW(&v->arena, uint32_t, n_comm)))
        return false;
    for (uint32_t i = 0; i < v->kernels.n; i++) {
        uint32_t event = v->kernels.event[i];

        if (communicates(v, &r->event[event])) {
            v->comm_at[v->comm.n] = i;
            v->comm.event[v->comm.n++] = event;
        } else {
            v->compute.event[v->compute.n++] = event;
        }
    }
    v->comm_layer = n_comm ? METRIC_LAYER_KERNEL : METRIC_LAYER_NONE;
    return true;
}

/* What a stage needs for itself it gives back: together they would be the most that a trace takes. */
static bool lists_init(metric_view *v, const sieve *s)
{
    dse_arena scratch;
    bool good;

    dse_arena_init(&scratch);
    good = lists_fill(v, s, &scratch);
    dse_arena_free(&scratch);
    return good;
}

/* A file without a communication kernel may still have its annotations. */
static bool comm_of_annotations(metric_view *v, const sieve *s, dse_arena *scratch)
{
    static const struct {
        int pick;
        metric_layer layer;
    } layers[] = {{PICK_GPU_COMM, METRIC_LAYER_GPU_ANNOTATION}, {PICK_HOST_COMM, METRIC_LAYER_ANNOTATION}};

    v->comm_at = NULL;
    for (size_t l = 0; l < 2; l++) {
        const metric_events *picked = &s->list[layers[l].pick];

        if (!picked->n)
            continue;
        v->comm_layer = layers[l].layer;
        return keep(picked, &v->arena, &v->comm) && metric_sort_by_start(v->rank, &v->comm, scratch);
    }
    return true;
}

/* ---- launches ------------------------------------------------------------------------------ */

static int by_key(const void *a, const void *b)
{
    const sort_item *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

/* Launches by correlation, the first in the file of each: by number where a profiler counted them up, else sorted. */
typedef struct {
    uint32_t low, high; /* none if low > high */
    uint32_t *by_number;
    uint32_t n;
    sort_item *item;
} launch_index;

static bool launch_index_init(const trace_rank *r, const metric_events *launches, dse_arena *scratch,
                              launch_index *x)
{
    *x = (launch_index){.low = UINT32_MAX, .n = launches->n};
    for (uint32_t i = 0; i < x->n; i++) {
        uint32_t c = r->event[launches->event[i]].correlation;

        x->low = c < x->low ? c : x->low;
        x->high = c > x->high ? c : x->high;
    }
    if (!x->n)
        return true;
    if ((uint64_t)x->high - x->low < (uint64_t)x->n * 4 + 1024) {
        size_t places = (size_t)x->high - x->low + 1;

        if (!(x->by_number = dse_arena_alloc(scratch, places * sizeof *x->by_number)))
            return false;
        memset(x->by_number, 0xff, places * sizeof *x->by_number);
        for (uint32_t i = x->n; i-- > 0;)
            x->by_number[r->event[launches->event[i]].correlation - x->low] = launches->event[i];
        return true;
    }
    if (!(x->item = DSE_ARENA_NEW(scratch, sort_item, x->n)))
        return false;
    for (uint32_t i = 0; i < x->n; i++)
        x->item[i] = (sort_item){r->event[launches->event[i]].correlation, launches->event[i]};
    qsort(x->item, x->n, sizeof *x->item, by_key);
    return true;
}

static uint32_t launch_of(const launch_index *x, uint32_t correlation)
{
    uint32_t a = 0, b = x->n;

    if (!correlation || correlation < x->low || correlation > x->high)
        return DSE_NONE;
    if (x->by_number)
        return x->by_number[correlation - x->low];
    while (a < b) {
        uint32_t mid = a + (b - a) / 2;

        if (x->item[mid].key < correlation)
            a = mid + 1;
        else
            b = mid;
    }
    return a < x->n && x->item[a].key == correlation ? x->item[a].event : DSE_NONE;
}

/* The first event in the file with a kernel's correlation that is a call of the runtime. */
static bool launches_init(metric_view *v, const sieve *s)
{
    const trace_rank *r = v->rank;
    launch_index index;
    dse_arena scratch;
    bool good;

    dse_arena_init(&scratch);
    good = (v->launch = DSE_ARENA_NEW(&v->arena, uint32_t, v->kernels.n)) &&
           launch_index_init(r, &s->list[PICK_LAUNCHES], &scratch, &index);
    for (uint32_t k = 0; k < v->kernels.n && good; k++)
        v->launch[k] = launch_of(&index, r->event[v->kernels.event[k]].correlation);
    dse_arena_free(&scratch);
    return good;
}

/* ---- which collective ---------------------------------------------------------------------- */

/* The annotations nccl:* of all threads, by thread and start. */
typedef struct {
    metric_events list;
    int64_t *end; /* latest end of those of the same thread so far */
} nccl_ranges;

static bool ranges_init(const trace_rank *r, const sieve *s, dse_arena *scratch, nccl_ranges *out)
{
    uint32_t n = s->list[PICK_RANGES].n;
    sort_item *item;

    if (!keep(&s->list[PICK_RANGES], scratch, &out->list) ||
        !(out->end = DSE_ARENA_NEW(scratch, int64_t, n)) ||
        !(item = DSE_ARENA_NEW(scratch, sort_item, 2 * (size_t)n + 1)))
        return false;
    if (!metric_sort_by_start(r, &out->list, scratch))
        return false;
    for (uint32_t i = 0; i < n; i++)
        item[i] = (sort_item){r->event[out->list.event[i]].lane, out->list.event[i]};
    sort_items(item, item + n, n, 32);
    for (uint32_t i = 0; i < n; i++) {
        const trace_event *e = &r->event[item[i].event];

        out->list.event[i] = item[i].event;
        out->end[i] = metric_end(e);
        if (i && r->event[out->list.event[i - 1]].lane == e->lane && out->end[i - 1] > out->end[i])
            out->end[i] = out->end[i - 1];
    }
    return true;
}

/* The innermost range of the thread that holds this time; NULL. */
static const trace_event *range_at(const trace_rank *r, const nccl_ranges *ranges, uint32_t lane, int64_t at)
{
    uint32_t a = 0, b = ranges->list.n;

    while (a < b) {
        uint32_t mid = a + (b - a) / 2;
        const trace_event *e = &r->event[ranges->list.event[mid]];

        if (e->lane < lane || (e->lane == lane && e->start_ps <= at))
            a = mid + 1;
        else
            b = mid;
    }
    while (a-- > 0) {
        const trace_event *e = &r->event[ranges->list.event[a]];

        if (e->lane != lane || ranges->end[a] < at)
            return NULL;
        if (metric_end(e) >= at)
            return e;
    }
    return NULL;
}

/* Of the short name, or else of the long one. */
static metric_comm_type type_of_names(const trace_rank *r, const trace_event *e)
{
    const char *long_name = e->args == DSE_NONE ? NULL : TRACE_NAME(r, r->args[e->args].long_name);
    metric_comm_type type = metric_comm_type_of_kernel(METRIC_TEXT_OF(r, e));

    return type == METRIC_OTHER_COMM && long_name ? metric_comm_type_of_kernel(long_name) : type;
}

static bool types_init(metric_view *v, const sieve *s, dse_arena *scratch)
{
    const trace_rank *r = v->rank;
    nccl_ranges ranges;

    if (!(v->comm_type = DSE_ARENA_NEW(&v->arena, uint8_t, v->comm.n)) ||
        !ranges_init(r, s, scratch, &ranges))
        return false;
    for (uint32_t i = 0; i < v->comm.n; i++) {
        const trace_event *e = &r->event[v->comm.event[i]], *host, *range;
        const char *word = e->args == DSE_NONE ? NULL : TRACE_NAME(r, r->args[e->args].collective);
        uint32_t launch = v->comm_at ? v->launch[v->comm_at[i]] : DSE_NONE;

        if (!word && !v->comm_at) {
            word = METRIC_TEXT_OF(r, e) + strlen("nccl:");
        } else if (!word && launch != DSE_NONE) {
            host = &r->event[launch];
            if ((range = range_at(r, &ranges, host->lane, host->start_ps)))
                word = METRIC_TEXT_OF(r, range) + strlen("nccl:");
        }
        v->comm_type[i] = (uint8_t)(word && *word ? metric_comm_type_of_word(word) : type_of_names(r, e));
    }
    return true;
}

/* ---- steps --------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const metric_step *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->span.start > y->span.start) - (x->span.start < y->span.start);
}

#define NO_NUMBER INT64_MAX

/* The number that follows a marker: "ProfilerStep#12", "iteration 12". */
static int64_t number_after(const char *name, const char *marker)
{
    name += strlen(marker);
    while (*name && (*name < '0' || *name > '9'))
        name++;
    return *name ? strtoll(name, NULL, 10) : NO_NUMBER;
}

static bool steps_of(const trace_rank *r, const metric_events *picked, const char *marker, dse_arena *a,
                     uint32_t *n, metric_step **out)
{
    *n = picked->n;
    *out = NULL;
    if (!*n)
        return true;
    if (!(*out = DSE_ARENA_NEW(a, metric_step, *n)))
        return false;
    for (uint32_t i = 0; i < *n; i++) {
        const trace_event *e = &r->event[picked->event[i]];

        (*out)[i] =
            (metric_step){number_after(METRIC_TEXT_OF(r, e), marker), {metric_start(e), metric_end(e)}};
    }
    qsort(*out, *n, sizeof **out, by_number);
    return true;
}

static int by_span(const void *a, const void *b)
{
    const metric_step *x = a, *y = b;

    if (x->span.start != y->span.start)
        return x->span.start < y->span.start ? -1 : 1;
    return (x->span.end < y->span.end) - (x->span.end > y->span.end);
}

/* What users call their NVTX ranges need not be unique: a range within another of the same marker ("step", "step_fn"; two
 * threads of one process) is a part of it, and where one has no number they are counted in the order of time. */
static void settle_ranges(metric_view *v)
{
    uint32_t n = 0;
    bool numbered = true;

    qsort(v->step, v->n_steps, sizeof *v->step, by_span);
    for (uint32_t i = 0; i < v->n_steps; i++) {
        if (n && v->step[i].span.end <= v->step[n - 1].span.end)
            continue;
        numbered = numbered && v->step[i].number != NO_NUMBER;
        v->step[n++] = v->step[i];
    }
    v->n_steps = n;
    for (uint32_t i = 0; i < n && !numbered; i++)
        v->step[i].number = i;
    qsort(v->step, n, sizeof *v->step, by_number);
}

static bool steps_init(metric_view *v, const sieve *s)
{
    const metric_events *host = &s->list[s->list[PICK_STEPS].n ? PICK_STEPS : PICK_CPU_STEPS];

    if (!steps_of(v->rank, host, s->marker, &v->arena, &v->n_steps, &v->step) ||
        !steps_of(v->rank, &s->list[PICK_GPU_STEPS], s->marker, &v->arena, &v->n_gpu_steps, &v->gpu_step))
        return false;
    if (v->rank->kind == TRACE_NSYS && v->n_steps)
        settle_ranges(v);
    return true;
}

/* ---- the view ------------------------------------------------------------------------------ */

/* Over those of no duration too, which are in no union. */
static void widen(metric_view *v, const metric_events *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        const trace_event *e = &v->rank->event[list->event[i]];

        metric_span_extend(&v->gpu_span, metric_start(e), metric_end(e));
    }
}

static bool unions_init(metric_view *v)
{
    const trace_rank *r = v->rank;

    if (!metric_union_of(r, &v->kernels, &v->arena, &v->kernel_time) ||
        !metric_union_of(r, &v->comm, &v->arena, &v->comm_time) ||
        !metric_union_of(r, &v->memory_ops, &v->arena, &v->memory_time))
        return false;
    v->compute_time = v->kernel_time; /* unless some kernels communicate */
    v->gpu_time = v->kernel_time;
    return (v->compute.n == v->kernels.n || metric_union_of(r, &v->compute, &v->arena, &v->compute_time)) &&
           (!v->memory_time.n ||
            metric_spans_unite(&v->kernel_time, &v->memory_time, &v->arena, &v->gpu_time));
}

static bool times_init(metric_view *v)
{
    v->gpu_span = METRIC_NO_SPAN;
    widen(v, &v->kernels);
    widen(v, &v->memory_ops);
    return unions_init(v);
}

dse_status metric_view_init(metric_view *v, const trace_rank *rank, dse_error *err)
{
    dse_arena scratch;
    sieve s;
    bool ok;

    *v = (metric_view){.rank = rank};
    dse_arena_init(&v->arena);
    dse_arena_init(&scratch);
    ok = sieve_init(&s, rank, &scratch) && lists_init(v, &s) &&
         (v->comm.n || comm_of_annotations(v, &s, &scratch)) && launches_init(v, &s) &&
         types_init(v, &s, &scratch) && steps_init(v, &s);
    dse_arena_free(&scratch);
    ok = ok && times_init(v) && (rank->kind != TRACE_XLA || tpu_rank_init(rank, &v->arena, &v->tpu));
    return ok ? DSE_OK : dse_fail_nomem(err);
}

void metric_view_free(metric_view *v) { dse_arena_free(&v->arena); }
