/* The JSON of the page:
 *
 *     {"n":960,"by":"wall_time","studies":[{"name":"..","n":960,"limit":80000000000}],
 *      "columns":[{"key":"tp","label":"tp","kind":"parameter",...,"values":[1,2,..]},..],
 *      "parts":[{"key":"step_idle","label":"idle","colour":"#9a9a9a"},..],"colours":["#0072b2",..]}
 *
 * A column has a value for each point, in the order of points, and null where it is not known: "values";
 * or "same", one for all; and where few values come again and again, "distinct" with them, and "values"
 * are places in it. A column with "names" has texts, and its values are places among them. */
#include "report/sweep_page.h"

#include "base/array.h"
#include "base/order.h"
#include "base/textset.h"
#include "draw/chart.h"
#include "report/overview.h"
#include "report/parts.h"
#include "report/sizes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TEXTS     64 /* different ones of a column that the page has */
#define TIMES_SHORTER 4  /* a column is told by its distinct values if each comes so often */

bool report_sweep_has_charts(void) { return report_web_chart_js.n > 0; }

/* ---- columns ---------------------------------------------------------------------------------- */

typedef struct {
    const report_sweep *s;
    dse_arena *a;
    double *value;  /* [n] of the column that is written */
    double *sorted; /* [n] */
} writer;

/* How the numbers of a column are written: as an export writes them (report_figure). */
typedef enum { COUNTS, THREE_DECIMALS, ALL_DIGITS } digits;

static void add_number(double v, digits as, dse_strbuf *out)
{
    if (isnan(v))
        dse_strbuf_adds(out, "null");
    else if (as == THREE_DECIMALS)
        dse_strbuf_addf(out, "%.3f", v);
    else if (as == ALL_DIGITS)
        dse_strbuf_add_repr(out, v);
    else
        dse_strbuf_addu(out, (uint64_t)v);
}

static void add_numbers(const char *key, const double *v, size_t n, digits as, report_node *to)
{
    dse_strbuf text;

    dse_strbuf_init(&text);
    for (size_t i = 0; i < n; i++) {
        dse_strbuf_addc(&text, i ? ',' : '[');
        add_number(v[i], as, &text);
    }
    dse_strbuf_addc(&text, ']');
    report_put(to, V_RAW(key, dse_strbuf_take(&text, to->arena)));
}

/* The distinct numbers among the values, ascending, in w->sorted; *has_unknown: NaN is among them, which
 * is not counted. */
static size_t find_distinct(writer *w, bool *has_unknown)
{
    size_t n = 0, kept = 0;

    *has_unknown = false;
    for (size_t i = 0; i < w->s->points->n; i++) {
        *has_unknown = *has_unknown || isnan(w->value[i]);
        if (!isnan(w->value[i]))
            w->sorted[n++] = w->value[i];
    }
    qsort(w->sorted, n, sizeof *w->sorted, dse_by_double);
    for (size_t i = 0; i < n; i++)
        if (!kept || w->sorted[i] > w->sorted[kept - 1])
            w->sorted[kept++] = w->sorted[i];
    return kept;
}

static void add_values(writer *w, digits as, report_node *to)
{
    const size_t n = w->s->points->n;
    bool has_unknown;
    const size_t distinct = find_distinct(w, &has_unknown);

    if (distinct == 1 && !has_unknown) {
        dse_strbuf text = dse_strbuf_in(w->a);

        add_number(w->sorted[0], as, &text);
        report_put(to, V_RAW("same", text.data));
        return;
    }
    if (distinct * TIMES_SHORTER > n || n < 100) {
        add_numbers("values", w->value, n, as, to);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const double *found = isnan(w->value[i])
                                  ? NULL
                                  : bsearch(&w->value[i], w->sorted, distinct, sizeof(double), dse_by_double);

        w->value[i] = found ? (double)(found - w->sorted) : NAN;
    }
    add_numbers("distinct", w->sorted, distinct, as, to);
    add_numbers("values", w->value, n, COUNTS, to);
}

/* Whether a parameter is told of every point, also where it is the same for all: as in a ranking
 * (ranking.c). */
static bool is_main(const writer *w, const strategy_parameter *p)
{
    return w->s->points->profiles & STRATEGY_PROFILE_STAGE ? p->in_name : p->is_axis && !p->omit_default;
}

static report_node *add_column(const char *key, const char *label, const char *kind, const char *unit_name,
                               const char *help, report_node *columns)
{
    return report_row(columns, V_TEXT("key", key), V_TEXT("label", label), V_TEXT("kind", kind),
                      V_TEXT("unit", unit_name), V_TEXT("help", help));
}

/* Switches say yes and no, choices their words, orders theirs: as names where the value is not a number. */
static void add_parameter(writer *w, uint32_t parameter, report_node *columns)
{
    const strategy_parameter *p = &strategy_parameters[parameter];
    const report_points *points = w->s->points;
    const uint32_t n_names = strategy_n_values(p);
    report_node *c = add_column(p->name, strategy_heading(parameter), "parameter", "", p->help, columns);
    char text[STRATEGY_VALUE_MAX];

    report_put(c, V_BOOL("varied", points->varied >> parameter & 1), V_BOOL("main", is_main(w, p)));
    if (n_names) {
        report_node *list = report_list(c, "names");

        for (uint32_t i = 0; i < n_names; i++)
            report_put(list, V_TEXT(NULL, strategy_print(p, i, text)));
    }
    for (size_t i = 0; i < points->n; i++)
        w->value[i] = strategy_get(&points->row[i]->strategy, parameter);
    add_values(w, COUNTS, c);
}

/* Whether any point has it, other than 0 of a part: parts that a model lacks are 0. */
static bool has_figure(const writer *w, const store_column *column)
{
    const bool is_part = !strncmp(column->name, "step_", 5) ||
                         (!strncmp(column->name, "peak_", 5) && column->type == STORE_BYTES &&
                          column->better == STORE_NEITHER);

    for (size_t i = 0; i < w->s->points->n; i++) {
        const store_metrics *m = &w->s->points->row[i]->metrics;

        if (store_has(m, column) && !(is_part && !(store_value(m, column) > 0)))
            return true;
    }
    return false;
}

static bool is_shown(const writer *w, const store_column *column)
{
    static const char *const names[] = {"wall_time",    "peak_memory",  "tokens_per_s_npu", "mfu",
                                        "exposed_comm", "compute_util", "busiest_link_util"};

    for (size_t i = 0; i < DSE_COUNT(names); i++)
        if (!strcmp(column->name, names[i]))
            return true;
    return column == w->s->by;
}

static size_t find_text(const char **texts, size_t *n, const char *text)
{
    for (size_t i = 0; i < *n; i++)
        if (!strcmp(texts[i], text))
            return i;
    if (*n < MAX_TEXTS)
        texts[(*n)++] = text;
    else
        *n = MAX_TEXTS + 1;
    return *n - 1;
}

/* Texts of a column without too many of them, such as where peaks are: the page is no place for a name a
 * point. */
static void add_texts(writer *w, const store_column *column, const char *label, report_node *columns)
{
    const char *texts[MAX_TEXTS + 1];
    size_t n = 0;
    report_node *c, *list;

    for (size_t i = 0; i < w->s->points->n && n <= MAX_TEXTS; i++) {
        const char *text = store_text(&w->s->points->row[i]->metrics, column);

        w->value[i] = text ? (double)find_text(texts, &n, text) : NAN;
    }
    if (n > MAX_TEXTS)
        return;
    c = add_column(column->name, label, "text", "", column->help, columns);
    list = report_list(c, "names");
    for (size_t i = 0; i < n; i++)
        report_put(list, V_TEXT(NULL, texts[i]));
    add_values(w, COUNTS, c);
}

static void add_figure(writer *w, const store_column *column, report_node *columns)
{
    static const char *const betters[] = {
        [STORE_LOWER] = "lower", [STORE_HIGHER] = "higher", [STORE_NEITHER] = ""};
    const bool trains = w->s->points->profiles & STRATEGY_PROFILE_TRAIN;
    const digits as = store_column_is_cost(column) ? ALL_DIGITS
                      : column->type == STORE_REAL ? THREE_DECIMALS
                                                   : COUNTS;
    const char *label = report_figure_label(column, trains, w->a);
    report_node *c;

    if (column->type == STORE_TEXT) {
        add_texts(w, column, label, columns);
        return;
    }
    c = add_column(column->name, label,
                   as == ALL_DIGITS              ? "cost"
                   : as == THREE_DECIMALS        ? "real"
                   : !strcmp(column->unit, "ns") ? "time"
                   : column->type == STORE_BYTES ? "bytes"
                                                 : "count",
                   column->unit, column->help, columns);
    report_put(c, V_TEXT("better", betters[column->better]), V_BOOL("shown", is_shown(w, column)));
    for (size_t i = 0; i < w->s->points->n; i++)
        w->value[i] = store_value(&w->s->points->row[i]->metrics, column);
    add_values(w, as, c);
}

/* ---- the document ----------------------------------------------------------------------------- */

static void add_parts(const writer *w, report_node *root)
{
    report_node *parts = report_list(root, "parts"), *colours = report_list(root, "colours");
    const report_points *points = w->s->points;

    for (size_t k = 0; points->n && k < REPORT_N_STEP_PARTS; k++)
        report_row(parts, V_TEXT("key", report_step_parts[k].column),
                   V_TEXT("label", report_part_label(&report_step_parts[k], &points->row[0]->metrics)),
                   V_TEXT("colour", draw_part_colours[k % DRAW_PARTS]));
    for (size_t k = 0; k < DRAW_COLOURS; k++)
        report_put(colours, V_TEXT(NULL, draw_series_colours[k]));
}

static void add_studies(const writer *w, report_node *root)
{
    report_node *studies = report_list(root, "studies");
    const report_points *p = w->s->points;
    size_t *n = DSE_ARENA_NEW(w->a, size_t, p->n_studies);

    for (size_t i = 0; i < p->n; i++)
        n[p->of[i]]++;
    for (size_t s = 0; s < p->n_studies; s++)
        report_row(studies, V_TEXT("name", p->name[s]), V_COUNT("n", n[s]),
                   V_REAL("limit", p->study[s].hbm_bytes));
}

/* In a script element the text must not have "</script" or "<!--": no "<" stands outside of strings. */
static void add_script_json(const dse_strbuf *json, dse_strbuf *out)
{
    const char *from = json->data;

    dse_strbuf_adds(out, "<script type=\"application/json\" id=\"data\">");
    for (const char *at; (at = strchr(from, '<')); from = at + 1) {
        dse_strbuf_add(out, from, (size_t)(at - from));
        dse_strbuf_adds(out, "\\u003c");
    }
    dse_strbuf_adds(out, from);
    dse_strbuf_adds(out, "</script>\n");
}

static void add_data(const report_sweep *s, dse_arena *a, dse_strbuf *out)
{
    writer w = {s, a, DSE_ARENA_NEW(a, double, s->points->n + 1), DSE_ARENA_NEW(a, double, s->points->n + 1)};
    size_t n;
    const store_column *c = store_columns(&n);
    report_tree t;
    report_node *root = report_tree_begin(&t), *columns;
    dse_strbuf json;

    dse_strbuf_init(&json);
    report_put(root, V_COUNT("n", s->points->n), V_TEXT("by", s->by->name));
    add_studies(&w, root);
    columns = report_lines(root, "columns");
    for (uint32_t k = 0; s->points->n && k < STRATEGY_N; k++) {
        const uint32_t parameter = strategy_in_order(k);

        if (strategy_has_profile(parameter, s->points->profiles) &&
            (s->points->varied >> parameter & 1 || is_main(&w, &strategy_parameters[parameter])))
            add_parameter(&w, parameter, columns);
    }
    for (size_t i = 0; s->points->n && i < n; i++)
        if (has_figure(&w, &c[i]) || &c[i] == s->by)
            add_figure(&w, &c[i], columns);
    add_parts(&w, root);
    report_tree_write(&t, &json);
    add_script_json(&json, out);
    dse_strbuf_free(&json);
}

/* ---- what people read first ------------------------------------------------------------------- */

static uint64_t sum_of(const report_points *p, size_t offset)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < p->n_studies; i++)
        sum += *(const size_t *)(const void *)((const char *)&p->study[i] + offset);
    return sum;
}

static void add_best(const report_sweep *s, dse_arena *a, dse_strbuf *out)
{
    const report_points *p = s->points;
    const bool trains = p->profiles & STRATEGY_PROFILE_TRAIN;
    const uint64_t failed = sum_of(p, offsetof(report_study, n_failed)),
                   large = sum_of(p, offsetof(report_study, n_too_large));
    bool has_band = false, skipped = false;
    report_tree t;
    report_node *list = report_list(report_tree_begin(&t), NULL);

    for (size_t i = 0; i < p->n_studies; i++) {
        has_band = has_band || s->band[i];
        skipped = skipped || p->study[i].n_skipped;
    }
    for (size_t i = 0; i < p->n_studies; i++) {
        const report_study *study = &p->study[i];
        const store_row *best = study->n_ranked ? study->ranked[0] : NULL;
        const store_metrics *m = best ? &best->metrics : NULL;
        dse_strbuf point = dse_strbuf_in(a);

        if (best)
            strategy_say(&best->strategy, store_row_profile(best), " ", &point);
        else
            dse_strbuf_adds(&point, "none fits");
        report_row(list, V_NOTE("study", p->name[i]), V_AS("points", V_COUNT(NULL, study->n)),
                   V_GIVEN(failed, V_AS("failed", V_COUNT(NULL, study->n_failed))),
                   V_GIVEN(large, V_AS("too large", V_COUNT(NULL, study->n_too_large))),
                   V_GIVEN(skipped, V_AS("skipped", V_COUNT(NULL, study->n_skipped))),
                   V_NOTE("best strategy", point.data),
                   V_AS("step time", V_TIME(NULL, m ? m->wall_time : STORE_ABSENT)),
                   V_GIVEN(has_band, V_NOTE("error band", s->band[i] ? s->band[i] : "-")),
                   V_AS("memory", V_BYTES(NULL, m ? m->peak_memory : STORE_ABSENT)),
                   V_GIVEN(trains, V_CELL("tokens/s/NPU",
                                          report_format(m && !isnan(m->tokens_per_s_npu) ? "%.0f" : "-",
                                                        m ? m->tokens_per_s_npu : 0)
                                              .text)),
                   V_GIVEN(trains, V_CELL("MFU", report_percent(m ? m->mfu : NAN).text)));
    }
    report_rows_html(list, out);
    report_tree_free(&t);
}

static void add_lines(const char *text, dse_strbuf *out)
{
    while (*text) {
        const size_t n = strcspn(text, "\n");
        dse_strbuf line;

        dse_strbuf_init(&line);
        dse_strbuf_add(&line, text, n);
        if (n)
            report_html_element("<p class=note>", line.data, "</p>\n", out);
        dse_strbuf_free(&line);
        text += n + (text[n] == '\n');
    }
}

void report_reasons_add(report_reasons *r, const char *why, dse_arena *a)
{
    size_t k = 0;

    while (k < r->n && strcmp(r->reason[k].why, why) != 0)
        k++;
    if (k == REPORT_REASONS) {
        r->n_others++;
        return;
    }
    if (k == r->n)
        r->reason[r->n++].why = dse_arena_strdup(a, why);
    r->reason[k].n++;
}

static void add_failures(const report_reasons *r, dse_strbuf *out)
{
    report_tree t;
    report_node *list = report_list(report_tree_begin(&t), NULL);

    for (size_t k = 0; k < r->n; k++)
        report_row(list, V_AS("points", V_COUNT(NULL, r->reason[k].n)),
                   V_NOTE("why they failed", r->reason[k].why));
    if (r->n_others)
        report_row(list, V_AS("points", V_COUNT(NULL, r->n_others)),
                   V_NOTE("why they failed", "other reasons"));
    if (r->n)
        dse_strbuf_adds(out, "<section id=failed>\n<h2>Failed points</h2>\n");
    report_rows_html(list, out);
    dse_strbuf_adds(out, r->n ? "</section>\n" : "");
    report_tree_free(&t);
}

static void add_notes(const report_points *p, dse_strbuf *out)
{
    report_sizes sizes = {0};
    dse_textset laws = {0};
    bool differ = false;
    dse_strbuf text;

    dse_strbuf_init(&text);
    if (p->n < p->n_done)
        dse_strbuf_addf(
            &text,
            "Ranking and charts have %zu of %" PRIu64
            " points: the best %d of all studies together, the best of each study, and those of the "
            "Pareto front of step time and memory. The counts above are of all points.\n",
            p->n, p->n_done, REPORT_SWEEP_POINTS);
    for (size_t i = 0; i < p->n_studies; i++)
        report_sizes_add(&sizes, &p->study[i].row[0].sizes);
    for (size_t i = 0; i < p->n_studies && !differ; i++)
        differ = !report_comparable(&p->study[i], &p->study[0]);
    if (differ)
        dse_strbuf_adds(
            &text,
            "The studies simulate their networks by different models (with congestion and without): their "
            "times say nothing about which is faster. Choose one study, or filter by a word of its name.\n");
    report_ranking_notes(p->study, p->n_studies, &text);
    if (p->n_studies && !sizes.differ)
        report_sizes_print(&sizes, &text);
    else if (p->n_studies)
        dse_strbuf_adds(
            &text,
            "Memory counts bytes in some studies and elements in others: do not compare it across them.\n");
    for (size_t i = 0; i < p->n_studies; i++)
        if (report_trains(&p->study[i]) && p->study[i].laws && dse_textset_takes(&laws, p->study[i].laws))
            report_train_note(p->study[i].laws, &text);
    dse_textset_free(&laws);
    add_lines(text.data, out);
    dse_strbuf_free(&text);
}

/* ---- the page --------------------------------------------------------------------------------- */

static void add_picture(const report_picture *p, dse_strbuf *out)
{
    report_html_element("<section id=\"", p->id, "\">\n", out);
    report_html_element("<h2>", p->title, "</h2>\n", out);
    dse_strbuf_adds(out, "<div class=picture tabindex=0>\n");
    dse_strbuf_adds(out, p->svg);
    dse_strbuf_adds(out, "</div>\n");
    if (p->note)
        report_html_element("<p class=note>", p->note, "</p>\n", out);
    dse_strbuf_adds(out, "</section>\n");
}

/* Which pictures are not there, and why. */
static void add_missing(const report_sweep *s, dse_strbuf *out)
{
    bool any = false;

    for (size_t i = 0; i < s->n_pictures; i++) {
        if (s->picture[i].svg)
            continue;
        dse_strbuf_adds(out, any ? "" : "<section>\n<h2>Not drawn</h2>\n<ul class=\"missing note\">\n");
        any = true;
        report_html_element("<li>", s->picture[i].title, ": ", out);
        report_html_element("", s->picture[i].note, ".</li>\n", out);
    }
    dse_strbuf_adds(out, any ? "</ul>\n</section>\n" : "");
}

static void add_file(const char *open, const report_web_file *file, const char *close, dse_strbuf *out)
{
    dse_strbuf_adds(out, open);
    dse_strbuf_add(out, file->text, file->n);
    dse_strbuf_adds(out, close);
}

static void add_navigation(const report_sweep *s, dse_strbuf *out)
{
    dse_strbuf_adds(out, "<nav aria-label=sections><ul>\n<li><a href=\"#ranking\">Ranking</a></li>\n");
    if (report_sweep_has_charts())
        dse_strbuf_adds(out, "<li><a href=\"#tradeoff\">Time against memory</a></li>\n");
    dse_strbuf_adds(out, "<li><a href=\"#heat\">Heat map</a></li>\n");
    if (report_sweep_has_charts())
        dse_strbuf_adds(out, "<li><a href=\"#parts\">Where the step goes</a></li>\n");
    for (size_t i = 0; i < s->n_pictures; i++) {
        if (!s->picture[i].svg)
            continue;
        report_html_element("<li><a href=\"#", s->picture[i].id, "\">", out);
        report_html_element("", s->picture[i].title, "</a></li>\n", out);
    }
    dse_strbuf_adds(out, "</ul></nav>\n");
}

void report_sweep_html(const report_sweep *s, dse_arena *a, dse_strbuf *out)
{
    report_html_begin(s->title, &report_web_report_css,
                      "<meta http-equiv=Content-Security-Policy content=\"default-src 'none';"
                      "style-src 'unsafe-inline';script-src 'unsafe-inline'\">\n",
                      out);
    report_html_element("<header><h1>", s->title,
                        "</h1><button id=theme type=button hidden></button></header>\n", out);
    if (s->points->n)
        add_navigation(s, out);
    dse_strbuf_adds(out, "<main>\n");
    if (!s->points->n_studies)
        dse_strbuf_adds(out, "<p>The database has no results.</p>\n");
    add_best(s, a, out);
    add_notes(s->points, out);
    if (s->points->n)
        add_file("<noscript><p>The ranking needs JavaScript.</p></noscript>\n", &report_web_report_html, "",
                 out);
    for (size_t i = 0; i < s->n_pictures; i++)
        if (s->picture[i].svg)
            add_picture(&s->picture[i], out);
    add_missing(s, out);
    add_failures(s->failed, out);
    report_html_element("</main>\n<footer class=note>", s->made_by, "</footer>\n", out);
    add_data(s, a, out);
    if (report_sweep_has_charts() && s->points->n) {
        add_file("<script>\n/*\n", &report_web_chart_js_licence, "*/\n", out);
        add_file("", &report_web_chart_js, "\n</script>\n", out);
    }
    add_file("<script>\n", &report_web_report_js, "</script>\n", out);
    report_html_end(out);
}
