/* Which call launched a kernel, and which collective a communication is. */
#include "metrics/kinds.h"
#include "metrics/order.h"
#include "metrics/sieve.h"

#include <stdlib.h>
#include <string.h>

/* ---- launches ------------------------------------------------------------------------------ */

METRIC_COMPARE(by_key, metric_sort_item, {(int64_t)x->key, (int64_t)y->key}, {x->event, y->event})

/* Launches by correlation, the first in the file of each: by number where a profiler counted them up, else
 * sorted. */
typedef struct {
    uint32_t low, high; /* none if low > high */
    uint32_t *by_number;
    uint32_t n;
    metric_sort_item *item;
} launch_index;

static void launch_index_init(const trace_rank *r, const metric_events *launches, dse_arena *scratch,
                              launch_index *x)
{
    *x = (launch_index){.low = UINT32_MAX, .n = launches->n};
    for (uint32_t i = 0; i < x->n; i++) {
        uint32_t c = r->event[launches->event[i]].correlation;

        x->low = c < x->low ? c : x->low;
        x->high = c > x->high ? c : x->high;
    }
    if (!x->n)
        return;
    if ((uint64_t)x->high - x->low < (uint64_t)x->n * 4 + 1024) {
        size_t places = (size_t)x->high - x->low + 1;

        x->by_number = dse_arena_alloc(scratch, places * sizeof *x->by_number);
        memset(x->by_number, 0xff, places * sizeof *x->by_number);
        for (uint32_t i = x->n; i-- > 0;)
            x->by_number[r->event[launches->event[i]].correlation - x->low] = launches->event[i];
        return;
    }
    x->item = DSE_ARENA_NEW(scratch, metric_sort_item, x->n);
    for (uint32_t i = 0; i < x->n; i++)
        x->item[i] = (metric_sort_item){r->event[launches->event[i]].correlation, launches->event[i]};
    qsort(x->item, x->n, sizeof *x->item, by_key);
}

static uint32_t launch_of(const launch_index *x, uint32_t correlation)
{
    size_t i;

    if (!correlation || correlation < x->low || correlation > x->high)
        return DSE_NONE;
    if (x->by_number)
        return x->by_number[correlation - x->low];
    METRIC_BISECT(i, 0, x->n, x->item[i].key < correlation);
    return i < x->n && x->item[i].key == correlation ? x->item[i].event : DSE_NONE;
}

/* The first event in the file with a kernel's correlation that is a call of the runtime. */
uint32_t *metric_launches_of(const metric_sieve *s, const metric_events *kernels, dse_arena *a)
{
    uint32_t *launch = DSE_ARENA_RAW(a, uint32_t, kernels->n);
    launch_index index;
    dse_arena scratch;

    dse_arena_init(&scratch);
    launch_index_init(s->rank, &s->list[PICK_LAUNCHES], &scratch, &index);
    for (uint32_t k = 0; k < kernels->n; k++)
        launch[k] = launch_of(&index, s->rank->event[kernels->event[k]].correlation);
    dse_arena_free(&scratch);
    return launch;
}

/* ---- which collective ---------------------------------------------------------------------- */

/* The annotations nccl:* of all threads, by thread and start. */
typedef struct {
    metric_events list;
    uint32_t *before; /* the last one before it, of the same thread, that ends later; DSE_NONE */
} nccl_ranges;

static void ranges_init(const trace_rank *r, const metric_sieve *s, dse_arena *scratch, nccl_ranges *out)
{
    uint32_t n = s->list[PICK_RANGES].n;
    metric_sort_item *item;

    metric_keep(&s->list[PICK_RANGES], scratch, &out->list);
    out->before = DSE_ARENA_NEW(scratch, uint32_t, n);
    item = DSE_ARENA_NEW(scratch, metric_sort_item, 2 * (size_t)n + 1);
    metric_sort_by_start(r, &out->list, scratch);
    for (uint32_t i = 0; i < n; i++)
        item[i] = (metric_sort_item){r->event[out->list.event[i]].lane, out->list.event[i]};
    metric_sort_items(item, item + n, n, 32);
    for (uint32_t i = 0; i < n; i++) {
        const trace_event *e = &r->event[item[i].event];
        uint32_t before = i && r->event[item[i - 1].event].lane == e->lane ? i - 1 : DSE_NONE;

        out->list.event[i] = item[i].event;
        while (before != DSE_NONE && metric_end(&r->event[item[before].event]) <= metric_end(e))
            before = out->before[before];
        out->before[i] = before;
    }
}

static bool starts_by(const trace_event *e, uint32_t lane, int64_t at)
{
    return e->lane < lane || (e->lane == lane && e->start_ps <= at);
}

/* The innermost range of the thread that holds this time; NULL. */
static const trace_event *range_at(const trace_rank *r, const nccl_ranges *ranges, uint32_t lane, int64_t at)
{
    size_t next;

    METRIC_BISECT(next, 0, ranges->list.n, starts_by(&r->event[ranges->list.event[next]], lane, at));
    for (uint32_t i = (uint32_t)next - 1; i != DSE_NONE; i = ranges->before[i]) {
        const trace_event *e = &r->event[ranges->list.event[i]];

        if (e->lane != lane)
            return NULL;
        if (metric_end(e) >= at)
            return e;
    }
    return NULL;
}

/* The type by the short name, or else by the long one. */
static metric_comm_type type_of_names(const trace_rank *r, const trace_event *e)
{
    const char *long_name = e->args == DSE_NONE ? NULL : TRACE_NAME(r, r->args[e->args].long_name);
    metric_comm_type type = metric_comm_type_of_kernel(METRIC_TEXT_OF(r, e));

    return type == METRIC_OTHER_COMM && long_name ? metric_comm_type_of_kernel(long_name) : type;
}

uint8_t *metric_comm_types_of(const metric_sieve *s, const metric_events *comm, const uint32_t *comm_at,
                              const uint32_t *launch, dse_arena *a)
{
    const trace_rank *r = s->rank;
    uint8_t *type = DSE_ARENA_RAW(a, uint8_t, comm->n);
    nccl_ranges ranges;
    dse_arena scratch;

    dse_arena_init(&scratch);
    ranges_init(r, s, &scratch, &ranges);
    for (uint32_t i = 0; i < comm->n; i++) {
        const trace_event *e = &r->event[comm->event[i]], *host, *range;
        const char *word = e->args == DSE_NONE ? NULL : TRACE_NAME(r, r->args[e->args].collective);
        uint32_t call = comm_at ? launch[comm_at[i]] : DSE_NONE;

        if (!word && !comm_at) {
            word = METRIC_TEXT_OF(r, e) + strlen("nccl:");
        } else if (!word && call != DSE_NONE) {
            host = &r->event[call];
            if ((range = range_at(r, &ranges, host->lane, host->start_ps)))
                word = METRIC_TEXT_OF(r, range) + strlen("nccl:");
        }
        type[i] = (uint8_t)(word && *word ? metric_comm_type_of_word(word) : type_of_names(r, e));
    }
    dse_arena_free(&scratch);
    return type;
}
