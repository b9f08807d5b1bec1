#include "report/rows.h"

#include "base/array.h"
#include "report/sizes.h"

#include <stdio.h>
#include <string.h>

report_name report_strategy_name(const strategy *p)
{
    report_name name;

    strategy_name(p, NULL, name.text);
    return name;
}

report_name report_strategy_text(const strategy *p, unsigned profile)
{
    report_name name;
    dse_strbuf text;

    if (profile & STRATEGY_PROFILE_STAGE)
        return report_strategy_name(p);
    dse_strbuf_init(&text);
    strategy_say(p, STRATEGY_PROFILE_TRAIN, " ", &text);
    snprintf(name.text, sizeof name.text, "%s", text.data);
    dse_strbuf_free(&text);
    return name;
}

report_name report_point_name(const store_row *r) { return report_strategy_name(&r->strategy); }

report_name report_point_text(const store_row *r)
{
    return report_strategy_text(&r->strategy, store_row_profile(r));
}

int report_compare(const store_row *a, const store_row *b)
{
    int names[] = {strcmp(a->model, b->model), strcmp(a->system, b->system),
                   strcmp(a->settings, b->settings)};

    for (size_t i = 0; i < DSE_COUNT(names); i++)
        if (names[i])
            return names[i];
    return strategy_compare(&a->strategy, &b->strategy);
}

void report_put_row(const store_row *r, report_node *to)
{
    const store_column *c;
    size_t n;

    report_put(to, V_TEXT("model", r->model), V_TEXT("system", r->system));
    report_put_strategy(to, &r->strategy);
    report_put(to, V_TEXT("engine", r->engine), V_GIVEN(*r->settings, V_TEXT("settings", r->settings)),
               V_TEXT("status", r->done ? "done" : "failed"), V_GIVEN(!r->done, V_TEXT("error", r->error)));
    if (!r->done)
        return;
    c = store_columns(&n);
    for (size_t i = 0; i < n; i++)
        report_put_known(to, &r->metrics, &c[i]);
    report_put(to, V_TEXT("sizes", report_sizes_word(&r->sizes)),
               V_GIVEN(r->memory_rounded, V_BOOL("memory_rounded", true)));
}

/* The parameters of the strategy, those that came later apart: columns are only ever added at the end. Empty
 * where the row's profile has none. */
static void put_parameters(const store_row *r, bool later, report_node *to)
{
    for (uint32_t i = 0; i < STRATEGY_N; i++) {
        const strategy_parameter *p = &strategy_parameters[i];

        if (p->omit_default != later)
            continue;
        if (strategy_has_profile(i, store_row_profile(r)))
            report_put_parameter(to, p->name, p, strategy_get(&r->strategy, i));
        else
            report_put(to, V_UNKNOWN(p->name));
    }
}

bool report_has_costs(const store_row *r)
{
    size_t n;
    const store_column *c = store_columns(&n);

    for (size_t i = 0; r->done && i < n; i++)
        if (store_column_is_cost(&c[i]) && store_has(&r->metrics, &c[i]))
            return true;
    return false;
}

static void put_figures(const store_row *r, bool costs, report_node *to)
{
    size_t n;
    const store_column *c = store_columns(&n);

    for (size_t i = 0; i < n; i++)
        if (store_column_is_cost(&c[i]) == costs)
            report_add(to, r->done ? report_figure(&r->metrics, &c[i]) : V_UNKNOWN(c[i].name));
}

static void add_csv_line(const store_row *r, bool heading, bool costs, report_tree *t, dse_strbuf *out)
{
    report_node *row = &t->root;

    report_put(row, V_TEXT("model", r->model), V_TEXT("system", r->system));
    put_parameters(r, false, row);
    report_put(row, V_TEXT("engine", r->engine), V_TEXT("status", r->done ? "done" : "failed"));
    put_figures(r, false, row);
    report_put(row, V_TEXT("error", r->error), V_TEXT("settings", r->settings),
               V_BOOL("memory_rounded", r->memory_rounded), V_TEXT("sizes", report_sizes_word(&r->sizes)));
    put_parameters(r, true, row);
    if (costs)
        put_figures(r, true, row);
    report_csv_line(row, heading, out);
    report_tree_clear(t);
}

/* ---- one row after another ----------------------------------------------------------------- */

void report_rows_begin(report_rows *w, dse_strbuf *out)
{
    report_tree_begin(&w->tree);
    if (w->json)
        dse_strbuf_addc(out, '[');
    else
        add_csv_line(&(store_row){.strategy = strategy_default()}, true, w->costs, &w->tree, out);
}

static void add_json_line(report_rows *w, const store_row *r, dse_strbuf *out)
{
    report_node *row = &w->tree.root;
    dse_json j;

    dse_strbuf_adds(out, w->n ? ",\n" : "\n");
    report_put_row(r, row);
    if (w->config)
        report_put(row, V_RAW("config", r->config));
    dse_json_init(&j, out);
    report_node_json(row, &j);
    report_tree_clear(&w->tree);
}

void report_rows_add(report_rows *w, const store_row *r, dse_strbuf *out)
{
    if (w->json)
        add_json_line(w, r, out);
    else
        add_csv_line(r, false, w->costs, &w->tree, out);
    w->n++;
}

void report_rows_end(report_rows *w, dse_strbuf *out)
{
    if (w->json)
        dse_strbuf_adds(out, "\n]\n");
    report_tree_free(&w->tree);
}
