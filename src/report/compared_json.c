#include "report/compared_parts.h"

#include <math.h>

static const char *const better_words[] = {
    [CMP_NEITHER] = "neither", [CMP_LOWER] = "lower", [CMP_HIGHER] = "higher"};

static void add_pair(const cmp_pair *p, dse_json *j)
{
    double error = cmp_error(p->simulated, p->measured);

    dse_json_begin_line(j);
    dse_json_key_string(j, "metric", p->name);
    dse_json_key_string(j, "unit", p->unit);
    dse_json_key_string(j, "better", better_words[p->better]);
    dse_json_key_double(j, "simulated", p->simulated);
    dse_json_key_double(j, "measured", p->measured);
    dse_json_key_double(j, "error", error);
    dse_json_key_double(j, "tolerance", p->tolerance);
    dse_json_key(j, "within");
    if (isnan(error) || isnan(p->tolerance))
        dse_json_null(j);
    else
        dse_json_bool(j, fabs(error) <= p->tolerance);
    if (isnan(p->simulated))
        dse_json_key_string(j, "why_not_simulated", p->why_simulated);
    if (isnan(p->measured))
        dse_json_key_string(j, "why_not_measured", p->why_measured);
    if (compared_lacks_error(p))
        dse_json_key_string(j, "why_no_error", compared_no_error);
    dse_json_end_object(j);
}

static void add_run(const report_compared_run *r, dse_json *j)
{
    dse_json_begin_line(j);
    dse_json_key_string(j, "run", r->name);
    dse_json_key_string(j, "where", r->where);
    dse_json_key_string(j, "model", r->model);
    dse_json_key_string(j, "point", r->point);
    dse_json_key_uint(j, "devices", r->n_devices);
    dse_json_key_string(j, "sizes", r->sizes);
    dse_json_key_uint(j, "group", r->group);
    dse_json_key_double(j, "simulated_s", compared_simulated(r));
    dse_json_key_double(j, "measured_s", compared_measured(r));
    dse_json_key_double(j, "error", compared_error(r));
    dse_json_key_double(j, "score", r->score);
    dse_json_key_uint(j, "scored_metrics", r->n_scored);
    dse_json_key_string(j, "failed", r->failed);
    dse_json_key_strings(j, "notes", r->note, r->n_notes);
    dse_json_key_array(j, "metrics");
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
    dse_json_key_object(j, f->name);
    dse_json_key_double(j, "value", e->value);
    dse_json_key_double(j, "low", e->low);
    dse_json_key_double(j, "high", e->high);
    if (regret >= 0) {
        dse_json_key_uint(j, "k", cmp_top_k[regret]);
        dse_json_key_double(j, "worst", c->summary.worst_regret[regret]);
    }
    if (compared_groups(&c->summary, f, &groups))
        dse_json_key_uint(j, "groups", groups);
    if (isnan(e->value))
        dse_json_key_string(j, "why_none", f->why);
    else if (isnan(e->low))
        dse_json_key_string(j, "why_no_interval", compared_no_interval(c));
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
    dse_json_key_string(j, "worst_run", worst ? worst->name : NULL);
    dse_json_key_double(j, "worst_error", worst ? compared_error(worst) : NAN);
    for (size_t i = 0; i < COMPARED_FIGURES; i++)
        add_figure(c, &compared_figures[i], j);
    dse_json_end_object(j);
}

void report_compared_json(const report_compared *c, dse_strbuf *out)
{
    double worst = report_compared_worst(c);
    dse_json j;

    dse_json_open(&j, out);
    dse_json_key_string(&j, "system", c->system);
    dse_json_key_string(&j, "weights", c->weights);
    dse_json_key_string(&j, "settings", c->settings);
    dse_json_key_double(&j, "max_error", c->max_error);
    dse_json_key(&j, "max_error_kept");
    if (isnan(c->max_error) || isnan(worst))
        dse_json_null(&j);
    else
        dse_json_bool(&j, worst <= c->max_error);
    dse_json_key_object(&j, "bootstrap");
    dse_json_key_uint(&j, "seed", c->bootstrap.seed);
    dse_json_key_uint(&j, "resamples", c->bootstrap.resamples);
    dse_json_end_object(&j);
    dse_json_key_array(&j, "runs");
    for (size_t i = 0; i < c->n_runs; i++)
        add_run(&c->run[i], &j);
    dse_json_end_array(&j);
    report_left_json(c->left, c->n_left, &j);
    add_summary(c, &j);
    dse_json_close(&j);
}
