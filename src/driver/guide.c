#include "driver/guide.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/names.h"
#include "metrics/registry.h"
#include "report/measured_page.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define GROUP     "guide"
#define ITERATION "iteration_"

/* ---- iterations ----------------------------------------------------------------------------- */

typedef struct {
    size_t n, cap;
    drv_iteration *item;
} iterations;

/* By number, of any length; then names without a number, by text. */
static int by_number(const void *a, const void *b)
{
    const char *x = ((const drv_iteration *)a)->name + strlen(ITERATION),
               *y = ((const drv_iteration *)b)->name + strlen(ITERATION);
    size_t n = strspn(x, "0123456789"), m = strspn(y, "0123456789");
    int order;

    if (x[n] || y[m] || !n || !m)
        return x[n] || !n ? (y[m] || !m ? strcmp(x, y) : 1) : -1;
    for (; *x == '0'; x++)
        n--;
    for (; *y == '0'; y++)
        m--;
    order = n != m ? (n > m) - (n < m) : strcmp(x, y);
    return order ? order : strcmp(((const drv_iteration *)a)->name, ((const drv_iteration *)b)->name);
}

/* Adds the iterations of one folder, if it exists. */
static dse_status add_iterations(const char *folder, dse_arena *a, iterations *out, dse_error *err)
{
    DIR *dir = opendir(folder);
    size_t first = out->n;
    const struct dirent *e;

    if (!dir)
        return errno == ENOENT || errno == ENOTDIR
                   ? DSE_OK
                   : dse_fail_errno(err, DSE_E_IO, "cannot open '%s'", folder);
    while ((e = readdir(dir))) {
        drv_iteration it;

        if (strncmp(e->d_name, ITERATION, strlen(ITERATION)) != 0)
            continue;
        it.name = dse_arena_strdup(a, e->d_name);
        it.path = dse_arena_printf(a, "%s/%s", folder, e->d_name);
        if (!dse_is_dir(it.path))
            continue;
        DSE_GROW(out->item, out->cap, out->n + 1);
        out->item[out->n++] = it;
    }
    closedir(dir);
    if (out->n > first)
        qsort(out->item + first, out->n - first, sizeof *out->item, by_number);
    return DSE_OK;
}

static dse_status find_iterations(drv_guide *g, dse_arena *a, dse_error *err)
{
    const char *profiles = dse_arena_printf(a, "%s/profile_traces", g->traces);
    const drv_iteration all = {"all", g->traces};
    iterations found = {0};
    dse_status st = add_iterations(profiles, a, &found, err);

    if (st == DSE_OK)
        st = add_iterations(g->traces, a, &found, err);
    g->n = found.n ? found.n : 1;
    g->iteration = dse_arena_copy(a, found.n ? found.item : &all, g->n, sizeof all);
    g->chosen = &g->iteration[(g->n - 1) / 2];
    dse_free(found.item);
    return st;
}

dse_status drv_guide_find(const char *workload, dse_arena *a, drv_guide *out, dse_error *err)
{
    *out = (drv_guide){.workload = workload,
                       .traces = dse_arena_printf(a, "%s/traces", workload),
                       .card = dse_arena_printf(a, "%s/workload_card.yaml", workload)};
    if (!dse_is_dir(workload))
        return dse_fail(err, DSE_E_IO, "there is no folder '%s'", workload);
    if (!dse_is_dir(out->traces))
        return dse_fail(err, DSE_E_IO, "'%s' has no folder traces; a workload has its traces there",
                        workload);
    if (!dse_is_file(out->card))
        return dse_fail(err, DSE_E_IO, "'%s' has no workload_card.yaml", workload);
    return find_iterations(out, a, err);
}

const char *drv_guide_chosen(const drv_guide *g, dse_arena *a)
{
    if (g->chosen->path == g->traces)
        return "all of it (no " ITERATION "<n> in it)";
    return g->n == 1 ? dse_arena_printf(a, "%s, the only one", g->chosen->name)
                     : dse_arena_printf(a, "%s, the middle one of %zu", g->chosen->name, g->n);
}

/* ---- tools ---------------------------------------------------------------------------------- */

static bool is_among(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

dse_status drv_guide_tools(const char *const *name, size_t n, dse_arena *a, const char *const **out,
                           size_t *n_out, dse_error *err)
{
    size_t n_known, at = 0;
    const char **known = drv_metric_names(GROUP, a, &n_known);

    for (size_t i = 0; i < n; i++)
        if (!is_among(name[i], known, n_known))
            return dse_fail_unknown(err, DSE_E_USAGE, "", "tool", name[i], known, n_known);
    for (size_t i = 0; i < n_known; i++)
        if (!n || is_among(known[i], name, n))
            known[at++] = known[i];
    *out = known;
    *n_out = at;
    return DSE_OK;
}

/* ---- the files ------------------------------------------------------------------------------ */

static void add_string(const char *key, const char *text, const char *end, dse_strbuf *out)
{
    dse_json_quote(out, key);
    dse_strbuf_adds(out, ": ");
    if (text)
        dse_json_quote(out, text);
    else
        dse_strbuf_adds(out, "null");
    dse_strbuf_adds(out, end);
}

static void add_metric_json(const report_measured *m, const char *iteration, dse_strbuf *out)
{
    dse_strbuf_adds(out, "    {\n      ");
    add_string("tool_name", m->name, ",\n      ", out);
    dse_strbuf_addf(out, "\"success\": %s,\n      \"data\": ", m->value ? "true" : "false");
    if (m->value) {
        metric_write_json(m->value, 3, out);
    } else {
        dse_strbuf_adds(out, "{\n        ");
        add_string("iteration", iteration, "\n      }", out);
    }
    dse_strbuf_adds(out, ",\n      ");
    add_string("error", m->why, "\n    }", out);
}

static void add_json(const drv_guide *g, const report_measured *m, size_t n, dse_strbuf *out)
{
    dse_strbuf_adds(out, "{\n  ");
    add_string("profile_dir", g->traces, ",\n  ", out);
    add_string("workload_card", g->card, ",\n  \"iterations\": [", out);
    for (size_t i = 0; i < g->n; i++) {
        dse_strbuf_adds(out, i ? ", " : "");
        dse_json_quote(out, g->iteration[i].name);
    }
    dse_strbuf_adds(out, "],\n  \"metrics\": [");
    for (size_t i = 0; i < n; i++) {
        dse_strbuf_adds(out, i ? ",\n" : "\n");
        add_metric_json(&m[i], g->chosen->name, out);
    }
    dse_strbuf_adds(out, n ? "\n  ]\n}\n" : "]\n}\n");
}

static const char *model_of(const drv_recording *rec)
{
    return rec->has_card && rec->card.model_family ? rec->card.model_family : "not in the workload card";
}

static void add_html(const drv_guide *g, const drv_recording *rec, const report_measured *m, size_t n,
                     dse_arena *a, dse_strbuf *out)
{
    const report_fact facts[] = {
        {"traces", g->traces},
        {"workload card", g->card},
        {"model", model_of(rec)},
        {"iteration", drv_guide_chosen(g, a)},
        {"traces read", dse_arena_printf(a, "%" PRIu32, rec->record.n_ranks)},
        {"figures", "to six digits; all digits, and what tables and lists leave out, are in report.json"}};

    report_page_html(&(report_page){.title = "Metrics of a workload",
                                    .n_facts = DSE_COUNT(facts),
                                    .fact = facts,
                                    .n_warnings = rec->record.n_warnings,
                                    .warning = rec->record.warning,
                                    .n = n,
                                    .m = m},
                     out);
}

static dse_status write_files(const drv_guide *g, const drv_recording *rec, const char *output,
                              const report_measured *m, size_t n, dse_arena *a, dse_error *err)
{
    const char *json = dse_arena_printf(a, "%s/report.json", output),
               *html = dse_arena_printf(a, "%s/report.html", output);
    dse_strbuf page = dse_strbuf_in(a), text = dse_strbuf_in(a);
    dse_status st;

    add_html(g, rec, m, n, a, &page);
    /* In the original each tool's data names its iteration; the page names it once. */
    for (size_t i = 0; i < n; i++)
        if (m[i].value)
            metric_put_text(m[i].value, "iteration", g->chosen->name);
    add_json(g, m, n, &text);
    if ((st = dse_mkdirs(output, err)) != DSE_OK || (st = dse_write_text(html, &page, err)) != DSE_OK)
        return st;
    return dse_write_text(json, &text, err);
}

dse_status drv_guide_report(const drv_guide *g, const drv_recording *rec, const char *const *tool, size_t n,
                            const metric_options *o, const char *output, dse_arena *a, report_measured **out,
                            dse_error *err)
{
    report_measured *list = DSE_ARENA_NEW(a, report_measured, n);

    for (size_t i = 0; i < n; i++) {
        const char *name = dse_arena_printf(a, GROUP ".%s", tool[i]);
        const metric *m = NULL;
        dse_status st = drv_measure_find(rec, name, o->compat, &m, err);

        if (st == DSE_OK)
            st = drv_measure(rec, m, tool[i], o, a, &list[i], err);
        if (st != DSE_OK)
            return st;
    }
    *out = list;
    return write_files(g, rec, output, list, n, a, err);
}
