#include "metrics/view.h"

#include <stdlib.h>
#include <string.h>

#define NAME_OF(r, e) METRIC_TEXT_OF(r, e)

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

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

bool metric_union_of(const trace_rank *rank, const metric_events *e, dse_arena *a, metric_spans *out)
{
    metric_span *span = DSE_ARENA_NEW(a, metric_span, e->n);

    if (!span)
        return false;
    for (uint32_t i = 0; i < e->n; i++) {
        const trace_event *v = &rank->event[e->event[i]];
        span[i] = (metric_span){metric_start(v), metric_end(v)};
    }
    *out = metric_spans_merge(span, e->n);
    return true;
}

static bool room(metric_events *e, uint32_t n, dse_arena *a)
{
    e->event = DSE_ARENA_NEW(a, uint32_t, n);
    return e->event != NULL;
}

/* ---- which is which ------------------------------------------------------------------------ */

/* What a name says, asked once a name. */
enum { IS_ASKED = 1, IS_COMM = 2, IS_ASKED_LONG = 4 };

/* A kernel of Nsight Systems has a short name, and a long one with namespace and template arguments. The short one has
 * the word; where it says nothing, or the long one says that it communicates (ep::intranode::dispatch), that has it. */
static void ask_long_name(metric_view *v, const trace_event *e, uint8_t *said)
{
    const trace_rank *r = v->rank;
    uint32_t name = e->args == DSE_NONE ? DSE_NONE : r->args[e->args].long_name;
    metric_work work;

    if (name == DSE_NONE || (said[name] & IS_ASKED_LONG))
        return;
    said[name] |= IS_ASKED_LONG;
    work = metric_work_of(r->names.text[name]);
    if (work == METRIC_WORK_COMM || v->work[e->name] == METRIC_WORK_OTHER)
        v->work[e->name] = (uint8_t)work;
    if (work == METRIC_WORK_COMM)
        said[e->name] |= IS_COMM;
}

static void ask_names(metric_view *v, uint8_t *said)
{
    const trace_rank *r = v->rank;

    for (size_t i = 0; i < r->n_events; i++) {
        const trace_event *e = &r->event[i];

        if (e->instant || e->category != TRACE_KERNEL || e->name == DSE_NONE)
            continue;
        if (!(said[e->name] & IS_ASKED)) {
            metric_work work = metric_work_of(NAME_OF(r, e));
            v->work[e->name] = (uint8_t)work;
            said[e->name] |= (uint8_t)(IS_ASKED | (work == METRIC_WORK_COMM ? IS_COMM : 0));
        }
        ask_long_name(v, e, said);
    }
}

static bool lists_init(metric_view *v, dse_arena *scratch)
{
    const trace_rank *r = v->rank;
    uint8_t *said = DSE_ARENA_NEW(scratch, uint8_t, (size_t)r->names.n + 1);
    uint32_t n_kernels = 0, n_memory = 0, n_comm = 0;

    v->work = DSE_ARENA_NEW(&v->arena, uint8_t, (size_t)r->names.n + 1);
    if (!said || !v->work)
        return false;
    ask_names(v, said);
    for (size_t i = 0; i < r->n_events; i++) {
        const trace_event *e = &r->event[i];

        if (e->instant)
            continue;
        n_memory += e->category == TRACE_MEMCPY || e->category == TRACE_MEMSET;
        if (e->category != TRACE_KERNEL || e->name == DSE_NONE)
            continue;
        n_kernels++;
        n_comm += (said[e->name] & IS_COMM) != 0;
    }
    if (!room(&v->kernels, n_kernels, &v->arena) || !room(&v->memory_ops, n_memory, &v->arena) ||
        !room(&v->comm, n_comm, &v->arena) || !room(&v->compute, n_kernels - n_comm, &v->arena) ||
        !(v->comm_at = DSE_ARENA_NEW(&v->arena, uint32_t, n_comm)))
        return false;
    for (size_t i = 0; i < r->n_events; i++) {
        const trace_event *e = &r->event[i];

        if (!e->instant && e->category == TRACE_KERNEL && e->name != DSE_NONE)
            v->kernels.event[v->kernels.n++] = (uint32_t)i;
        else if (!e->instant && (e->category == TRACE_MEMCPY || e->category == TRACE_MEMSET))
            v->memory_ops.event[v->memory_ops.n++] = (uint32_t)i;
    }
    if (!metric_sort_by_start(r, &v->kernels, scratch) || !metric_sort_by_start(r, &v->memory_ops, scratch))
        return false;
    for (uint32_t i = 0; i < v->kernels.n; i++) {
        uint32_t event = v->kernels.event[i];

        if (said[r->event[event].name] & IS_COMM) {
            v->comm_at[v->comm.n] = i;
            v->comm.event[v->comm.n++] = event;
        } else {
            v->compute.event[v->compute.n++] = event;
        }
    }
    v->comm_layer = n_comm ? METRIC_LAYER_KERNEL : METRIC_LAYER_NONE;
    return true;
}

/* A file without a communication kernel may still have its annotations. */
static bool comm_of_annotations(metric_view *v, dse_arena *scratch)
{
    const trace_rank *r = v->rank;
    static const struct {
        trace_category category;
        metric_layer layer;
    } layers[] = {{TRACE_GPU_ANNOTATION, METRIC_LAYER_GPU_ANNOTATION},
                  {TRACE_ANNOTATION, METRIC_LAYER_ANNOTATION}};

    v->comm_at = NULL;
    for (size_t l = 0; l < 2 && !v->comm.n; l++) {
        uint32_t n = 0;

        for (size_t i = 0; i < r->n_events; i++)
            n += r->event[i].category == layers[l].category && r->event[i].dur_ps > 0 &&
                 begins(NAME_OF(r, &r->event[i]), "nccl:");
        if (!n)
            continue;
        if (!room(&v->comm, n, &v->arena))
            return false;
        for (size_t i = 0; i < r->n_events; i++)
            if (r->event[i].category == layers[l].category && r->event[i].dur_ps > 0 &&
                begins(NAME_OF(r, &r->event[i]), "nccl:"))
                v->comm.event[v->comm.n++] = (uint32_t)i;
        v->comm_layer = layers[l].layer;
        if (!metric_sort_by_start(r, &v->comm, scratch))
            return false;
    }
    return true;
}

/* ---- launches ------------------------------------------------------------------------------ */

static bool is_launch(const trace_event *e)
{
    return (e->category == TRACE_RUNTIME || e->category == TRACE_DRIVER) && e->correlation;
}

static int by_key(const void *a, const void *b)
{
    const sort_item *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

/* The first event in the file with a kernel's correlation that is a call of the runtime. */
static bool launches_init(metric_view *v, dse_arena *scratch)
{
    const trace_rank *r = v->rank;
    uint32_t n = 0, low = UINT32_MAX, high = 0;
    uint32_t *by_number = NULL;
    sort_item *item = NULL;

    for (size_t i = 0; i < r->n_events; i++)
        if (is_launch(&r->event[i])) {
            uint32_t c = r->event[i].correlation;

            n++;
            low = c < low ? c : low;
            high = c > high ? c : high;
        }
    if (!(v->launch = DSE_ARENA_NEW(&v->arena, uint32_t, v->kernels.n)))
        return false;
    memset(v->launch, 0xff, v->kernels.n * sizeof *v->launch);
    if (!n)
        return true;
    if ((uint64_t)high - low < (uint64_t)n * 4 + 1024) { /* numbers that a profiler counts up */
        size_t places = (size_t)high - low + 1;

        if (!(by_number = dse_arena_alloc(scratch, places * sizeof *by_number)))
            return false;
        memset(by_number, 0xff, places * sizeof *by_number);
        for (size_t i = r->n_events; i-- > 0;)
            if (is_launch(&r->event[i]))
                by_number[r->event[i].correlation - low] = (uint32_t)i;
    } else {
        if (!(item = DSE_ARENA_NEW(scratch, sort_item, n)))
            return false;
        n = 0;
        for (size_t i = 0; i < r->n_events; i++)
            if (is_launch(&r->event[i]))
                item[n++] = (sort_item){r->event[i].correlation, (uint32_t)i};
        qsort(item, n, sizeof *item, by_key);
    }
    for (uint32_t k = 0; k < v->kernels.n; k++) {
        uint32_t c = r->event[v->kernels.event[k]].correlation;

        if (c < low || c > high || !c)
            continue;
        if (by_number) {
            v->launch[k] = by_number[c - low];
        } else {
            uint32_t a = 0, b = n;

            while (a < b) {
                uint32_t mid = a + (b - a) / 2;
                if (item[mid].key < c)
                    a = mid + 1;
                else
                    b = mid;
            }
            if (a < n && item[a].key == c)
                v->launch[k] = item[a].event;
        }
    }
    return true;
}

/* ---- which collective ---------------------------------------------------------------------- */

/* The annotations nccl:* of all threads, by thread and start. */
typedef struct {
    metric_events list;
    int64_t *end; /* latest end of those of the same thread so far */
} nccl_ranges;

static bool ranges_init(const trace_rank *r, dse_arena *scratch, nccl_ranges *out)
{
    uint32_t n = 0;
    sort_item *item;

    for (size_t i = 0; i < r->n_events; i++)
        n += (r->event[i].category == TRACE_ANNOTATION || r->event[i].category == TRACE_CPU_OP) &&
             begins(NAME_OF(r, &r->event[i]), "nccl:") &&
             strcmp(NAME_OF(r, &r->event[i]), "nccl:coalesced") != 0;
    out->list.n = 0;
    if (!room(&out->list, n, scratch) || !(out->end = DSE_ARENA_NEW(scratch, int64_t, n)) ||
        !(item = DSE_ARENA_NEW(scratch, sort_item, 2 * (size_t)n + 1)))
        return false;
    for (size_t i = 0; i < r->n_events && n; i++)
        if ((r->event[i].category == TRACE_ANNOTATION || r->event[i].category == TRACE_CPU_OP) &&
            begins(NAME_OF(r, &r->event[i]), "nccl:") &&
            strcmp(NAME_OF(r, &r->event[i]), "nccl:coalesced") != 0)
            out->list.event[out->list.n++] = (uint32_t)i;
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
    metric_comm_type type = metric_comm_type_of_kernel(NAME_OF(r, e));

    return type == METRIC_OTHER_COMM && long_name ? metric_comm_type_of_kernel(long_name) : type;
}

static bool types_init(metric_view *v, dse_arena *scratch)
{
    const trace_rank *r = v->rank;
    nccl_ranges ranges;

    if (!(v->comm_type = DSE_ARENA_NEW(&v->arena, uint8_t, v->comm.n)) || !ranges_init(r, scratch, &ranges))
        return false;
    for (uint32_t i = 0; i < v->comm.n; i++) {
        const trace_event *e = &r->event[v->comm.event[i]], *host, *range;
        const char *word = e->args == DSE_NONE ? NULL : TRACE_NAME(r, r->args[e->args].collective);
        uint32_t launch = v->comm_at ? v->launch[v->comm_at[i]] : DSE_NONE;

        if (!word && !v->comm_at) {
            word = NAME_OF(r, e) + strlen("nccl:");
        } else if (!word && launch != DSE_NONE) {
            host = &r->event[launch];
            if ((range = range_at(r, &ranges, host->lane, host->start_ps)))
                word = NAME_OF(r, range) + strlen("nccl:");
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

static bool steps_of(const metric_view *v, trace_category category, const char *marker, dse_arena *a,
                     uint32_t *n, metric_step **out)
{
    const trace_rank *r = v->rank;

    *n = 0;
    *out = NULL;
    for (int pass = 0; pass < 2; pass++) {
        uint32_t at = 0;

        for (size_t i = 0; i < r->n_events; i++) {
            const trace_event *e = &r->event[i];

            if (e->category != category || e->dur_ps <= 0 || !begins(NAME_OF(r, e), marker))
                continue;
            if (pass)
                (*out)[at] =
                    (metric_step){number_after(NAME_OF(r, e), marker), {metric_start(e), metric_end(e)}};
            at++;
        }
        if (!pass && at && !(*out = DSE_ARENA_NEW(a, metric_step, at)))
            return false;
        *n = at;
        if (!at)
            return true;
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

/* Nsight Systems knows no steps but what an NVTX range is called; the first of these that there is. */
static bool steps_of_ranges(metric_view *v)
{
    static const char *const markers[] = {"ProfilerStep#", "iteration", "step"};

    for (size_t i = 0; i < sizeof markers / sizeof markers[0] && !v->n_steps; i++)
        if (!steps_of(v, TRACE_ANNOTATION, markers[i], &v->arena, &v->n_steps, &v->step))
            return false;
    if (v->n_steps)
        settle_ranges(v);
    return true;
}

static bool steps_init(metric_view *v)
{
    static const char marker[] = "ProfilerStep#";

    if (v->rank->kind == TRACE_NSYS)
        return steps_of_ranges(v);
    return steps_of(v, TRACE_ANNOTATION, marker, &v->arena, &v->n_steps, &v->step) &&
           (v->n_steps || steps_of(v, TRACE_CPU_OP, marker, &v->arena, &v->n_steps, &v->step)) &&
           steps_of(v, TRACE_GPU_ANNOTATION, marker, &v->arena, &v->n_gpu_steps, &v->gpu_step);
}

/* ---- the view ------------------------------------------------------------------------------ */

/* Over those of no duration too, which are in no union. */
static void widen(metric_view *v, const metric_events *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        const trace_event *e = &v->rank->event[list->event[i]];

        if (metric_start(e) < v->gpu_span.start)
            v->gpu_span.start = metric_start(e);
        if (metric_end(e) > v->gpu_span.end)
            v->gpu_span.end = metric_end(e);
    }
}

static bool times_init(metric_view *v)
{
    const trace_rank *r = v->rank;

    if (!metric_union_of(r, &v->kernels, &v->arena, &v->kernel_time) ||
        !metric_union_of(r, &v->compute, &v->arena, &v->compute_time) ||
        !metric_union_of(r, &v->comm, &v->arena, &v->comm_time) ||
        !metric_union_of(r, &v->memory_ops, &v->arena, &v->memory_time) ||
        !metric_spans_unite(&v->kernel_time, &v->memory_time, &v->arena, &v->gpu_time))
        return false;
    v->gpu_span = (metric_span){INT64_MAX, INT64_MIN};
    widen(v, &v->kernels);
    widen(v, &v->memory_ops);
    return true;
}

dse_status metric_view_init(metric_view *v, const trace_rank *rank, dse_error *err)
{
    dse_arena scratch;
    bool ok;

    *v = (metric_view){.rank = rank};
    dse_arena_init(&v->arena);
    dse_arena_init(&scratch);
    ok = lists_init(v, &scratch) && (v->comm.n || comm_of_annotations(v, &scratch)) &&
         launches_init(v, &scratch) && types_init(v, &scratch) && times_init(v) && steps_init(v) &&
         (rank->kind != TRACE_XLA || tpu_rank_init(rank, &v->arena, &v->tpu));
    dse_arena_free(&scratch);
    return ok ? DSE_OK : dse_fail_nomem(err);
}

void metric_view_free(metric_view *v) { dse_arena_free(&v->arena); }
