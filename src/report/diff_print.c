#include "report/diff.h"

#include "report/rows.h"
#include "report/sizes.h"
#include "report/tree.h"

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
    const size_t in_a_line = store_row_profile(first) == STRATEGY_PROFILE_TRAIN ? 1 : NAMES_IN_A_LINE;
    size_t count = 0;

    for (size_t k = 0; k < i; k++)
        if ((r = only(&g->pair[k], which)) && !strcmp(r->engine, first->engine))
            return;
    dse_strbuf_addf(out, "only in %s, by %s:", which ? "B" : "A", first->engine);
    for (size_t k = i; k < g->n; k++)
        if ((r = only(&g->pair[k], which)) && !strcmp(r->engine, first->engine))
            dse_strbuf_addf(out, "%s%s", count++ % in_a_line ? " " : "\n  ", report_point_text(r).text);
    dse_strbuf_addc(out, '\n');
}

static void print_only(const group *g, int which, dse_strbuf *out)
{
    for (size_t i = 0; i < g->n; i++)
        if (only(&g->pair[i], which))
            print_only_by(g, which, i, out);
}

/* A pair of rows of which a figure differs, or the status. Returns it, to which the change may be added. */
static report_node *put_change(report_node *list, const report_pair *p, const char *figure)
{
    const bool one = !strcmp(p->a->engine, p->b->engine);
    const char *between = one ? "" : ", ", *second = one ? "" : p->b->engine;

    return report_row(
        list, V_TEXT("point", report_point_name(p->a).text), V_NOTE("point", report_point_text(p->a).text),
        V_NOTE("engine", dse_arena_printf(list->arena, "%s%s%s", p->a->engine, between, second)),
        V_TEXT("engine_a", p->a->engine), V_TEXT("engine_b", p->b->engine),
        V_AS("figure", V_TEXT("figure", figure)));
}

static void put_status_change(report_node *list, const report_pair *p)
{
    const char *a = p->a->done ? "done" : "failed", *b = p->b->done ? "done" : "failed";

    report_put(put_change(list, p, "status"), V_CELL("A", a), V_TEXT("a", a), V_CELL("B", b), V_TEXT("b", b),
               V_CELL("change", "-"));
}

static void put_figure_change(report_node *list, const report_pair *p, const store_column *c)
{
    report_value a = report_figure(&p->a->metrics, c), b = report_figure(&p->b->metrics, c);
    const double change = change_of(p, c);
    const char *percent = isnan(change) ? "-" : fabs(change) < 0.01 ? "%+.1e%%" : "%+.2f%%";

    a.key = "a";
    b.key = "b";
    report_put(put_change(list, p, c->name), V_CELL("A", report_value_exact(&p->a->metrics, c).text), a,
               V_CELL("B", report_value_exact(&p->b->metrics, c).text), b, V_REAL("change_pct", change),
               V_CELL("change", report_format(percent, change).text));
}

static report_node *list_changes(const group *g, const report_diff_options *o, report_node *to)
{
    report_node *list = report_list(to, "changes");

    for (size_t i = 0; i < g->n; i++) {
        const report_pair *p = &g->pair[i];

        if (!p->a || !p->b)
            continue;
        if (p->a->done != p->b->done)
            put_status_change(list, p);
        for (size_t k = 0; k < o->n_columns; k++)
            if (report_diff_changed(p, o->columns[k], o->tolerance))
                put_figure_change(list, p, o->columns[k]);
    }
    return list;
}

static void print_changes(const group *g, const report_diff_options *o, dse_strbuf *out)
{
    report_tree t;

    report_rows_table(list_changes(g, o, report_tree_begin(&t)), out);
    report_tree_free(&t);
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
    report_name a, b;

    if (!g->best[0] || !g->best[1])
        return;
    a = report_point_text(g->best[0]);
    b = report_point_text(g->best[1]);
    if (strcmp(a.text, b.text))
        dse_strbuf_addf(out, "The best point by %s is %s in A and %s in B.\n", o->by->name, a.text, b.text);
    else
        dse_strbuf_addf(out, "The best point by %s is %s in both.\n", o->by->name, a.text);
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
    for (size_t i = 0; i < n;) {
        const group g = next_group(&pairs[i], n - i, o);

        print_group(&g, o, out);
        i += g.n;
    }
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void put_only(const group *g, int which, const char *key, report_node *to)
{
    report_node *list = report_list(to, key);

    for (size_t i = 0; i < g->n; i++) {
        const store_row *r = only(&g->pair[i], which);

        if (r)
            report_row(list, V_TEXT("point", report_point_name(r).text), V_TEXT("engine", r->engine));
    }
}

static void put_group(const group *g, const report_diff_options *o, report_node *to)
{
    static const char *const best[] = {"best_a", "best_b"}, *const skipped[] = {"skipped_a", "skipped_b"};
    const store_row *r = any(g->pair);

    report_put(to, V_TEXT("model", r->model), V_TEXT("system", r->system), V_TEXT("settings", r->settings),
               V_COUNT("both", g->n_both), V_COUNT("equal", g->n_equal));
    put_only(g, 0, "only_a", to);
    put_only(g, 1, "only_b", to);
    list_changes(g, o, to);
    for (int which = 0; which < 2; which++)
        report_put(to, V_TEXT(best[which], g->best[which] ? report_point_name(g->best[which]).text : NULL),
                   V_GIVEN(g->skipped[which], V_BOOL(skipped[which], true)));
}

void report_diff_json(const report_pair *pairs, size_t n, const report_diff_options *o, dse_strbuf *out)
{
    const report_sizes sizes = sizes_of(pairs, n);
    report_tree t;
    report_node *root = report_tree_begin(&t), *studies;

    report_put(root, V_TEXT("a", o->name_a), V_TEXT("b", o->name_b), V_TEXT("by", o->by->name),
               V_TEXT("memory_counts", report_sizes_key(&sizes)),
               V_BOOL("same", report_diff_same(pairs, n, o)));
    studies = report_list(root, "studies");
    for (size_t i = 0; i < n;) {
        const group g = next_group(&pairs[i], n - i, o);

        put_group(&g, o, report_object(studies, NULL));
        i += g.n;
    }
    report_tree_end(&t, out);
}
