#include "metrics/spans.h"

#include "metrics/order.h"

#include <stdlib.h>

metric_spans metric_spans_merge(metric_span *span, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (span[i].end <= span[i].start)
            continue;
        if (kept && span[i].start <= span[kept - 1].end) {
            if (span[i].end > span[kept - 1].end)
                span[kept - 1].end = span[i].end;
        } else {
            span[kept++] = span[i];
        }
    }
    return (metric_spans){kept, span};
}

METRIC_COMPARE(by_start, metric_span, {x->start, y->start})

metric_spans metric_spans_merge_any(metric_span *span, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (span[i].start < span[i - 1].start) {
            qsort(span, n, sizeof *span, by_start);
            break;
        }
    return metric_spans_merge(span, n);
}

int64_t metric_spans_length(const metric_spans *s)
{
    int64_t length = 0;

    for (size_t i = 0; i < s->n; i++)
        length += s->span[i].end - s->span[i].start;
    return length;
}

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

/* Their length, and into out (NULL: no matter) what is in both. */
static int64_t intersect(const metric_spans *a, const metric_spans *b, metric_spans *out)
{
    int64_t length = 0;

    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        int64_t start = later(a->span[i].start, b->span[j].start),
                end = earlier(a->span[i].end, b->span[j].end);

        if (end > start) {
            length += end - start;
            if (out)
                out->span[out->n++] = (metric_span){start, end};
        }
        if (a->span[i].end < b->span[j].end)
            i++;
        else
            j++;
    }
    return length;
}

int64_t metric_spans_overlap(const metric_spans *a, const metric_spans *b) { return intersect(a, b, NULL); }

metric_spans metric_spans_intersect(const metric_spans *a, const metric_spans *b, dse_arena *arena)
{
    metric_spans both = {0, DSE_ARENA_NEW(arena, metric_span, a->n + b->n + 1)};

    intersect(a, b, &both);
    return both;
}

/* The place of the first span that ends after this time; s->n: none does. */
static size_t first_after(const metric_spans *s, int64_t at)
{
    size_t i;

    METRIC_BISECT(i, 0, s->n, s->span[i].end <= at);
    return i;
}

const metric_span *metric_spans_at(const metric_spans *s, int64_t at)
{
    size_t i = first_after(s, at);

    return i < s->n && s->span[i].start <= at ? &s->span[i] : NULL;
}

int64_t metric_spans_within(const metric_spans *s, int64_t start, int64_t end)
{
    int64_t length = 0;

    for (size_t i = first_after(s, start); i < s->n && s->span[i].start < end; i++)
        length += later(0, earlier(s->span[i].end, end) - later(s->span[i].start, start));
    return length;
}

metric_spans metric_spans_unite(const metric_spans *a, const metric_spans *b, dse_arena *arena)
{
    metric_span *all = DSE_ARENA_NEW(arena, metric_span, a->n + b->n + 1);
    size_t n = 0;

    for (size_t i = 0, j = 0; i < a->n || j < b->n;)
        all[n++] =
            j == b->n || (i < a->n && a->span[i].start <= b->span[j].start) ? a->span[i++] : b->span[j++];
    return metric_spans_merge(all, n);
}

metric_spans metric_spans_subtract(const metric_spans *a, const metric_spans *b, dse_arena *arena)
{
    metric_spans left = {0, DSE_ARENA_NEW(arena, metric_span, a->n + b->n + 1)};
    size_t j = 0;

    for (size_t i = 0; i < a->n; i++) {
        int64_t from = a->span[i].start, end = a->span[i].end;

        while (j < b->n && b->span[j].end <= from)
            j++;
        for (size_t k = j; k < b->n && b->span[k].start < end; k++) {
            if (b->span[k].start > from)
                left.span[left.n++] = (metric_span){from, b->span[k].start};
            from = later(from, b->span[k].end);
        }
        if (from < end)
            left.span[left.n++] = (metric_span){from, end};
    }
    return left;
}
