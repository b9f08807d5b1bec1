/* Which call launched a kernel, and which collective a communication is. */
#include "metrics/kinds.h"
#include "metrics/nest.h"
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

/* The first event in the file with the same correlation that is a call of the runtime. */
void metric_launches_of(const metric_sieve *s, const metric_events *list, size_t n, dse_arena *a,
                        uint32_t **launch)
{
    launch_index index;
    dse_arena scratch;

    dse_arena_init(&scratch);
    launch_index_init(s->rank, &s->list[PICK_LAUNCHES], &scratch, &index);
    for (size_t l = 0; l < n; l++) {
        launch[l] = DSE_ARENA_RAW(a, uint32_t, list[l].n);
        for (uint32_t i = 0; i < list[l].n; i++)
            launch[l][i] = launch_of(&index, s->rank->event[list[l].event[i]].correlation);
    }
    dse_arena_free(&scratch);
}

/* ---- which collective ---------------------------------------------------------------------- */

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
    metric_nest ranges; /* nccl:* of all threads */
    dse_arena scratch;

    dse_arena_init(&scratch);
    ranges = metric_nest_of(r, &s->list[PICK_RANGES], &scratch);
    for (uint32_t i = 0; i < comm->n; i++) {
        const trace_event *e = &r->event[comm->event[i]];
        const char *word = e->args == DSE_NONE ? NULL : TRACE_NAME(r, r->args[e->args].collective);
        uint32_t call = comm_at ? launch[comm_at[i]] : DSE_NONE, range;

        if (!word && !comm_at) {
            word = METRIC_TEXT_OF(r, e) + strlen("nccl:");
        } else if (!word && call != DSE_NONE) {
            range = metric_nest_at(&ranges, r->event[call].lane, r->event[call].start_ps);
            if (range != DSE_NONE)
                word = METRIC_TEXT_OF(r, &r->event[ranges.item[range].event]) + strlen("nccl:");
        }
        type[i] = (uint8_t)(word && *word ? metric_comm_type_of_word(word) : type_of_names(r, e));
    }
    dse_arena_free(&scratch);
    return type;
}
