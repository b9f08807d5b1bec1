/* One row per run: CSV, and the table of a README. */
#include "report/compared_parts.h"

#include <math.h>
#include <string.h>

/* ---- CSV ------------------------------------------------------------------------------------ */

/* Names of metrics, each once, in the order in which runs have them. */
typedef struct {
    const char **name;
    size_t n, cap;
} metric_names;

static void add_name(metric_names *m, const char *name)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->name[i], name) == 0)
            return;
    DSE_GROW(m->name, m->cap, m->n + 1);
    m->name[m->n++] = name;
}

static void put_notes(const report_compared_run *r, report_node *row)
{
    dse_strbuf notes = dse_strbuf_in(row->arena);

    for (size_t i = 0; i < r->n_notes; i++)
        dse_strbuf_addf(&notes, "%s%s", i ? "; " : "", r->note[i]);
    report_put(row, V_TEXT("notes", notes.data));
}

static void put_metric(const report_compared_run *r, const char *name, report_node *row)
{
    const cmp_pair unknown = {.simulated = NAN, .measured = NAN}, *p = &unknown;
    dse_arena *a = row->arena;

    for (size_t i = 0; i < r->n_pairs && p == &unknown; i++)
        if (strcmp(r->pair[i].name, name) == 0)
            p = &r->pair[i];
    report_put(row, V_REAL(dse_arena_printf(a, "%s.simulated", name), p->simulated),
               V_REAL(dse_arena_printf(a, "%s.measured", name), p->measured),
               V_REAL(dse_arena_printf(a, "%s.error", name), cmp_error(p->simulated, p->measured)));
}

static void put_row(const report_compared_run *r, const metric_names *m, report_node *row)
{
    compared_put_run(r, row);
    report_put(row, V_REAL("score", r->score), V_COUNT("scored_metrics", r->n_scored),
               V_TEXT("failed", r->failed));
    put_notes(r, row);
    for (size_t i = 0; i < m->n; i++)
        put_metric(r, m->name[i], row);
}

void report_compared_csv(const report_compared *c, dse_strbuf *out)
{
    metric_names names = {0};
    report_tree t;
    report_node *root = report_tree_begin(&t), *rows = report_list(root, NULL);

    for (size_t i = 0; i < c->n_runs; i++)
        for (size_t k = 0; k < c->run[i].n_pairs; k++)
            add_name(&names, c->run[i].pair[k].name);
    put_row(&(report_compared_run){0}, &names, root);
    report_csv_line(root, true, out);
    for (size_t i = 0; i < c->n_runs; i++) {
        report_node *row = report_object(rows, NULL);

        put_row(&c->run[i], &names, row);
        report_csv_line(row, false, out);
    }
    report_tree_free(&t);
    dse_free(names.name);
}

/* ---- Markdown ------------------------------------------------------------------------------- */

void report_compared_markdown(const report_compared *c, dse_strbuf *out)
{
    unsigned profiles = 0;
    report_tree t;
    report_node *list = report_tree_begin(&t);

    for (size_t i = 0; i < c->n_runs; i++)
        profiles |= c->run[i].profile;
    for (size_t i = 0; i < c->n_runs; i++) {
        const report_compared_run *r = &c->run[i];
        report_node *row = report_row(list, V_NOTE("run", r->name), V_NOTE("model", r->model),
                                      V_AS("devices", V_COUNT(NULL, r->n_devices)));

        report_put_degrees(r->point, r->profile, profiles, row);
        report_put(row, V_CELL("measured", report_seconds(compared_measured(r)).text),
                   V_CELL("simulated", report_seconds(compared_simulated(r)).text),
                   V_CELL("error", report_signed_percent(compared_error(r)).text));
    }
    report_markdown_end(&t, out);
    report_left_markdown(c->left, c->n_left, out);
}
