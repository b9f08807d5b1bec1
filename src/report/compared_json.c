#include "report/band.h"
#include "report/compared_parts.h"

#include <math.h>

static const char *const better_words[] = {
    [CMP_NEITHER] = "neither", [CMP_LOWER] = "lower", [CMP_HIGHER] = "higher"};

static void add_pair(const cmp_pair *p, report_node *list)
{
    const double error = cmp_error(p->simulated, p->measured);
    const bool judged = !isnan(error) && !isnan(p->tolerance);

    report_row(list, V_TEXT("metric", p->name), V_TEXT("unit", p->unit),
               V_TEXT("better", better_words[p->better]), V_REAL("simulated", p->simulated),
               V_REAL("measured", p->measured), V_REAL("error", error), V_REAL("tolerance", p->tolerance),
               V_KNOWN(judged, "within", V_BOOL("within", fabs(error) <= p->tolerance)),
               V_GIVEN(isnan(p->simulated), V_TEXT("why_not_simulated", p->why_simulated)),
               V_GIVEN(isnan(p->measured), V_TEXT("why_not_measured", p->why_measured)),
               V_GIVEN(compared_lacks_error(p), V_TEXT("why_no_error", compared_no_error)));
}

void compared_put_run(const report_compared_run *r, report_node *to)
{
    report_put(to, V_TEXT("run", r->name), V_TEXT("where", r->where), V_TEXT("model", r->model),
               V_TEXT("point", r->point), V_COUNT("devices", r->n_devices), V_TEXT("sizes", r->sizes),
               V_COUNT("group", r->group));
}

static void add_run(const report_compared_run *r, report_node *list)
{
    report_node *run = report_object(list, NULL), *metrics;

    compared_put_run(r, run);
    report_put(run, V_REAL("simulated_s", compared_simulated(r)), V_REAL("measured_s", compared_measured(r)),
               V_REAL("error", compared_error(r)), V_REAL("score", r->score),
               V_COUNT("scored_metrics", r->n_scored), V_TEXT("failed", r->failed));
    if (r->profile == STRATEGY_PROFILE_TRAIN)
        report_put_band(&r->band, compared_simulated(r), run);
    if (r->why_no_band)
        report_put(run, V_TEXT("why_no_band", r->why_no_band));
    report_texts(run, "notes", r->note, r->n_notes);
    metrics = report_lines(run, "metrics");
    for (size_t i = 0; i < r->n_pairs; i++)
        add_pair(&r->pair[i], metrics);
}

static void add_figure(const report_compared *c, const compared_figure *f, report_node *to)
{
    const cmp_estimate *e = compared_estimate(&c->summary, f);
    const int regret = compared_regret(f);
    report_node *figure = report_object(to, f->name);
    size_t groups;

    figure->value.line = true;
    report_put(figure, V_REAL("value", e->value), V_REAL("low", e->low), V_REAL("high", e->high));
    if (regret >= 0)
        report_put(figure, V_COUNT("k", cmp_top_k[regret]), V_REAL("worst", c->summary.worst_regret[regret]));
    if (compared_groups(&c->summary, f, &groups))
        report_put(figure, V_COUNT("groups", groups));
    if (isnan(e->value))
        report_put(figure, V_TEXT("why_none", f->why));
    else if (isnan(e->low))
        report_put(figure, V_TEXT("why_no_interval", compared_no_interval(c)));
}

static void add_summary(const report_compared *c, report_node *summary)
{
    const report_compared_run *worst = compared_worst_run(c);

    report_put(summary, V_COUNT("runs", c->summary.n), V_COUNT("groups", c->summary.n_groups),
               V_COUNT("runs_in_groups", c->summary.n_runs), V_TEXT("worst_run", worst ? worst->name : NULL),
               V_REAL("worst_error", worst ? compared_error(worst) : NAN));
    for (size_t i = 0; i < COMPARED_FIGURES; i++)
        add_figure(c, &compared_figures[i], summary);
}

void report_compared_json(const report_compared *c, dse_strbuf *out)
{
    const double worst = report_compared_worst(c);
    const bool judged = !isnan(c->max_error) && !isnan(worst);
    report_tree t;
    report_node *root = report_tree_begin(&t), *runs, *summary;

    report_put(root, V_TEXT("system", c->system), V_TEXT("weights", c->weights),
               V_TEXT("settings", c->settings), V_REAL("max_error", c->max_error),
               V_KNOWN(judged, "max_error_kept", V_BOOL("max_error_kept", worst <= c->max_error)));
    report_put(report_object(root, "bootstrap"), V_COUNT("seed", c->bootstrap.seed),
               V_COUNT("resamples", c->bootstrap.resamples));
    runs = report_lines(root, "runs");
    for (size_t i = 0; i < c->n_runs; i++)
        add_run(&c->run[i], runs);
    report_put_left(c->left, c->n_left, root);
    summary = report_add(root, c->has_summary ? (report_value){.key = "summary", .kind = REPORT_OBJECT}
                                              : V_UNKNOWN("summary"));
    summary->value.line = true;
    if (c->has_summary)
        add_summary(c, summary);
    report_tree_end(&t, out);
}
