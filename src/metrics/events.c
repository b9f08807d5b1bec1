#include "metrics/events.h"

#include <string.h>

#define DIGIT_BITS 11
#define DIGITS     (1u << DIGIT_BITS)

/* Radix sort by the low `bits` of the keys, stable. The result is in `item`; `other` is as long. */
static void sort_items(metric_sort_item *item, metric_sort_item *other, uint32_t n, unsigned bits)
{
    metric_sort_item *from = item, *to = other, *swap;

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

void metric_sort_by_start(const trace_rank *rank, metric_events *e, dse_arena *scratch)
{
    int64_t low = INT64_MAX, last = INT64_MIN;
    uint64_t span = 0;
    bool sorted = true;
    unsigned bits = 0;
    metric_sort_item *item;

    for (uint32_t i = 0; i < e->n; i++) {
        int64_t at = rank->event[e->event[i]].start_ps;

        sorted = sorted && at >= last;
        last = at;
        low = at < low ? at : low;
    }
    if (sorted)
        return;
    item = DSE_ARENA_NEW(scratch, metric_sort_item, 2 * (size_t)e->n);
    for (uint32_t i = 0; i < e->n; i++) {
        item[i] =
            (metric_sort_item){(uint64_t)rank->event[e->event[i]].start_ps - (uint64_t)low, e->event[i]};
        span |= item[i].key;
    }
    while (bits < 64 && span >> bits)
        bits++;
    sort_items(item, item + e->n, e->n, bits);
    for (uint32_t i = 0; i < e->n; i++)
        e->event[i] = item[i].event;
}

metric_span metric_span_of(const trace_rank *rank, const metric_events *e)
{
    metric_span s = METRIC_NO_SPAN;

    for (uint32_t i = 0; i < e->n; i++)
        metric_span_extend(&s, metric_start(&rank->event[e->event[i]]),
                           metric_end(&rank->event[e->event[i]]));
    return s;
}

/* Twice over the events: how many spans they make, and which. class_of NULL: all of them. */
metric_spans metric_union_of_class(const trace_rank *rank, const metric_events *e, const uint8_t *class_of,
                                   uint8_t class, dse_arena *a)
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
        if (!pass)
            span = DSE_ARENA_NEW(a, metric_span, n);
    }
    return (metric_spans){n, span};
}

metric_spans metric_union_of(const trace_rank *rank, const metric_events *e, dse_arena *a)
{
    return metric_union_of_class(rank, e, NULL, 0, a);
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

void metric_room(metric_events *e, uint32_t n, dse_arena *a) { e->event = DSE_ARENA_NEW(a, uint32_t, n); }
