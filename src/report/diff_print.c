#include "report/diff.h"

#include "base/json_writer.h"
#include "report/rows.h"
#include "report/sizes.h"
#include "report/table.h"
#include "report/value.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define NAMES_IN_A_LINE 8

/* B's value over A's, as a change in percent; NaN from 0, or of what is infinite. */
static double change_of(const report_pair *p, const store_column *c)
{
    double x = store_value(&p->a->metrics, c), y = store_value(&p->b->metrics, c),
           change = (y - x) * 100 / fabs(x);

    return isfinite(change) ? change : NAN;
}

/* ---- one model, system and settings -------------------------------------------------------- */

typedef struct {
    const report_pair *pair;
    size_t n;
    size_t n_both, n_equal;
    const store_row *best[2]; /* of A and B; NULL: nothing is done there */
    bool skipped[2];          /* of A and B: a sweep with --prune left points out */
} group;

static const store_row *side(const report_pair *p, int which) { return which ? p->b : p->a; }
static const store_row *any(const report_pair *p) { return p->a ? p->a : p->b; }

static const store_row *better(const store_row *best, const store_row *r, const store_column *by)
{
    double sign = by->better == STORE_HIGHER ? -1 : 1;

    if (!r || !report_is_known(r, by))
        return best;
    return !best || sign * store_value(&r->metrics, by) < sign * store_value(&best->metrics, by) ? r : best;
}

/* The group that begins at the first pair. */
static group next_group(const report_pair *pairs, size_t n, const report_diff_options *o)
{
    group g = {.pair = pairs};

    for (; g.n < n; g.n++) {
        const report_pair *p = &pairs[g.n];

        if (strcmp(any(p)->model, any(pairs)->model) || strcmp(any(p)->system, any(pairs)->system) ||
            strcmp(any(p)->settings, any(pairs)->settings))
            break;
        g.n_both += p->a && p->b;
        g.n_equal += !report_diff_differs(p, o);
        for (int which = 0; which < 2; which++) {
            g.best[which] = better(g.best[which], side(p, which), o->by);
            g.skipped[which] |= side(p, which) && side(p, which)->skipped_of_study;
        }
    }
    return g;
}

/* ---- text ---------------------------------------------------------------------------------- */

/* The row of a pair that the other side lacks; NULL: none. */
static const store_row *only(const report_pair *p, int which)
{
    return side(p, !which) ? NULL : side(p, which);
}

/* The pairs of the engine of the i-th; nothing if an earlier pair has covered them. */
static void print_only_by(const group *g, int which, size_t i, dse_strbuf *out)
{
    const store_row *first = only(&g->pair[i], which), *r;
    char name[STRATEGY_NAME_MAX];
    size_t count = 0;

    for (size_t k = 0; k < i; k++)
        if ((r = only(&g->pair[k], which)) && !strcmp(r->engine, first->engine))
            return;
    dse_strbuf_addf(out, "only in %s, by %s:", which ? "B" : "A", first->engine);
    for (size_t k = i; k < g->n; k++)
        if ((r = only(&g->pair[k], which)) && !strcmp(r->engine, first->engine))
            dse_strbuf_addf(out, "%s%s", count++ % NAMES_IN_A_LINE ? " " : "\n  ",
                            report_point_name(r, name));
    dse_strbuf_addc(out, '\n');
}

static void print_only(const group *g, int which, dse_strbuf *out)
{
    for (size_t i = 0; i < g->n; i++)
        if (only(&g->pair[i], which))
            print_only_by(g, which, i, out);
}

static void begin_line(report_table *t, const report_pair *p, const char *figure)
{
    char name[STRATEGY_NAME_MAX];
    bool one = !strcmp(p->a->engine, p->b->engine);

    report_table_cell(t, "%s", report_point_name(p->a, name));
    report_table_cell(t, "%s%s%s", p->a->engine, one ? "" : ", ", one ? "" : p->b->engine);
    report_table_cell(t, "%s", figure);
}

static void status_line(report_table *t, const report_pair *p)
{
    begin_line(t, p, "status");
    report_table_cell(t, "%s", p->a->done ? "done" : "failed");
    report_table_cell(t, "%s", p->b->done ? "done" : "failed");
    report_table_cell(t, "-");
}

static void figure_line(report_table *t, const report_pair *p, const store_column *c)
{
    char text[REPORT_VALUE_MAX];
    double change = change_of(p, c);

    begin_line(t, p, c->name);
    report_value_exact(&p->a->metrics, c, text);
    report_table_cell(t, "%s", text);
    report_value_exact(&p->b->metrics, c, text);
    report_table_cell(t, "%s", text);
    if (isnan(change))
        report_table_cell(t, "-");
    else
        report_table_cell(t, fabs(change) < 0.01 ? "%+.1e%%" : "%+.2f%%", change);
}

static void print_changes(const group *g, const report_diff_options *o, dse_strbuf *out)
{
    static const char *const headings[] = {"point", "engine", "figure", "A", "B", "change"};
    report_table t;

    if (g->n_equal == g->n_both)
        return;
    report_table_init(&t);
    for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++)
        report_table_column(&t, headings[i], i < 3);
    for (size_t i = 0; i < g->n; i++) {
        const report_pair *p = &g->pair[i];

        if (!p->a || !p->b)
            continue;
        if (p->a->done != p->b->done)
            status_line(&t, p);
        for (size_t k = 0; k < o->n_columns; k++)
            if (report_diff_changed(p, o->columns[k], o->tolerance))
                figure_line(&t, p, o->columns[k]);
    }
    report_table_end(&t, out);
}

/* A figure that no pair has on both sides, but some on one. */
static bool is_one_sided(const group *g, const store_column *c)
{
    bool one = false;

    for (size_t i = 0; i < g->n; i++) {
        const report_pair *p = &g->pair[i];

        if (!p->a || !p->b)
            continue;
        if (report_is_known(p->a, c) && report_is_known(p->b, c))
            return false;
        one |= report_is_known(p->a, c) != report_is_known(p->b, c) && p->a->done == p->b->done;
    }
    return one;
}

static void print_one_sided(const group *g, const report_diff_options *o, dse_strbuf *out)
{
    size_t count = 0;

    for (size_t i = 0; i < o->n_columns; i++)
        if (is_one_sided(g, o->columns[i]))
            dse_strbuf_addf(out, "%s%s", count++ ? ", " : "Not compared, as one side does not know it: ",
                            o->columns[i]->name);
    if (count)
        dse_strbuf_adds(out, ".\n");
}

/* A warning for reading which rows are on one side alone, and which point is best. */
static void print_skipped(const group *g, dse_strbuf *out)
{
    static const char *const sides[2][2] = {{NULL, "B"}, {"A", "A and B"}};
    const char *where = sides[g->skipped[0]][g->skipped[1]];

    if (where)
        dse_strbuf_addf(out, "In %s not all points were run: a sweep with --prune skipped some.\n", where);
}

static void print_best(const group *g, const report_diff_options *o, dse_strbuf *out)
{
    char a[STRATEGY_NAME_MAX], b[STRATEGY_NAME_MAX];

    if (!g->best[0] || !g->best[1])
        return;
    report_point_name(g->best[0], a);
    report_point_name(g->best[1], b);
    if (strcmp(a, b))
        dse_strbuf_addf(out, "The best point by %s is %s in A and %s in B.\n", o->by->name, a, b);
    else
        dse_strbuf_addf(out, "The best point by %s is %s in both.\n", o->by->name, a);
}

static void print_group(const group *g, const report_diff_options *o, dse_strbuf *out)
{
    const store_row *r = any(g->pair);

    dse_strbuf_addf(out, "\n%s on %s%s%s: ", r->model, r->system, *r->settings ? " with " : "", r->settings);
    if (g->n_both)
        dse_strbuf_addf(out, "%zu of the %zu points that both have are equal\n", g->n_equal, g->n_both);
    else
        dse_strbuf_adds(out, "no point is in both\n");
    print_only(g, 0, out);
    print_only(g, 1, out);
    print_changes(g, o, out);
    print_one_sided(g, o, out);
    print_skipped(g, out);
    print_best(g, o, out);
}

static report_sizes sizes_of(const report_pair *pairs, size_t n)
{
    report_sizes sizes = {0};

    for (size_t i = 0; i < n; i++)
        for (int which = 0; which < 2; which++)
            if (side(&pairs[i], which))
                report_sizes_add(&sizes, &side(&pairs[i], which)->sizes);
    return sizes;
}

void report_diff_print(const report_pair *pairs, size_t n, const report_diff_options *o, dse_strbuf *out)
{
    const report_sizes sizes = sizes_of(pairs, n);

    dse_strbuf_addf(out, "A: %s\nB: %s\n", o->name_a, o->name_b);
    report_sizes_print(&sizes, out);
    dse_strbuf_addc(out, '\n');
    for (size_t i = 0; i < n;) {
        const group g = next_group(&pairs[i], n - i, o);

        print_group(&g, o, out);
        i += g.n;
    }
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void only_json(const group *g, int which, const char *key, dse_json *j)
{
    char name[STRATEGY_NAME_MAX];

    dse_json_key_array(j, key);
    for (size_t i = 0; i < g->n; i++) {
        const store_row *r = only(&g->pair[i], which);

        if (!r)
            continue;
        dse_json_begin_object(j);
        dse_json_key_string(j, "point", report_point_name(r, name));
        dse_json_key_string(j, "engine", r->engine);
        dse_json_end_object(j);
    }
    dse_json_end_array(j);
}

static void begin_change(const report_pair *p, const char *figure, dse_json *j)
{
    char name[STRATEGY_NAME_MAX];
    const struct {
        const char *key, *value;
    } words[] = {{"point", report_point_name(p->a, name)},
                 {"engine_a", p->a->engine},
                 {"engine_b", p->b->engine},
                 {"figure", figure}};

    dse_json_begin_object(j);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        dse_json_key_string(j, words[i].key, words[i].value);
}

static void change_json(const report_pair *p, const store_column *c, dse_json *j)
{
    double change = change_of(p, c);

    begin_change(p, c->name, j);
    dse_json_key(j, "a");
    report_value_json(&p->a->metrics, c, j);
    dse_json_key(j, "b");
    report_value_json(&p->b->metrics, c, j);
    dse_json_key(j, "change_pct");
    if (isnan(change))
        dse_json_null(j);
    else
        dse_json_double(j, change);
    dse_json_end_object(j);
}

static void status_json(const report_pair *p, dse_json *j)
{
    begin_change(p, "status", j);
    dse_json_key_string(j, "a", p->a->done ? "done" : "failed");
    dse_json_key_string(j, "b", p->b->done ? "done" : "failed");
    dse_json_end_object(j);
}

static void changes_json(const group *g, const report_diff_options *o, dse_json *j)
{
    dse_json_key_array(j, "changes");
    for (size_t i = 0; i < g->n; i++) {
        const report_pair *p = &g->pair[i];

        if (!p->a || !p->b)
            continue;
        if (p->a->done != p->b->done)
            status_json(p, j);
        for (size_t k = 0; k < o->n_columns; k++)
            if (report_diff_changed(p, o->columns[k], o->tolerance))
                change_json(p, o->columns[k], j);
    }
    dse_json_end_array(j);
}

static void group_json(const group *g, const report_diff_options *o, dse_json *j)
{
    static const char *const best[] = {"best_a", "best_b"}, *const skipped[] = {"skipped_a", "skipped_b"};
    const store_row *r = any(g->pair);
    char name[STRATEGY_NAME_MAX];

    dse_json_begin_object(j);
    dse_json_key_string(j, "model", r->model);
    dse_json_key_string(j, "system", r->system);
    dse_json_key_string(j, "settings", r->settings);
    dse_json_key_uint(j, "both", g->n_both);
    dse_json_key_uint(j, "equal", g->n_equal);
    only_json(g, 0, "only_a", j);
    only_json(g, 1, "only_b", j);
    changes_json(g, o, j);
    for (int which = 0; which < 2; which++) {
        dse_json_key_string(j, best[which], g->best[which] ? report_point_name(g->best[which], name) : NULL);
        if (g->skipped[which])
            dse_json_key_bool(j, skipped[which], true);
    }
    dse_json_end_object(j);
}

void report_diff_json(const report_pair *pairs, size_t n, const report_diff_options *o, dse_strbuf *out)
{
    const report_sizes sizes = sizes_of(pairs, n);
    dse_json j;

    dse_json_open(&j, out);
    dse_json_key_string(&j, "a", o->name_a);
    dse_json_key_string(&j, "b", o->name_b);
    dse_json_key_string(&j, "by", o->by->name);
    dse_json_key_string(&j, "memory_counts", report_sizes_key(&sizes));
    dse_json_key_bool(&j, "same", report_diff_same(pairs, n, o));
    dse_json_key_array(&j, "studies");
    for (size_t i = 0; i < n;) {
        const group g = next_group(&pairs[i], n - i, o);

        group_json(&g, o, &j);
        i += g.n;
    }
    dse_json_end_array(&j);
    dse_json_close(&j);
}
