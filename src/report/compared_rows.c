/* One row per run: CSV, and the table of a README. */
#include "report/compared_parts.h"
#include "report/markdown.h"

#include <inttypes.h>
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

static void add_text(const char *text, dse_strbuf *out)
{
    if (text)
        dse_strbuf_add_csv(out, text);
    dse_strbuf_addc(out, ',');
}

static void add_number(double v, dse_strbuf *out)
{
    if (isfinite(v))
        dse_strbuf_add_repr(out, v);
}

static void add_notes(const report_compared_run *r, dse_strbuf *out)
{
    dse_strbuf notes;

    dse_strbuf_init(&notes);
    for (size_t i = 0; i < r->n_notes; i++)
        dse_strbuf_addf(&notes, "%s%s", i ? "; " : "", r->note[i]);
    dse_strbuf_add_csv(out, notes.data);
    dse_strbuf_free(&notes);
}

static void add_metric(const report_compared_run *r, const char *name, dse_strbuf *out)
{
    const cmp_pair *p = NULL;

    for (size_t i = 0; i < r->n_pairs && !p; i++)
        if (strcmp(r->pair[i].name, name) == 0)
            p = &r->pair[i];
    dse_strbuf_addc(out, ',');
    add_number(p ? p->simulated : NAN, out);
    dse_strbuf_addc(out, ',');
    add_number(p ? p->measured : NAN, out);
    dse_strbuf_addc(out, ',');
    add_number(p ? cmp_error(p->simulated, p->measured) : NAN, out);
}

static void add_row(const report_compared_run *r, const metric_names *m, dse_strbuf *out)
{
    add_text(r->name, out);
    add_text(r->where, out);
    add_text(r->model, out);
    add_text(r->point, out);
    dse_strbuf_addf(out, "%" PRIu64 ",", r->n_devices);
    add_text(r->sizes, out);
    dse_strbuf_addf(out, "%" PRIu32 ",", r->group);
    add_number(r->score, out);
    dse_strbuf_addf(out, ",%zu,", r->n_scored);
    add_text(r->failed, out);
    add_notes(r, out);
    for (size_t i = 0; i < m->n; i++)
        add_metric(r, m->name[i], out);
    dse_strbuf_addc(out, '\n');
}

void report_compared_csv(const report_compared *c, dse_strbuf *out)
{
    static const char *const sides[] = {"simulated", "measured", "error"};
    metric_names names = {0};

    for (size_t i = 0; i < c->n_runs; i++)
        for (size_t k = 0; k < c->run[i].n_pairs; k++)
            add_name(&names, c->run[i].pair[k].name);
    dse_strbuf_adds(out, "run,where,model,point,devices,sizes,group,score,scored_metrics,failed,notes");
    for (size_t i = 0; i < names.n; i++) {
        for (size_t k = 0; k < sizeof sides / sizeof sides[0]; k++) {
            dse_strbuf heading;

            dse_strbuf_init(&heading);
            dse_strbuf_addf(&heading, "%s.%s", names.name[i], sides[k]);
            dse_strbuf_addc(out, ',');
            dse_strbuf_add_csv(out, heading.data);
            dse_strbuf_free(&heading);
        }
    }
    dse_strbuf_addc(out, '\n');
    for (size_t i = 0; i < c->n_runs; i++)
        add_row(&c->run[i], &names, out);
    dse_free(names.name);
}

/* ---- Markdown ------------------------------------------------------------------------------- */

void report_compared_markdown(const report_compared *c, dse_strbuf *out)
{
    dse_strbuf_adds(out, "| run | model | devices | dp x tp x sp x pp | measured | simulated | error |\n"
                         "|---|---|---:|---|---:|---:|---:|\n");
    for (size_t i = 0; i < c->n_runs; i++) {
        const report_compared_run *r = &c->run[i];

        dse_strbuf_addc(out, '|');
        report_markdown_cell(r->name, out);
        report_markdown_cell(r->model, out);
        dse_strbuf_addf(out, " %" PRIu64 " |", r->n_devices);
        report_markdown_point(r->point, out);
        report_markdown_seconds(compared_measured(r), out);
        report_markdown_seconds(compared_simulated(r), out);
        report_markdown_error(compared_error(r), out);
        dse_strbuf_addc(out, '\n');
    }
    report_left_markdown(c->left, c->n_left, out);
}
