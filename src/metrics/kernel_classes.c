/* The compute kernels of a simulated run: time by class (workload/kernel.h), and the shapes that take most of
 * it. Only simulated traces name the classes of their kernels; measured ones have kernel names, which
 * kernels.c classifies. */
#include "metrics/guide.h"
#include "metrics/metric.h"

#include <stdlib.h>
#include <string.h>

#define TOP 5 /* shapes of a class */

typedef struct {
    const char *class;
    uint64_t m, n, k, batch;
    uint32_t first; /* by first occurrence */
    uint64_t count;
    int64_t time_ps;
} shape_sum;

typedef struct {
    size_t n, cap;
    shape_sum *shape;
    uint64_t count;
    int64_t time_ps;
} shape_sums;

static shape_sum *find_shape(shape_sums *s, const char *class, const trace_args *a)
{
    for (size_t i = 0; i < s->n; i++) {
        shape_sum *x = &s->shape[i];

        if (x->m == a->m && x->n == a->n && x->k == a->k && x->batch == a->batch && !strcmp(x->class, class))
            return x;
    }
    DSE_GROW(s->shape, s->cap, s->n + 1);
    s->shape[s->n] = (shape_sum){class, a->m, a->n, a->k, a->batch, (uint32_t)s->n, 0, 0};
    return &s->shape[s->n++];
}

static void add_rank(const trace_rank *r, shape_sums *s)
{
    /* Events that say the same share their args, so that shapes are looked up once for each args. */
    uint64_t *count = dse_calloc(r->n_args, sizeof *count);
    int64_t *time_ps = dse_calloc(r->n_args, sizeof *time_ps);

    for (size_t i = 0; i < r->n_events; i++)
        if (r->event[i].args != DSE_NONE) {
            count[r->event[i].args]++;
            time_ps[r->event[i].args] += r->event[i].dur_ps;
        }
    for (uint32_t i = 0; i < r->n_args; i++) {
        const char *class = TRACE_NAME(r, r->args[i].kernel_class);
        shape_sum *x = class && count[i] ? find_shape(s, class, &r->args[i]) : NULL;

        if (!x)
            continue;
        x->count += count[i];
        x->time_ps += time_ps[i];
        s->count += count[i];
        s->time_ps += time_ps[i];
    }
    dse_free(count);
    dse_free(time_ps);
}

/* Classes by name; within one, the shape that takes most time first, equal ones by first occurrence. */
static int by_class_and_time(const void *a, const void *b)
{
    const shape_sum *x = a, *y = b;
    int c = strcmp(x->class, y->class);

    if (c || x->time_ps != y->time_ps)
        return c ? c : x->time_ps > y->time_ps ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static void put_shape(const shape_sum *x, metric_value *to)
{
    metric_put_count(to, "m", x->m);
    metric_put_count(to, "n", x->n);
    metric_put_count(to, "k", x->k);
    metric_put_count(to, "batch", x->batch);
    metric_put_count(to, "count", x->count);
    metric_put_ms(to, "time_ms_sum", x->time_ps);
}

/* The shapes [0, n) are those of one class. */
static void put_class(const shape_sum *shape, size_t n, const shape_sums *all, metric_value *to)
{
    metric_value *list;
    uint64_t count = 0;
    int64_t time_ps = 0;

    for (size_t i = 0; i < n; i++) {
        count += shape[i].count;
        time_ps += shape[i].time_ps;
    }
    metric_put_count(to, "count", count);
    metric_put_ms(to, "time_ms_sum", time_ps);
    guide_put_percent(to, "percentage", (double)time_ps, (double)all->time_ps, "no time");
    metric_put_count(to, "shapes", n);
    list = metric_put_list(to, "top_shapes");
    for (size_t i = 0; i < n && i < TOP; i++)
        put_shape(&shape[i], metric_put_object(list, NULL));
}

static dse_status kernel_class_time(const metric_context *x, metric_value *out, dse_error *err)
{
    shape_sums s = {0};
    metric_value *classes;

    for (uint32_t i = 0; i < x->n_views; i++)
        add_rank(x->view[i].rank, &s);
    if (!s.n) {
        dse_free(s.shape);
        return metric_absent(err, "no kernel says its class: only simulated runs of generated workloads have "
                                  "classes");
    }
    qsort(s.shape, s.n, sizeof *s.shape, by_class_and_time);
    metric_put_count(out, "count", s.count);
    metric_put_ms(out, "time_ms_sum", s.time_ps);
    classes = metric_put_object(out, "by_class");
    for (size_t first = 0, end; first < s.n; first = end) {
        const char *class = s.shape[first].class;

        for (end = first; end < s.n && !strcmp(s.shape[end].class, class); end++)
            ;
        put_class(&s.shape[first], end - first, &s, metric_put_object(classes, class));
    }
    metric_put_integer(out, "num_ranks", x->n_views);
    dse_free(s.shape);
    return DSE_OK;
}

static const metric rows[] = {
    {METRIC_ROW("kernel_class_time", "kineto", "", METRIC_ON(TRACE_SIMULATED), 0,
                "compute kernels of a simulated run by class (matmul, attention, ...): count, time and share "
                "over all ranks, and the shapes that take most time"),
     .compute = kernel_class_time},
};

METRIC_FAMILY(kernel_classes);
