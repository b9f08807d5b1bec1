#include "report/plan_parts.h"

#include "report/band.h"
#include "report/prose.h"
#include "report/rows.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- names of strategies -------------------------------------------------------------------- */

report_text report_plan_label(const report_plan *p, const store_row *r)
{
    char letter = 'a';

    for (size_t i = 0; i < p->study->n_ranked; i++)
        if (p->study->ranked[i] == r)
            return report_format("#%zu", i + 1);
    for (size_t i = 0; i < p->n_changes && p->change[i].best != r; i++) {
        const store_row *other = p->change[i].best;

        letter = (char)(letter + (other && !store_fits(other->metrics.peak_memory, p->study->hbm_bytes)));
    }
    return report_format("%c", letter);
}

/* ---- the tree ------------------------------------------------------------------------------- */

/* The columns of a table of points; those of recomputation are one, that of its granularity. */
typedef struct {
    bool of[STRATEGY_N];
} columns;

static bool is_recomputation(uint32_t parameter)
{
    return parameter == STRATEGY_recompute_granularity || parameter == STRATEGY_recompute_layers ||
           parameter == STRATEGY_recompute_every;
}

/* Degrees that divide the NPUs always show, but for the one that is 1 in most runs; of the others what the
 * first n differ in. */
static columns columns_of(const report_plan *p, size_t n)
{
    const store_row *const *ranked = p->study->ranked;
    columns c = {{false}};

    for (uint32_t k = 0; k < STRATEGY_N; k++) {
        const strategy_parameter *row = &strategy_parameters[k];
        bool shows = row->is_axis && !row->omit_default && strategy_has_profile(k, STRATEGY_PROFILE_TRAIN);

        for (size_t i = 1; i < n && !shows; i++)
            shows = strategy_get(&ranked[i]->strategy, k) != strategy_get(&ranked[0]->strategy, k);
        c.of[is_recomputation(k) ? STRATEGY_recompute_granularity : k] |= shows;
    }
    return c;
}

/* "none", "full", "3 layers", "1 of 2": of each stage's layers, what is made again. */
static report_text say_recomputation(const strategy *s)
{
    char granularity[STRATEGY_VALUE_MAX];

    if (s->recompute_layers)
        return report_format("%" PRIu32 " layer%s", s->recompute_layers, s->recompute_layers == 1 ? "" : "s");
    if (s->recompute_every > 1)
        return report_format("1 of %" PRIu32, s->recompute_every);
    strategy_print(&strategy_parameters[STRATEGY_recompute_granularity], s->recompute_granularity,
                   granularity);
    return report_format("%s", granularity);
}

static void put_cells(const columns *c, const strategy *s, report_node *row)
{
    for (uint32_t k = 0; k < STRATEGY_N; k++) {
        const strategy_parameter *parameter = &strategy_parameters[k];
        char value[STRATEGY_VALUE_MAX], *heading = dse_arena_strdup(row->arena, strategy_heading(k));
        char *gap = strchr(heading, '_');

        if (!c->of[k])
            continue;
        if (gap)
            *gap = '\n';
        strategy_print(parameter, strategy_get(s, k), value);
        if (is_recomputation(k))
            report_put(row, V_NOTE("recompute", say_recomputation(s).text));
        else
            report_put(row,
                       parameter->kind == STRATEGY_DEGREE ? V_CELL(heading, value) : V_NOTE(heading, value));
    }
}

void report_plan_say_common(const report_plan *p, size_t n, dse_strbuf *out)
{
    const strategy *first = &p->study->ranked[0]->strategy;
    columns said = columns_of(p, n);

    for (size_t i = 0; i < p->why.n_trends && n > 1; i++) {
        const uint32_t k = p->why.trend[i].axis,
                       column = is_recomputation(k) ? STRATEGY_recompute_granularity : k;
        char value[STRATEGY_VALUE_MAX];

        if (said.of[column])
            continue;
        said.of[column] = true;
        strategy_print(&strategy_parameters[k], strategy_get(first, k), value);
        dse_strbuf_addf(out, "%s%s" REPORT_UNBROKEN "%s", out->len ? ", " : "All have ",
                        is_recomputation(k) ? "recompute" : strategy_heading(k),
                        is_recomputation(k) ? say_recomputation(first).text : value);
    }
    dse_strbuf_adds(out, out->len ? "." : "");
}

static void put_ranking(const report_plan *p, size_t top, report_node *list)
{
    const report_study *s = p->study;
    const size_t n = top && top < s->n_ranked ? top : s->n_ranked;
    const char *of = dse_arena_printf(list->arena, "memory of\n%s", report_size(s->hbm_bytes).text);
    const columns c = columns_of(p, n);

    for (size_t i = 0; i < n; i++) {
        const store_metrics *m = &s->ranked[i]->metrics;
        report_node *row =
            report_row(list, V_CELL("", report_format("#%zu", i + 1).text), V_COUNT("rank", i + 1),
                       V_TEXT("point", report_point_name(s->ranked[i]).text));

        put_cells(&c, &s->ranked[i]->strategy, row);
        report_put(row, V_AS("step\ntime", V_TIME(NULL, m->wall_time)),
                   V_CELL("tokens/s\nper NPU", report_format("%.0f", m->tokens_per_s_npu).text),
                   V_CELL("MFU", report_percent(m->mfu).text), V_AS(of, V_BYTES(NULL, m->peak_memory)));
        report_put_row(s->ranked[i], row);
    }
}

/* A point with its figures; null without one. */
static void put_point(const char *key, const store_row *r, report_node *to)
{
    if (r)
        report_put_row(r, report_put(report_object(to, key), V_TEXT("point", report_point_name(r).text)));
    else
        report_put(to, V_UNKNOWN(key));
}

static void put_change(const report_plan *p, const report_plan_change *c, report_node *list)
{
    const store_row *winner = report_plan_winner(p);
    const bool runs = c->wall_time != STORE_ABSENT, others = c->best && c->best != winner;
    report_node *row = report_row(
        list, V_AS("", V_TEXT("what", c->what)), V_TEXT("from", c->from),
        V_AS("becomes", V_TEXT("to", c->to)), V_REAL("factor", c->factor),
        V_CELL("step", runs ? report_time(c->wall_time).text : "too large"),
        V_KNOWN(runs, "wall_time", V_COUNT("wall_time", c->wall_time)),
        V_CELL(
            "change",
            runs ? report_signed_percent(report_plan_change_of(c->wall_time, winner->metrics.wall_time)).text
                 : "-"),
        V_NOTE("best\nthen", !c->best ? "none"
                             : others ? report_plan_label(p, c->best).text
                                      : "same"),
        V_CELL("its\nstep", others ? report_time(c->best_time).text : ""),
        V_CELL("gain", others && runs
                           ? report_signed_percent(report_plan_change_of(c->best_time, c->wall_time)).text
                           : ""),
        V_COUNT("tried", c->n_tried));

    report_texts(row, "settings", c->setting, c->n_settings);
    if (!c->best) {
        report_put(row, V_UNKNOWN("best"));
        return;
    }
    row = report_put(report_object(row, "best"), V_TEXT("point", report_point_name(c->best).text));
    report_put_strategy(row, &c->best->strategy);
    report_put(row, V_COUNT("wall_time", c->best_time));
}

static void put_changes(const report_plan *p, report_plan_tree *t)
{
    for (size_t i = 0; i < p->n_changes; i++)
        put_change(p, &p->change[i], t->changes);
}

static void put_remedy(const report_plan_remedy *r, report_node *list)
{
    report_node *row =
        report_row(list, V_AS("", V_TEXT("what", r->what)), V_AS("fits", V_BOOL("fits", r->fits)),
                   V_AS("tried", V_COUNT("tried", r->n_tried)));

    report_put(row, V_TEXT("point", report_strategy_name(&r->point).text));
    report_put_strategy(row, &r->point);
    report_put(row, V_AS("step", V_TIME("wall_time", r->metrics.wall_time)),
               V_AS("memory", V_BYTES("peak_memory", r->metrics.peak_memory)), V_REAL("mfu", r->metrics.mfu),
               V_REAL("tokens_per_s_npu", r->metrics.tokens_per_s_npu));
}

static void put_training_run(const report_plan *p, report_node *to)
{
    const store_metrics *m = &report_plan_winner(p)->metrics;
    const double days = report_plan_days(p, report_plan_seconds(report_plan_winner(p)));
    const double cost = report_plan_of_run(p, m->cost_per_trillion_tokens);
    const double energy = report_plan_of_run(p, m->energy_per_trillion_tokens);

    report_put(report_object(to, "training_run"), V_REAL("tokens", p->train_tokens), V_REAL("days", days),
               V_REAL("npu_hours", days * 24 * (double)p->npus), V_GIVEN(!isnan(cost), V_REAL("cost", cost)),
               V_GIVEN(!isnan(energy), V_REAL("energy_kwh", energy)));
}

/* What people read in sentences has keys alone; what they read in tables has headings, too. */
void report_plan_make_tree(const report_plan *p, size_t top, report_plan_tree *t)
{
    report_node *root = report_tree_begin(&t->tree), *assumptions;
    const report_study *s = p->study;

    report_put(root, V_TEXT("model", p->model), V_TEXT("system", p->system), V_TEXT("profile", "train"),
               V_REAL("parameters", p->parameters), V_COUNT("npus", p->npus),
               V_KNOWN(p->nodes, "nodes", V_COUNT("nodes", p->nodes)), V_COUNT("batch", p->batch),
               V_COUNT("sequence", p->sequence), V_COUNT("tokens_per_step", p->batch * p->sequence),
               V_FIXED("hbm_bytes", s->hbm_bytes, 0),
               V_GIVEN(*s->row->settings, V_TEXT("settings", s->row->settings)),
               V_BOOL("kernels_by_roofline", p->by_roofline), V_COUNT("tried", s->n),
               V_COUNT("refused", p->n_refused), V_COUNT("failed", s->n_failed), V_COUNT("fit", s->n_ranked));
    t->ranking = report_lines(root, "ranking");
    put_ranking(p, top, t->ranking);
    if (s->n_ranked) {
        report_put_band(&p->band, report_plan_seconds(report_plan_winner(p)), root);
        report_put(root, V_TEXT("simulate", p->command));
        report_put(report_object(root, "launch"), V_TEXT("program", p->launch_program),
                   V_TEXT("text", p->launch), V_GIVEN(p->why_no_launch, V_TEXT("refused", p->why_no_launch)));
        if (!isnan(p->train_tokens))
            put_training_run(p, root);
        report_put_explanation(s, &p->why, report_object(root, "explanation"));
        put_point("best_that_leaves_room", p->roomy, root);
        put_point("least_memory_that_is_faster", p->above, root);
    } else {
        put_point("nearest", p->nearest, root);
    }
    t->changes = report_lines(root, "sensitivities");
    put_changes(p, t);
    t->remedies = report_lines(root, "remedies");
    for (size_t i = 0; i < p->n_remedies; i++)
        put_remedy(&p->remedy[i], t->remedies);
    assumptions = report_object(root, "assumptions");
    for (size_t i = 0; i < p->n_assumptions; i++)
        report_put(assumptions, V_TEXT(p->assumption[i].about, p->assumption[i].text));
}

void report_plan_json(const report_plan *p, size_t top, dse_strbuf *out)
{
    report_plan_tree t;

    report_plan_make_tree(p, top, &t);
    report_tree_end(&t.tree, out);
}
