#include "metrics/match.h"

#include "metrics/order.h"

#include <stdlib.h>
#include <string.h>

static const char *text_of(const metric_match_kind *k) { return k->group.ranks ? k->group.ranks : ""; }

static int by_group(const void *a, const void *b)
{
    const metric_match_kind *x = *(const metric_match_kind *const *)a,
                            *y = *(const metric_match_kind *const *)b;
    int order = strcmp(text_of(x), text_of(y));

    return order ? order : x->type - y->type;
}

METRIC_COMPARE(by_collective, metric_match_call, {x->kind, y->kind}, {x->ordinal, y->ordinal},
               {x->view, y->view})

/* Puts the kinds into the order of groups and types. */
static void sort_kinds(metric_match *m, dse_arena *a)
{
    const metric_match_kind **by = DSE_ARENA_NEW(a, const metric_match_kind *, m->n_kinds);
    uint32_t *place = DSE_ARENA_NEW(a, uint32_t, m->n_kinds);
    metric_match_kind *sorted = DSE_ARENA_NEW(a, metric_match_kind, m->n_kinds);

    for (size_t k = 0; k < m->n_kinds; k++)
        by[k] = &m->kind[k];
    qsort(by, m->n_kinds, sizeof *by, by_group);
    for (uint32_t k = 0; k < m->n_kinds; k++) {
        place[by[k] - m->kind] = k;
        sorted[k] = *by[k];
    }
    for (size_t i = 0; i < m->n; i++)
        m->call[i].kind = place[m->call[i].kind];
    m->kind = sorted;
}

/* The number of a kind, whose name is made of its type and group. */
static uint32_t kind_of(metric_match *m, trace_names *names, metric_group group, uint8_t type,
                        dse_strbuf *name)
{
    uint32_t kind;

    dse_strbuf_clear(name);
    dse_strbuf_addf(name, "%u%c%s", type, group.ranks ? ':' : '-', group.ranks ? group.ranks : "");
    kind = trace_names_add(names, name->data, name->len);
    if (kind == m->n_kinds)
        m->kind[m->n_kinds++] = (metric_match_kind){group, type};
    return kind;
}

metric_match metric_match_of(const metric_context *x, metric_group_fn *group_of, bool sorted, dse_arena *a)
{
    metric_match m = {0};
    trace_names names = {0};
    dse_strbuf name;
    uint32_t *count;
    size_t most = 0;

    for (uint32_t i = 0; i < x->n_views; i++)
        most += x->view[i].comm.n;
    m.kind = DSE_ARENA_NEW(a, metric_match_kind, most);
    m.call = DSE_ARENA_NEW(a, metric_match_call, most);
    dse_strbuf_init(&name);
    for (uint32_t i = 0; i < x->n_views; i++) {
        const metric_view *v = &x->view[i];

        count = DSE_ARENA_NEW(a, uint32_t, m.n_kinds + v->comm.n);
        for (uint32_t c = 0; c < v->comm.n; c++) {
            const trace_event *e = &v->rank->event[v->comm.event[c]];
            const trace_args *args = metric_args_of(v->rank, e);
            metric_group g = args ? group_of(v->rank, args) : (metric_group){0};
            uint32_t kind = kind_of(&m, &names, g, v->comm_type[c], &name);

            m.call[m.n++] = (metric_match_call){kind, count[kind]++, i, e};
        }
    }
    dse_strbuf_free(&name);
    trace_names_free(&names);
    if (sorted)
        sort_kinds(&m, a);
    if (m.n)
        qsort(m.call, m.n, sizeof *m.call, by_collective);
    return m;
}

size_t metric_match_length(const metric_match *m, size_t i)
{
    size_t n = 1;

    while (i + n < m->n && m->call[i + n].kind == m->call[i].kind &&
           m->call[i + n].ordinal == m->call[i].ordinal)
        n++;
    return n;
}
