#include "metrics/tally.h"

#include "metrics/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tally_row *tally_at(tally *t, const char *key, const char *name, const char *of)
{
    uint32_t known = t->keys.n, id = trace_names_add(&t->keys, key, strlen(key));

    DSE_ARENA_GROW(t->arena, t->row, t->cap, (size_t)id + 1);
    if (id == known)
        t->row[id] = (tally_row){.name = dse_arena_strdup(t->arena, name),
                                 .of = dse_arena_strdup(t->arena, of),
                                 .first = id,
                                 .bus_bytes_per_s = (double)NAN};
    return &t->row[id];
}

void tally_add(tally_row *row, int64_t ps)
{
    row->least_ps = !row->n || ps < row->least_ps ? ps : row->least_ps;
    row->most_ps = ps > row->most_ps ? ps : row->most_ps;
    row->n++;
    row->ps += ps;
}

static tally_row *kernel_at(tally *t, const char *name, metric_work work)
{
    tally_row *row = tally_at(t, name, name, metric_work_name[work]);

    row->work = row->n ? row->work : (uint8_t)work;
    return row;
}

void tally_add_kernels(tally *t, const metric_view *v, const metric_events *kernels,
                       metric_work (*work_of)(const metric_view *v, const trace_event *e))
{
    const trace_rank *r = v->rank;
    uint32_t *place = dse_calloc((size_t)r->names.n + 1, sizeof *place); /* by name, plus 1 */

    for (uint32_t i = 0; i < kernels->n; i++) {
        const trace_event *e = &r->event[kernels->event[i]];
        const uint32_t name = metric_kernel_name(r, e);

        if (!place[name])
            place[name] =
                kernel_at(t, r->names.text[name], work_of ? work_of(v, e) : metric_kernel_work(v, e))->first +
                1;
        tally_add(&t->row[place[name] - 1], e->dur_ps);
    }
    dse_free(place);
}

void tally_add_rows(tally *t, const tally_rows *rows)
{
    for (const tally_row *k = rows->row; k < rows->row + rows->n; k++)
        tally_merge(kernel_at(t, k->name, (metric_work)k->work), k->n, k->ps);
}

void tally_add_totals(tally *t, const trace_rank *r)
{
    for (size_t i = 0; i < r->n_totals; i++) {
        const char *name = r->names.text[r->total[i].name];

        tally_merge(kernel_at(t, name, metric_work_of(name)), r->total[i].count,
                    r->total[i].total_ns * TRACE_PS_PER_NS);
    }
}

tally_rows tally_end(tally *t)
{
    tally_rows r = {.n = t->keys.n, .row = t->row};

    for (size_t i = 0; i < r.n; i++) {
        r.count += r.row[i].n;
        r.ps += r.row[i].ps;
    }
    trace_names_free(&t->keys);
    return r;
}

METRIC_COMPARE(by_time, tally_row, {y->ps, x->ps}, {x->first, y->first})

void tally_sort(tally_rows *rows, int (*order)(const void *a, const void *b))
{
    if (rows->n)
        qsort(rows->row, rows->n, sizeof *rows->row, order ? order : by_time);
}

void tally_sum_works(const tally_rows *rows, metric_sums by_work[METRIC_WORKS])
{
    for (size_t i = 0; i < rows->n; i++) {
        by_work[rows->row[i].work].n += (int64_t)rows->row[i].n;
        by_work[rows->row[i].work].sum_ps += rows->row[i].ps;
    }
}
