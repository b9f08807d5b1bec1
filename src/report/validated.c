#include "report/validated.h"

#include <math.h>

static report_text percent(double v) { return report_format(isnan(v) ? "-" : "%.1f%%", v * 100); }
static report_text share(double v) { return report_format(isnan(v) ? "-" : "%.0f%%", v * 100); }
static report_text tau(double v) { return report_format(isnan(v) ? "-" : "%.2f", v); }

/* ---- Markdown -------------------------------------------------------------------------------------- */

static void begin(const report_validated_table *t, report_node *row)
{
    report_put(row, V_NOTE("measured", t->title), V_NOTE("system", t->system),
               V_AS("runs", V_COUNT(NULL, t->n)));
}

static void put_spread_cells(const cmp_spread *s, const char *mean, report_node *row)
{
    report_put(row, V_CELL(mean, percent(s->mean).text), V_CELL("median", percent(s->median).text),
               V_CELL("p90", percent(s->p90).text), V_CELL("worst", report_signed_percent(s->worst).text),
               V_CELL("bias", report_signed_percent(s->bias).text),
               V_CELL("within 10 %", share(s->within).text));
}

/* A table of those of the tables that have something to say in it, under a sentence. */
static void add_table(const report_validated *v, const char *sentence,
                      bool (*has)(const report_validated_table *t),
                      void (*fill)(const report_validated_table *t, report_node *row), dse_strbuf *out)
{
    report_tree tree;
    report_node *list = report_tree_begin(&tree);

    for (size_t i = 0; i < v->n; i++)
        if (has(&v->table[i]))
            fill(&v->table[i], report_object(list, NULL));
    if (list->first)
        dse_strbuf_addf(out, "%s%s:\n\n", out->len ? "\n" : "", sentence);
    report_markdown_end(&tree, out);
}

static bool is_there(const report_validated_table *t) { return !t->absent; }
static bool has_fit(const report_validated_table *t) { return t->fit; }
static bool has_choices(const report_validated_table *t) { return t->choice.groups; }

static void unfitted_cells(const report_validated_table *t, report_node *row)
{
    begin(t, row);
    put_spread_cells(&t->unfitted, "mean", row);
}

static void fitted_cells(const report_validated_table *t, report_node *row)
{
    begin(t, row);
    put_spread_cells(&t->fitted, "mean", row);
    report_put(row, V_NOTE("left out", t->left_out), V_NOTE("fitted", t->fit));
}

static void choice_cells(const report_validated_table *t, report_node *row)
{
    const bool repeats = !isnan(t->repeats.deviation);
    const report_validated_choice *c = &t->choice, *f = &t->fitted_choice;

    report_put(row, V_NOTE("measured", t->title), V_AS("jobs", V_COUNT(NULL, c->groups)),
               V_AS("strategies", V_COUNT(NULL, c->runs)), V_NOTE("by", t->by_tokens ? "token" : "step"),
               V_CELL("tau-b", tau(c->kendall).text), V_CELL("regret", percent(c->regret).text),
               V_CELL("worst", percent(c->worst_regret).text), V_CELL("fitted: tau-b", tau(f->kendall).text),
               V_CELL("regret", percent(f->regret).text), V_CELL("worst", percent(f->worst_regret).text),
               V_CELL("repeats differ", percent(t->repeats.deviation).text),
               V_CELL("then at best: tau-b", repeats ? tau(t->repeats.kendall).text : "-"),
               V_CELL("regret", repeats ? percent(t->repeats.regret).text : "-"));
}

static double median_width(const report_validated_cover *c)
{
    return c->with_band ? (c->width[(c->with_band - 1) / 2] + c->width[c->with_band / 2]) / 2 : NAN;
}

static void cover_cells(const report_validated_cover *c, report_node *row)
{
    report_put(row, V_NOTE("device", c->device), V_AS("runs", V_COUNT(NULL, c->runs)),
               V_AS("with a band", V_COUNT(NULL, c->with_band)), V_AS("inside", V_COUNT(NULL, c->inside)),
               V_CELL("share", share(c->with_band ? (double)c->inside / (double)c->with_band : NAN).text),
               V_CELL("median width", share(median_width(c)).text));
}

static void covers(const report_validated *v, dse_strbuf *out)
{
    report_tree tree;
    report_node *list = report_tree_begin(&tree);

    if (v->n_covers)
        dse_strbuf_adds(
            out, "\nError bands that are to hold nine of ten runs of a new model, each by the runs of other "
                 "models on the device; where these are fewer than three there is none:\n\n");
    for (size_t i = 0; i < v->n_covers; i++)
        cover_cells(&v->cover[i], report_object(list, NULL));
    report_markdown_end(&tree, out);
}

static void peers(const report_validated *v, dse_strbuf *out)
{
    bool any = false;

    for (size_t i = 0; i < v->n; i++)
        for (size_t k = 0; v->table[i].n && k < v->table[i].n_peers; k++) {
            const report_validated_peer *p = &v->table[i].peer[k];

            dse_strbuf_addf(out, "%s- %s: %s, mean %s",
                            any ? ""
                                : "\nPublished by others of the same rows, or of a set that has them:\n\n",
                            v->table[i].title, p->name, report_format("%.2f%%", p->mean * 100).text);
            if (!isnan(p->worst))
                dse_strbuf_addf(out, ", worst %.2f%%", p->worst * 100);
            dse_strbuf_addf(out, " (%s); ours, nothing fitted, mean %s, worst %s.\n", p->source,
                            percent(v->table[i].unfitted.mean).text,
                            report_signed_percent(v->table[i].unfitted.worst).text);
            any = true;
        }
}

static void left_out(const report_validated *v, dse_strbuf *out)
{
    bool any = false;

    for (size_t i = 0; i < v->n; i++) {
        const report_validated_table *t = &v->table[i];

        if (!t->n_left && !t->absent)
            continue;
        dse_strbuf_addf(out, "%s- %s, %s: ", any ? "" : "\nLeft out, by the first reason:\n\n", t->title,
                        t->system);
        any = true;
        if (t->absent)
            dse_strbuf_adds(out, t->absent);
        for (size_t k = 0; k < t->n_left; k++)
            dse_strbuf_addf(out, "%s%zu %s", k ? ", " : "", t->left[k].n, t->left[k].reason);
        dse_strbuf_adds(out, ".\n");
    }
}

static void rows(const report_validated_table *t, dse_strbuf *out)
{
    unsigned profiles = 0;
    report_tree tree;
    report_node *list = report_tree_begin(&tree);

    for (size_t i = 0; i < t->n; i++)
        profiles |= t->run[i].profile;
    if (t->n)
        dse_strbuf_addf(out, "\n%s, %s, run by run:\n\n", t->title, t->system);
    for (size_t i = 0; i < t->n; i++) {
        const report_validated_run *r = &t->run[i];
        report_node *row = report_row(list, V_NOTE("run", r->name), V_NOTE("model", r->model),
                                      V_AS("devices", V_COUNT(NULL, r->n_devices)));

        report_put_degrees(r->point, r->profile, profiles, row);
        report_put(row, V_CELL("measured", report_seconds(r->measured_s).text),
                   V_CELL("simulated", report_seconds(r->simulated_s).text),
                   V_CELL("error", report_signed_percent(r->simulated_s / r->measured_s - 1).text));
        if (t->fit)
            report_put(row, V_CELL("fitted to the others", report_seconds(r->left_out_s).text),
                       V_CELL("error", report_signed_percent(r->left_out_s / r->measured_s - 1).text));
    }
    report_markdown_end(&tree, out);
}

void report_validated_markdown(const report_validated *v, dse_strbuf *out)
{
    add_table(v, "Nothing fitted", is_there, unfitted_cells, out);
    add_table(v,
              "Each run by a fit to the others, with its whole model left out, or alone with its repeats "
              "where a table has "
              "one model",
              has_fit, fitted_cells, out);
    add_table(v, "Strategies of one job (Kendall's tau-b; how much slower our choice is than the fastest)",
              has_choices, choice_cells, out);
    covers(v, out);
    peers(v, out);
    left_out(v, out);
    for (size_t i = 0; v->rows && i < v->n; i++)
        rows(&v->table[i], out);
}

/* ---- JSON ------------------------------------------------------------------------------------------ */

static void put_spread(const char *key, const cmp_spread *s, report_node *to)
{
    report_put(report_object(to, key), V_COUNT("runs", s->n), V_REAL("mean", s->mean),
               V_REAL("median", s->median), V_REAL("p90", s->p90), V_REAL("worst", s->worst),
               V_REAL("bias", s->bias), V_REAL("within_a_tenth", s->within));
}

static void put_choice(const char *key, const report_validated_choice *c, report_node *to)
{
    report_put(report_object(to, key), V_COUNT("jobs", c->groups), V_COUNT("strategies", c->runs),
               V_REAL("tau_b", c->kendall), V_REAL("regret", c->regret),
               V_REAL("worst_regret", c->worst_regret));
}

static void put_rows(const report_validated_table *t, report_node *to)
{
    report_node *list = report_lines(to, "rows");

    for (size_t i = 0; i < t->n; i++) {
        const report_validated_run *r = &t->run[i];

        report_row(list, V_TEXT("run", r->name), V_TEXT("model", r->model), V_TEXT("point", r->point),
                   V_COUNT("devices", r->n_devices), V_REAL("measured_s", r->measured_s),
                   V_REAL("simulated_s", r->simulated_s), V_REAL("error", r->simulated_s / r->measured_s - 1),
                   V_REAL("left_out_s", r->left_out_s),
                   V_REAL("left_out_error", r->left_out_s / r->measured_s - 1));
    }
}

static void put_table(const report_validated *v, const report_validated_table *t, report_node *to)
{
    report_node *list;

    report_put(to, V_TEXT("title", t->title), V_TEXT("measured", t->measured), V_TEXT("system", t->system),
               V_GIVEN(t->absent, V_TEXT("absent", t->absent)), V_COUNT("runs", t->n));
    put_spread("unfitted", &t->unfitted, to);
    put_spread("fitted", &t->fitted, to);
    report_put(to, V_TEXT("fit", t->fit), V_TEXT("left_out_of_fits", t->left_out),
               V_GIVEN(t->why_no_fit, V_TEXT("why_no_fit", t->why_no_fit)),
               V_TEXT("ranked_by", t->by_tokens ? "token" : "step"));
    put_choice("choice", &t->choice, to);
    put_choice("fitted_choice", &t->fitted_choice, to);
    report_put(report_object(to, "repeats"), V_COUNT("repeated", t->repeats.n_repeated),
               V_REAL("deviation", t->repeats.deviation), V_REAL("tau_b", t->repeats.kendall),
               V_REAL("regret", t->repeats.regret));
    list = report_lines(to, "peers");
    for (size_t i = 0; i < t->n_peers; i++)
        report_row(list, V_TEXT("name", t->peer[i].name), V_REAL("mean", t->peer[i].mean),
                   V_REAL("worst", t->peer[i].worst), V_TEXT("source", t->peer[i].source));
    report_put_left(t->left, t->n_left, to);
    if (v->rows)
        put_rows(t, to);
}

static void put_covers(const report_validated *v, report_node *to)
{
    report_node *list = report_lines(to, "bands_of_other_models");

    for (size_t i = 0; i < v->n_covers; i++)
        report_row(list, V_TEXT("device", v->cover[i].device), V_COUNT("runs", v->cover[i].runs),
                   V_COUNT("with_band", v->cover[i].with_band), V_COUNT("inside", v->cover[i].inside),
                   V_REAL("median_width", median_width(&v->cover[i])));
}

void report_validated_json(const report_validated *v, dse_strbuf *out)
{
    report_tree t;
    report_node *root = report_tree_begin(&t), *list = report_lines(root, "tables");

    for (size_t i = 0; i < v->n; i++)
        put_table(v, &v->table[i], report_object(list, NULL));
    put_covers(v, root);
    report_tree_end(&t, out);
}
