#include "driver/measure.h"

#include <string.h>

const char *drv_metric_name(const metric *const *all, size_t n, size_t i, dse_arena *a)
{
    bool shared = (i > 0 && strcmp(all[i - 1]->name, all[i]->name) == 0) ||
                  (i + 1 < n && strcmp(all[i + 1]->name, all[i]->name) == 0);

    return shared ? dse_arena_printf(a, "%s.%s", all[i]->group, all[i]->name) : all[i]->name;
}

static bool takes(const metric *m, const drv_recording *r, bool compat)
{
    unsigned kinds = compat && m->compat_kinds ? m->compat_kinds : m->kinds;

    for (uint32_t i = 0; i < r->record.n_ranks; i++)
        if (kinds & METRIC_ON(r->record.rank[i].kind))
            return true;
    return false;
}

dse_status drv_measure_find(const drv_recording *r, const char *name, bool compat, const metric **out,
                            dse_error *err)
{
    bool asked[TRACE_KINDS] = {false};
    const metric *any = NULL;

    for (uint32_t i = 0; i < r->record.n_ranks; i++) {
        trace_kind kind = r->record.rank[i].kind;
        const metric *m;
        dse_status st;

        if (asked[kind])
            continue;
        asked[kind] = true;
        if ((st = metric_find(name, kind, compat, &m, err)) != DSE_OK)
            return st;
        if (takes(m, r, compat)) {
            *out = m;
            return DSE_OK;
        }
        any = any ? any : m;
    }
    /* Of files that are no traces, such as the logs of a router, nobody asks the kind. */
    if (!any)
        return metric_find(name, TRACE_KINETO, compat, out, err);
    *out = any;
    return DSE_OK;
}

/* What a tool of the leaderboard prints where it has nothing to say. */
static dse_status stand_in(const metric *m, const char *why, dse_arena *a, report_measured *out,
                           dse_error *err)
{
    metric_value *v = metric_object_new(a);

    metric_put_absent(v, m->headline, why);
    if (!v || v->failed)
        return dse_fail_nomem(err);
    out->value = v;
    return DSE_OK;
}

static dse_status be_absent(const metric *m, const char *why, bool compat, dse_arena *a, report_measured *out,
                            dse_error *err)
{
    if (!(out->why = dse_arena_strdup(a, why)))
        return dse_fail_nomem(err);
    out->value = NULL;
    return compat && m->headline && strcmp(m->group, "later") == 0 ? stand_in(m, why, a, out, err) : DSE_OK;
}

dse_status drv_measure(const drv_recording *r, const metric *m, const char *name, const metric_options *o,
                       dse_arena *a, report_measured *out, dse_error *err)
{
    metric_context x = {.record = &r->record,
                        .view = r->view,
                        .n_views = r->n_views,
                        .card = r->has_card ? &r->card : NULL,
                        .options = o,
                        .arena = a};
    dse_error why = DSE_ERROR_INIT;
    const metric_value *headline;
    metric_value *value = NULL;
    dse_status st = metric_compute(m, &x, &value, &why);

    *out = (report_measured){.name = name, .row = m, .value = value, .other_kind = !takes(m, r, o->compat)};
    if (st == DSE_E_ABSENT)
        return be_absent(m, why.text, o->compat, a, out, err);
    if (st != DSE_OK)
        return dse_fail_at(err, st, why.where, "%s: %s", name, why.text);
    headline = report_measured_headline(out);
    if (m->headline && !headline)
        return be_absent(m, "it is not in this trace", o->compat, a, out, err);
    if (!o->compat && headline && headline->kind == METRIC_ABSENT)
        return be_absent(m, headline->text ? headline->text : "it has no finite value", false, a, out, err);
    return DSE_OK;
}

dse_status drv_measure_all(const drv_recording *r, const char *group, const metric_options *o, dse_arena *a,
                           report_measured **out, size_t *n, dse_error *err)
{
    size_t n_all, at = 0;
    const metric *const *all = metric_all(a, &n_all);
    report_measured *list = all ? DSE_ARENA_NEW(a, report_measured, n_all) : NULL;

    if (!list)
        return dse_fail_nomem(err);
    for (size_t i = 0; i < n_all; i++) {
        const char *name = group ? all[i]->name : drv_metric_name(all, n_all, i, a);
        dse_status st;

        if (!name)
            return dse_fail_nomem(err);
        if (group && strcmp(all[i]->group, group) != 0)
            continue;
        if ((st = drv_measure(r, all[i], name, o, a, &list[at], err)) != DSE_OK)
            return st;
        at++;
    }
    *out = list;
    *n = at;
    return DSE_OK;
}
