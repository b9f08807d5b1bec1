#include "driver/measure.h"

#include "driver/scale_up.h"
#include "metrics/registry.h"

#include <string.h>

const char *drv_metric_name(const metric *const *all, size_t n, size_t i, dse_arena *a)
{
    bool shared = (i > 0 && strcmp(all[i - 1]->name, all[i]->name) == 0) ||
                  (i + 1 < n && strcmp(all[i + 1]->name, all[i]->name) == 0);

    return shared ? dse_arena_printf(a, "%s.%s", all[i]->group, all[i]->name) : all[i]->name;
}

const char **drv_metric_names(const char *group, dse_arena *a, size_t *n)
{
    size_t n_all;
    const metric *const *all = metric_all(a, &n_all);
    const char **names = DSE_ARENA_NEW(a, const char *, n_all);

    *n = 0;
    for (size_t i = 0; i < n_all; i++)
        if ((!group || !strcmp(all[i]->group, group)) && (!*n || strcmp(names[*n - 1], all[i]->name) != 0))
            names[(*n)++] = all[i]->name;
    return names;
}

static bool takes(const metric *m, const drv_recording *r, bool compat)
{
    unsigned kinds = metric_kinds_of(m, compat);

    if (!r->record.n_ranks)
        return kinds & METRIC_ON_NONE;
    for (uint32_t i = 0; i < r->record.n_ranks; i++)
        if (kinds & METRIC_ON(r->record.rank[i].kind))
            return true;
    return false;
}

unsigned drv_measure_kinds(const char *const *name, size_t n, bool compat, dse_arena *a)
{
    size_t n_all;
    const metric *const *all = metric_all(a, &n_all);
    unsigned kinds = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n_all; k++)
            if (metric_is_named(all[k], name[i]))
                kinds |= metric_kinds_of(all[k], compat);
    return kinds;
}

dse_status drv_measure_find(const drv_recording *r, const char *name, bool compat, const metric **out,
                            dse_error *err)
{
    bool asked[TRACE_KINDS + 1] = {false};
    const metric *any = NULL;
    dse_status st = DSE_OK;

    if (!r->record.n_ranks) /* side files alone: TRACE_KINDS is the kind of no trace */
        return metric_find(name, TRACE_KINDS, compat, out, err);
    for (uint32_t i = 0; st == DSE_OK && i < r->record.n_ranks; i++) {
        trace_kind kind = r->record.rank[i].kind;
        const metric *m;

        if (asked[kind])
            continue;
        asked[kind] = true;
        st = metric_find(name, kind, compat, &m, err);
        if (st == DSE_OK && takes(m, r, compat)) {
            *out = m;
            return DSE_OK;
        }
        if (st == DSE_OK && !any)
            any = m;
    }
    *out = any;
    return st;
}

/* With compat, what a tool of the leaderboard prints where it has nothing to say: an absent headline. */
static void set_absent(const metric *m, const char *why, bool compat, dse_arena *a, report_measured *out)
{
    out->why = dse_arena_strdup(a, why);
    out->value = NULL;
    if (compat && m->headline && strcmp(m->group, "later") == 0) {
        out->value = metric_object_new(a);
        metric_put_absent(out->value, m->headline, why);
    }
}

metric_context drv_metric_context(const drv_recording *r, const metric_options *o, dse_arena *a)
{
    return (metric_context){.record = &r->record,
                            .view = r->view,
                            .n_views = r->n_views,
                            .card = r->has_card ? &r->card : NULL,
                            .options = o,
                            .arena = a};
}

dse_status drv_measure(const drv_recording *r, const metric *m, const char *name, const metric_options *o,
                       dse_arena *a, report_measured *out, dse_error *err)
{
    metric_options how = *o;
    const metric_context x = drv_metric_context(r, &how, a);
    dse_error why = DSE_ERROR_INIT;
    const metric_value *headline;
    metric_value *value = NULL;
    dse_status st;

    how.scale_up = drv_scale_up;
    st = metric_compute(m, &x, &value, &why);

    *out = (report_measured){.name = name, .row = m, .value = value, .other_kind = !takes(m, r, o->compat)};
    if (st == DSE_E_ABSENT) {
        set_absent(m, why.text, o->compat, a, out);
        return DSE_OK;
    }
    if (st != DSE_OK)
        return dse_fail_at(err, st, why.where, "%s: %s", name, why.text);
    headline = report_measured_headline(out);
    if (m->headline && !headline)
        set_absent(m, "it is not in this trace", o->compat, a, out);
    else if (!o->compat && headline && headline->kind == METRIC_ABSENT)
        set_absent(m, headline->text ? headline->text : "it has no finite value", false, a, out);
    return DSE_OK;
}

/* Measures the rows of one name that can read the recording; if none can, the first one, to report that. */
static dse_status measure_rows(const drv_recording *r, const metric *const *row, size_t n,
                               const metric_options *o, dse_arena *a, report_measured *list, size_t *at,
                               dse_error *err)
{
    const metric *plain;
    dse_status found = drv_measure_find(r, row[0]->name, o->compat, &plain, err);

    if (found != DSE_OK)
        return found;
    if (!takes(plain, r, o->compat))
        return drv_measure(r, row[0], row[0]->name, o, a, &list[(*at)++], err);
    for (size_t i = 0; i < n; i++) {
        const char *name = row[i]->name;
        dse_status st;

        if (!takes(row[i], r, o->compat))
            continue;
        if (row[i] != plain)
            name = dse_arena_printf(a, "%s.%s", row[i]->group, row[i]->name);
        if ((st = drv_measure(r, row[i], name, o, a, &list[(*at)++], err)) != DSE_OK)
            return st;
    }
    return DSE_OK;
}

dse_status drv_measure_all(const drv_recording *r, const metric_options *o, dse_arena *a,
                           report_measured **out, size_t *n, dse_error *err)
{
    size_t n_all, at = 0, first = 0;
    const metric *const *all = metric_all(a, &n_all);
    report_measured *list = DSE_ARENA_NEW(a, report_measured, n_all);
    dse_status st = DSE_OK;

    for (size_t i = 1; st == DSE_OK && i <= n_all; i++) {
        if (i < n_all && strcmp(all[i]->name, all[first]->name) == 0)
            continue;
        st = measure_rows(r, all + first, i - first, o, a, list, &at, err);
        first = i;
    }
    *out = list;
    *n = at;
    return st;
}
