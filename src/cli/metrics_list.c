/* The list of metrics. */
#include "base/names.h"
#include "cli/exit.h"
#include "cli/metrics.h"
#include "driver/measure.h"
#include "metrics/registry.h"
#include "report/tree.h"

#include <stdio.h>
#include <string.h>

/* The kinds of traces among these, as a list. */
static void put_kinds(const char *key, unsigned kinds, report_node *to)
{
    report_node *list = report_list(to, key);

    for (int k = 0; k < TRACE_KINDS; k++)
        if (kinds & METRIC_ON(k))
            report_put(list, V_TEXT(NULL, trace_kind_name((trace_kind)k)));
}

/* The figures by which a simulated run and a measured one are compared. */
static void put_entries(const metric *m, report_node *to)
{
    static const char *const betters[] = {
        [METRIC_NEITHER] = "neither", [METRIC_LOWER] = "lower", [METRIC_HIGHER] = "higher"};
    report_node *list = m->n_entries ? report_list(to, "compared") : NULL;

    for (size_t i = 0; i < m->n_entries; i++) {
        const metric_entry *e = &m->entry[i];

        report_row(list, V_TEXT("entry", e->path), V_TEXT("unit", e->unit),
                   V_TEXT("better", betters[e->better]), V_REAL("tolerance", e->tolerance));
    }
}

static void list_json(dse_arena *a, dse_strbuf *out)
{
    size_t n;
    const metric *const *all = metric_all(a, &n);
    report_tree t;
    report_node *root = report_tree_begin(&t);

    root->value = (report_value){.kind = REPORT_LIST, .line = true};
    for (size_t i = 0; i < n; i++) {
        const metric *m = all[i];
        report_node *row =
            report_row(root, V_TEXT("name", m->name), V_TEXT("full_name", drv_metric_name(all, n, i, a)),
                       V_TEXT("group", m->group), V_GIVEN(m->unit, V_TEXT("unit", m->unit)),
                       V_GIVEN(m->alias, V_TEXT("alias", m->alias)), V_TEXT("help", m->help));

        put_kinds("kinds", m->kinds, row);
        put_kinds("compat_kinds", metric_kinds_of(m, true), row);
        put_entries(m, row);
    }
    report_tree_end(&t, out);
}

void metrics_list(metrics_format format, dse_arena *a, dse_strbuf *out)
{
    size_t n;
    const char **names = drv_metric_names(NULL, a, &n);

    if (format == METRICS_JSON) {
        list_json(a, out);
        return;
    }
    dse_strbuf_adds(out, format == METRICS_CSV ? "metric\n" : "Available metrics:\n");
    for (size_t i = 0; i < n; i++)
        dse_strbuf_addf(out, "%s%s\n", format == METRICS_CSV ? "" : "  - ", names[i]);
}

/* The error, then the names on lines of their own: an error holds a kilobyte, too little for all of them. */
static void say_unknown(const char *name, dse_arena *a)
{
    dse_error unknown = DSE_ERROR_INIT;
    size_t n;
    const char **names = drv_metric_names(NULL, a, &n), *nearest = dse_nearest(name, names, n);
    dse_strbuf list = dse_strbuf_in(a);
    dse_strbuf lines = dse_strbuf_in(a);

    dse_fail(&unknown, DSE_E_USAGE,
             nearest ? "unknown metric '%.80s'; did you mean '%s'?" : "unknown metric '%.80s'", name,
             nearest);
    report_error(&unknown);
    for (size_t i = 0; i < n; i++)
        dse_strbuf_addf(&list, "%s%s", i ? ", " : "", names[i]);
    dse_strbuf_add_wrapped(&lines, list.data, 0, HELP_WIDTH - 2);
    fprintf(stderr, "known metrics:\n%s\n", lines.data);
}

bool metrics_known(const option_list *names, dse_arena *a)
{
    const metric *m;

    for (size_t i = 0; i < names->n; i++) {
        if (metric_find(names->item[i], TRACE_KINETO, false, &m, NULL) != DSE_OK) {
            say_unknown(names->item[i], a);
            return false;
        }
    }
    return true;
}
