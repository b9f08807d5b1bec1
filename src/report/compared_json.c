#include "report/compared_parts.h"

#include <math.h>

static const char *const better_words[] = {
    [CMP_NEITHER] = "neither", [CMP_LOWER] = "lower", [CMP_HIGHER] = "higher"};

/* Numbers that may be absent, and texts that may be. */
static void add_number(const char *key, double v, dse_json *j)
{
    dse_json_key(j, key);
    if (isfinite(v))
        dse_json_double(j, v);
    else
        dse_json_null(j);
}

static void add_text(const char *key, const char *text, dse_json *j)
{
    dse_json_key(j, key);
    if (text)
        dse_json_string(j, text);
    else
        dse_json_null(j);
}

static void add_pair(const cmp_pair *p, dse_json *j)
{
    double error = cmp_error(p->simulated, p->measured);

    dse_json_newline(j);
    dse_json_begin_object(j);
    add_text("metric", p->name, j);
    add_text("unit", p->unit, j);
    add_text("better", better_words[p->better], j);
    add_number("simulated", p->simulated, j);
    add_number("measured", p->measured, j);
    add_number("error", error, j);
    add_number("tolerance", p->tolerance, j);
    dse_json_key(j, "within");
    if (isnan(error) || isnan(p->tolerance))
        dse_json_null(j);
    else
        dse_json_bool(j, fabs(error) <= p->tolerance);
    if (isnan(p->simulated))
        add_text("why_not_simulated", p->why_simulated, j);
    if (isnan(p->measured))
        add_text("why_not_measured", p->why_measured, j);
    if (compared_lacks_error(p))
        add_text("why_no_error", compared_no_error, j);
    dse_json_end_object(j);
}

static void add_run(const report_compared_run *r, dse_json *j)
{
    dse_json_newline(j);
    dse_json_begin_object(j);
    add_text("run", r->name, j);
    add_text("where", r->where, j);
    add_text("model", r->model, j);
    add_text("point", r->point, j);
    dse_json_key_uint(j, "devices", r->n_devices);
    add_text("sizes", r->sizes, j);
    dse_json_key_uint(j, "group", r->group);
    add_number("simulated_s", compared_simulated(r), j);
    add_number("measured_s", compared_measured(r), j);
    add_number("error", compared_error(r), j);
    add_number("score", r->score, j);
    dse_json_key_uint(j, "scored_metrics", r->n_scored);
    add_text("failed", r->failed, j);
    dse_json_key(j, "notes");
    dse_json_begin_array(j);
    for (size_t i = 0; i < r->n_notes; i++)
        dse_json_string(j, r->note[i]);
    dse_json_end_array(j);
    dse_json_key(j, "metrics");
    dse_json_begin_array(j);
    for (size_t i = 0; i < r->n_pairs; i++)
        add_pair(&r->pair[i], j);
    dse_json_end_array(j);
    dse_json_end_object(j);
}

static void add_figure(const report_compared *c, const compared_figure *f, dse_json *j)
{
    const cmp_estimate *e = compared_estimate(&c->summary, f);
    int regret = compared_regret(f);
    size_t groups;

    dse_json_newline(j);
    dse_json_key(j, f->name);
    dse_json_begin_object(j);
    add_number("value", e->value, j);
    add_number("low", e->low, j);
    add_number("high", e->high, j);
    if (regret >= 0) {
        dse_json_key_uint(j, "k", cmp_top_k[regret]);
        add_number("worst", c->summary.worst_regret[regret], j);
    }
    if (compared_groups(&c->summary, f, &groups))
        dse_json_key_uint(j, "groups", groups);
    if (isnan(e->value))
        add_text("why_none", f->why, j);
    else if (isnan(e->low))
        add_text("why_no_interval", compared_no_interval(c), j);
    dse_json_end_object(j);
}

static void add_summary(const report_compared *c, dse_json *j)
{
    const report_compared_run *worst = compared_worst_run(c);

    dse_json_newline(j);
    dse_json_key(j, "summary");
    if (!c->has_summary) {
        dse_json_null(j);
        return;
    }
    dse_json_begin_object(j);
    dse_json_key_uint(j, "runs", c->summary.n);
    dse_json_key_uint(j, "groups", c->summary.n_groups);
    dse_json_key_uint(j, "runs_in_groups", c->summary.n_runs);
    add_text("worst_run", worst ? worst->name : NULL, j);
    add_number("worst_error", worst ? compared_error(worst) : NAN, j);
    for (size_t i = 0; i < COMPARED_FIGURES; i++)
        add_figure(c, &compared_figures[i], j);
    dse_json_end_object(j);
}

void report_compared_json(const report_compared *c, dse_strbuf *out)
{
    double worst = report_compared_worst(c);
    dse_json j;

    dse_json_init(&j, out);
    dse_json_begin_object(&j);
    add_text("system", c->system, &j);
    add_text("weights", c->weights, &j);
    add_number("max_error", c->max_error, &j);
    dse_json_key(&j, "max_error_kept");
    if (isnan(c->max_error) || isnan(worst))
        dse_json_null(&j);
    else
        dse_json_bool(&j, worst <= c->max_error);
    dse_json_key(&j, "bootstrap");
    dse_json_begin_object(&j);
    dse_json_key_uint(&j, "seed", c->bootstrap.seed);
    dse_json_key_uint(&j, "resamples", c->bootstrap.resamples);
    dse_json_end_object(&j);
    dse_json_key(&j, "runs");
    dse_json_begin_array(&j);
    for (size_t i = 0; i < c->n_runs; i++)
        add_run(&c->run[i], &j);
    dse_json_end_array(&j);
    report_left_json(c->left, c->n_left, &j);
    add_summary(c, &j);
    dse_json_end_object(&j);
    dse_strbuf_addc(out, '\n');
}
