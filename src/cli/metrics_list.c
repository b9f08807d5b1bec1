/* The list of metrics. */
#include "base/array.h"
#include "base/names.h"
#include "cli/exit.h"
#include "cli/metrics.h"
#include "driver/measure.h"
#include "metrics/registry.h"

#include <stdio.h>
#include <string.h>

/* Those of kinds that a row takes, as a list. */
static void kinds_json(unsigned kinds, dse_json *j)
{
    dse_json_begin_array(j);
    for (int k = 0; k < TRACE_KINDS; k++)
        if (kinds & METRIC_ON(k))
            dse_json_string(j, trace_kind_name((trace_kind)k));
    dse_json_end_array(j);
}

/* What of it a simulated run and a measured one are compared by. */
static void entries_json(const metric *m, dse_json *j)
{
    static const char *const betters[] = {
        [METRIC_NEITHER] = "neither", [METRIC_LOWER] = "lower", [METRIC_HIGHER] = "higher"};

    if (!m->n_entries)
        return;
    dse_json_key_array(j, "compared");
    for (size_t i = 0; i < m->n_entries; i++) {
        const metric_entry *e = &m->entry[i];

        dse_json_begin_object(j);
        dse_json_key_string(j, "entry", e->path);
        dse_json_key_string(j, "unit", e->unit);
        dse_json_key_string(j, "better", betters[e->better]);
        dse_json_key(j, "tolerance");
        dse_json_double(j, e->tolerance);
        dse_json_end_object(j);
    }
    dse_json_end_array(j);
}

static void row_json(const metric *m, const char *name, dse_json *j)
{
    const struct {
        const char *key, *text;
    } texts[] = {{"name", m->name}, {"full_name", name}, {"group", m->group},
                 {"unit", m->unit}, {"alias", m->alias}, {"help", m->help}};

    dse_json_begin_line(j);
    for (size_t i = 0; i < DSE_COUNT(texts); i++) {
        if (!texts[i].text)
            continue;
        dse_json_key_string(j, texts[i].key, texts[i].text);
    }
    dse_json_key(j, "kinds");
    kinds_json(m->kinds, j);
    dse_json_key(j, "compat_kinds");
    kinds_json(metric_kinds_of(m, true), j);
    entries_json(m, j);
    dse_json_end_object(j);
}

static void list_json(const metric *const *all, size_t n, dse_arena *a, dse_strbuf *out)
{
    dse_json j;

    dse_json_init(&j, out);
    dse_json_begin_array(&j);
    for (size_t i = 0; i < n; i++) {
        const char *name = drv_metric_name(all, n, i, a);

        row_json(all[i], name, &j);
    }
    dse_json_newline(&j);
    dse_json_end_array(&j);
    dse_strbuf_addc(out, '\n');
}

/* The first of several rows with the same name. */
static bool is_first(const metric *const *all, size_t i)
{
    return i == 0 || strcmp(all[i - 1]->name, all[i]->name) != 0;
}

void metrics_list(metrics_format format, dse_arena *a, dse_strbuf *out)
{
    size_t n;
    const metric *const *all = metric_all(a, &n);

    if (format == METRICS_JSON) {
        list_json(all, n, a, out);
        return;
    }
    dse_strbuf_adds(out, format == METRICS_CSV ? "metric\n" : "Available metrics:\n");
    for (size_t i = 0; i < n; i++)
        if (is_first(all, i))
            dse_strbuf_addf(out, "%s%s\n", format == METRICS_CSV ? "" : "  - ", all[i]->name);
}

/* Names once each. */
static const char **plain_names(dse_arena *a, size_t *n)
{
    size_t n_all;
    const metric *const *all = metric_all(a, &n_all);
    const char **names = DSE_ARENA_NEW(a, const char *, n_all);

    *n = 0;
    for (size_t i = 0; i < n_all; i++)
        if (is_first(all, i))
            names[(*n)++] = all[i]->name;
    return names;
}

/* The error, then the names on lines of their own: an error holds a kilobyte, too little for all of them. */
static void say_unknown(const char *name, dse_arena *a)
{
    dse_error unknown = DSE_ERROR_INIT;
    size_t n;
    const char **names = plain_names(a, &n), *nearest = dse_nearest(name, names, n);
    dse_strbuf list, lines;

    dse_fail(&unknown, DSE_E_USAGE,
             nearest ? "unknown metric '%.80s'; did you mean '%s'?" : "unknown metric '%.80s'", name,
             nearest);
    report_error(&unknown);
    dse_strbuf_init(&list);
    dse_strbuf_init(&lines);
    for (size_t i = 0; i < n; i++)
        dse_strbuf_addf(&list, "%s%s", i ? ", " : "", names[i]);
    dse_strbuf_add_wrapped(&lines, list.data, 0, HELP_WIDTH - 2);
    fprintf(stderr, "known metrics:\n%s\n", lines.data);
    dse_strbuf_free(&lines);
    dse_strbuf_free(&list);
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
