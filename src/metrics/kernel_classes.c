/* The compute kernels of a simulated run: time by class (workload/kernel.h), and the shapes that take most of
 * it. Only simulated traces name the classes of their kernels; measured ones have kernel names, which
 * kernels.c classifies. */
#include "metrics/guide.h"
#include "metrics/metric.h"
#include "metrics/order.h"
#include "metrics/tally.h"

#include <inttypes.h>
#include <string.h>

#define TOP 5 /* shapes of a class */

/* Sums by class and shape, and the arguments that each has its shape from. */
typedef struct {
    tally sums;
    size_t cap;
    const trace_args **shape;
} shape_sums;

static void add_rank(const trace_rank *r, shape_sums *s)
{
    /* Events that say the same share their args, so that shapes are looked up once for each args. */
    metric_sums *of = dse_calloc(r->n_args, sizeof *of);
    dse_arena *a = s->sums.arena;

    for (size_t i = 0; i < r->n_events; i++)
        if (r->event[i].args != DSE_NONE)
            metric_sums_add(&of[r->event[i].args], r->event[i].dur_ps);
    for (uint32_t i = 0; i < r->n_args; i++) {
        const trace_args *x = &r->args[i];
        const char *class = TRACE_NAME(r, x->kernel_class);
        tally_row *row;

        if (!class || !of[i].n)
            continue;
        row = tally_at(&s->sums,
                       dse_arena_printf(a, "%s|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu64, class, x->m, x->n,
                                        x->k, x->batch),
                       class, "");
        DSE_ARENA_GROW(a, s->shape, s->cap, (size_t)row->first + 1);
        s->shape[row->first] = x;
        row->n += (uint64_t)of[i].n;
        row->ps += of[i].sum_ps;
    }
    dse_free(of);
}

/* Classes by name; within one, the shape that takes most time first, equal ones by first occurrence. */
static int by_class_and_time(const void *a, const void *b)
{
    const tally_row *x = a, *y = b;
    int c = strcmp(x->name, y->name);

    return c ? c : METRIC_ORDER({y->ps, x->ps}, {x->first, y->first});
}

static void put_sums(uint64_t n, int64_t ps, metric_value *to)
{
    metric_put_count(to, "count", n);
    metric_put_ms(to, "time_ms_sum", ps);
}

static void put_shape(const tally_row *row, const trace_args *x, metric_value *to)
{
    metric_put_count(to, "m", x->m);
    metric_put_count(to, "n", x->n);
    metric_put_count(to, "k", x->k);
    metric_put_count(to, "batch", x->batch);
    put_sums(row->n, row->ps, to);
}

/* The rows [0, n) are the shapes of one class. */
static void put_class(const tally_row *row, size_t n, const trace_args *const *shape, int64_t all_ps,
                      metric_value *to)
{
    metric_value *list;
    uint64_t count = 0;
    int64_t ps = 0;

    for (size_t i = 0; i < n; i++) {
        count += row[i].n;
        ps += row[i].ps;
    }
    put_sums(count, ps, to);
    guide_put_percent(to, "percentage", (double)ps, (double)all_ps, "no time");
    metric_put_count(to, "shapes", n);
    list = metric_put_list(to, "top_shapes");
    for (size_t i = 0; i < n && i < TOP; i++)
        put_shape(&row[i], shape[row[i].first], metric_put_object(list, NULL));
}

static dse_status kernel_class_time(const metric_context *x, metric_value *out, dse_error *err)
{
    shape_sums s = {.sums = {.arena = x->arena}};
    metric_value *classes;
    tally_rows all;

    for (uint32_t i = 0; i < x->n_views; i++)
        add_rank(x->view[i].rank, &s);
    all = tally_end(&s.sums);
    if (!all.n)
        return metric_absent(err, "no kernel says its class: only simulated runs of generated workloads have "
                                  "classes");
    tally_sort(&all, by_class_and_time);
    put_sums(all.count, all.ps, out);
    classes = metric_put_object(out, "by_class");
    for (size_t first = 0, end; first < all.n; first = end) {
        const char *class = all.row[first].name;

        for (end = first; end < all.n && !strcmp(all.row[end].name, class); end++)
            ;
        put_class(&all.row[first], end - first, s.shape, all.ps, metric_put_object(classes, class));
    }
    metric_put_integer(out, "num_ranks", x->n_views);
    return DSE_OK;
}

static const metric rows[] = {
    {METRIC_ROW("kernel_class_time", "kineto", "", METRIC_ON(TRACE_SIMULATED), 0,
                "compute kernels of a simulated run by class (matmul, attention, ...): count, time and share "
                "over all ranks, and the shapes that take most time"),
     .compute = kernel_class_time},
};

METRIC_FAMILY(kernel_classes);
