#include "metrics/registry.h"

#include "base/array.h"
#include "base/names.h"
#include "metrics/kinds.h"
#include "metrics/needs.h"

#include <string.h>

/* Every family of metrics: a file src/metrics/<name>.c that ends with METRIC_FAMILY(name), and a word
 * here. Of rows of one name that a trace does not suit, the first says why: those of reports come last. */
#define FAMILIES(X)                                                                                          \
    X(bubble)                                                                                                \
    X(calls)                                                                                                 \
    X(communication)                                                                                         \
    X(experts)                                                                                               \
    X(fsdp)                                                                                                  \
    X(kernel_shapes)                                                                                         \
    X(latency)                                                                                               \
    X(later_bandwidth)                                                                                       \
    X(later_comm)                                                                                            \
    X(later_kernels)                                                                                         \
    X(later_memory)                                                                                          \
    X(later_time)                                                                                            \
    X(memory)                                                                                                \
    X(memory_at_peak)                                                                                        \
    X(memory_timeline)                                                                                       \
    X(mfu)                                                                                                   \
    X(overlap)                                                                                               \
    X(sm)                                                                                                    \
    X(steps)                                                                                                 \
    X(straggler)                                                                                             \
    X(throughput)                                                                                            \
    X(tpu)                                                                                                   \
    X(tpu_hockney)                                                                                           \
    X(traffic)                                                                                               \
    X(training_phases)                                                                                       \
    X(utilization)                                                                                           \
    X(kernels)

#define ROW(name) extern const metric_family metric_family_##name;
FAMILIES(ROW)
#undef ROW

#define ROW(name) &metric_family_##name,
static const metric_family *const families[] = {FAMILIES(ROW)};
#undef ROW

#define N_FAMILIES DSE_COUNT(families)

static int by_name(const metric *x, const metric *y)
{
    int order = strcmp(x->name, y->name);

    return order ? order : strcmp(x->group, y->group);
}

/* Rows of one name, for other kinds of traces, stay in the order of the families. */
const metric *const *metric_all(dse_arena *a, size_t *n)
{
    const metric **all;

    *n = 0;
    for (size_t i = 0; i < N_FAMILIES; i++)
        *n += families[i]->n;
    all = DSE_ARENA_NEW(a, const metric *, *n);
    *n = 0;
    for (size_t i = 0; i < N_FAMILIES; i++)
        for (size_t j = 0; j < families[i]->n; j++) {
            const metric *m = &families[i]->row[j];
            size_t at = (*n)++;

            for (; at && by_name(all[at - 1], m) > 0; at--)
                all[at] = all[at - 1];
            all[at] = m;
        }
    return all;
}

bool metric_is_named(const metric *m, const char *name)
{
    size_t group = strlen(m->group);

    if (strncmp(name, m->group, group) == 0 && name[group] == '.')
        name += group + 1;
    return strcmp(name, m->name) == 0 || metric_is_among(m->alias, name);
}

/* How well a row suits: 0 not; one that takes such traces only under --compat less than one that always does,
 * one that takes other kinds as well less than one that takes few. */
static int suits(const metric *m, trace_kind kind, bool compat)
{
    unsigned taken = metric_kinds_of(m, compat);
    int kinds = 0;

    if (!(taken & METRIC_ON(kind)))
        return 0;
    for (int k = 0; k < TRACE_KINDS; k++)
        kinds += (m->kinds & METRIC_ON(k)) != 0;
    return m->kinds & METRIC_ON(kind) ? 2 + TRACE_KINDS - kinds : 1;
}

static dse_status unknown(const char *name, dse_error *err)
{
    const char *known[256];
    size_t n = 0;

    for (size_t i = 0; i < N_FAMILIES; i++)
        for (size_t j = 0; j < families[i]->n && n < DSE_COUNT(known); j++)
            known[n++] = families[i]->row[j].name;
    return dse_fail_unknown(err, DSE_E_USAGE, "", "metric", name, known, n);
}

dse_status metric_find(const char *name, trace_kind kind, bool compat, const metric **out, dse_error *err)
{
    const metric *any = NULL;
    int best = 0;

    for (size_t i = 0; i < N_FAMILIES; i++)
        for (size_t j = 0; j < families[i]->n; j++) {
            const metric *m = &families[i]->row[j];

            if (metric_is_named(m, name) && (!any || suits(m, kind, compat) > best)) {
                any = m;
                best = suits(m, kind, compat);
            }
        }
    if (!any)
        return unknown(name, err);
    *out = any; /* metric_compute refuses it, with the reason */
    return DSE_OK;
}

/* With arenas of its own in the context: long lists are gone when it is done, whatever else is computed of
 * the trace. */
static dse_status compute_in(dse_arena *own_arena, const metric *m, const metric_context *x,
                             metric_value *out, dse_error *err)
{
    bool compat = x->options->compat && (m->compat || m->compat_put);
    metric_put_fn *put = compat ? m->compat_put : m->put;
    metric_context own = *x, narrow;
    dse_status st;

    own.arena = &own_arena[0];
    own.scratch = &own_arena[1];
    own.row = m;
    st = metric_narrow(m, &own, compat, &narrow, err);
    if (st == DSE_OK && !compat)
        st = metric_check_needs(m->needs, &narrow, err);
    if (st != DSE_OK)
        return st;
    if (!put)
        return (compat ? m->compat : m->compute)(&narrow, out, err);
    put(&narrow, out);
    return DSE_OK;
}

dse_status metric_compute(const metric *m, const metric_context *x, metric_value **out, dse_error *err)
{
    metric_value *v = metric_object_new(x->arena);
    dse_arena own[2] = {0};
    dse_status st;

    st = compute_in(own, m, x, v, err);
    dse_arena_free(&own[0]);
    dse_arena_free(&own[1]);
    if (st == DSE_OK)
        *out = v;
    return st;
}
