#include "metrics/layer_times.h"

#include "metrics/numbers.h"
#include "metrics/order.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NO_LAYER UINT64_MAX

typedef struct {
    uint64_t layer;
    metric_span span;
} layer_range;

void metric_layer_times_free(metric_layer_times *t)
{
    dse_free(t->time);
    *t = (metric_layer_times){0};
}

/* The number behind the first "layers." that has one. */
static uint64_t layer_of(const char *name)
{
    static const char word[] = "layers.";
    uint64_t layer;

    for (name = strstr(name, word); name; name = strstr(name + 1, word)) {
        const char *digit = name + sizeof word - 1;

        if (*digit < '0' || *digit > '9')
            continue;
        for (layer = 0; *digit >= '0' && *digit <= '9' && layer < 1000000000; digit++)
            layer = layer * 10 + (uint64_t)(*digit - '0');
        return layer;
    }
    return NO_LAYER;
}

static bool is_host(const trace_event *e)
{
    return (e->category == TRACE_CPU_OP || e->category == TRACE_ANNOTATION) && e->dur_ps > 0;
}

/* The events that name a layer, in the order of the file. */
static void find_ranges(const trace_rank *r, bool host_only, layer_range **range, size_t *n)
{
    uint64_t *layer = dse_calloc((size_t)r->names.n + 1, sizeof *layer);
    size_t cap = 0;
    bool any = false;

    *range = NULL;
    *n = 0;
    for (uint32_t i = 0; i < r->names.n; i++) {
        layer[i] = layer_of(r->names.text[i]);
        any = any || layer[i] != NO_LAYER;
    }
    for (size_t i = 0; any && i < r->n_events; i++) {
        const trace_event *e = &r->event[i];

        if (e->instant || e->name == DSE_NONE || layer[e->name] == NO_LAYER || (host_only && !is_host(e)))
            continue;
        DSE_GROW(*range, cap, *n + 1);
        (*range)[(*n)++] = (layer_range){layer[e->name], {e->start_ps, e->start_ps + e->dur_ps}};
    }
    dse_free(layer);
}

METRIC_COMPARE(by_layer, layer_range, {(int64_t)x->layer, (int64_t)y->layer}, {x->span.start, y->span.start})

/* The time of the ranges of one layer, by start; `span` has room for n. */
static int64_t time_of(const layer_range *range, size_t n, const metric_spans *within, metric_span *span)
{
    metric_spans merged;
    int64_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        span[i] = range[i].span;
        sum += span[i].end - span[i].start;
    }
    if (!within)
        return sum;
    merged = metric_spans_merge(span, n);
    return metric_spans_overlap(&merged, within);
}

void metric_layer_times_add(metric_layer_times *t, const trace_rank *r, const metric_spans *within,
                            uint32_t n_steps)
{
    layer_range *range;
    metric_span *span;
    size_t n, end;

    find_ranges(r, within != NULL, &range, &n);
    span = dse_calloc(n + 1, sizeof *span);
    if (n) {
        qsort(range, n, sizeof *range, by_layer);
        t->n_ranks++;
    }
    for (size_t i = 0; i < n; i = end) {
        for (end = i + 1; end < n && range[end].layer == range[i].layer; end++)
            ;
        DSE_GROW(t->time, t->cap, t->n + 1);
        t->time[t->n++] = (metric_layer_time){
            range[i].layer, (double)time_of(range + i, end - i, within, span) / TRACE_PS_PER_MS / n_steps};
    }
    dse_free(span);
    dse_free(range);
}

static int by_number(const void *a, const void *b)
{
    const metric_layer_time *x = a, *y = b;

    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    return (x->ms > y->ms) - (x->ms < y->ms);
}

void metric_layer_times_put(metric_layer_times *t, bool rounded, metric_value *to)
{
    char key[32];
    size_t end;

    if (t->n)
        qsort(t->time, t->n, sizeof *t->time, by_number);
    for (size_t i = 0; i < t->n; i = end) {
        double sum = 0;

        for (end = i; end < t->n && t->time[end].layer == t->time[i].layer; end++)
            sum += t->time[end].ms;
        sum /= t->n_ranks;
        snprintf(key, sizeof key, "layer_%" PRIu64, t->time[i].layer);
        metric_put_number(to, key, rounded ? metric_round(sum, 2) : sum);
    }
}
