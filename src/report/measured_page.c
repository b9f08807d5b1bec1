/* A metric's value is a tree. Scalars of an object are a table of two columns; an object or a list of objects
 * is a table with a row for each and the scalars of all as columns; what is deeper comes below, under its
 * name. */
#include "report/measured_page.h"

#include <stdio.h>
#include <string.h>

#define MAX_COLUMNS 24
#define MAX_ROWS    64 /* of a table, and items of a list: all of it is in the JSON */
#define MAX_DEPTH   6  /* headings h3 and on */

/* The name of a column may break at its underscores, so that a table is not wider than its figures. */
static void add_name(const char *open, const char *name, dse_strbuf *out)
{
    dse_strbuf_adds(out, open);
    for (const char *end; (end = strchr(name, '_')); name = end + 1) {
        char part[64];

        snprintf(part, sizeof part, "%.*s", (int)(end - name < 62 ? end - name : 62), name);
        report_html_text(part, out);
        dse_strbuf_adds(out, "_<wbr>");
    }
    report_html_text(name, out);
    dse_strbuf_adds(out, "</th>");
}

/* ---- values --------------------------------------------------------------------------------- */

static size_t count(const metric_value *v)
{
    size_t n = 0;

    for (const metric_value *i = v->first; i; i = i->next)
        n++;
    return n;
}

static bool is_number(const metric_value *v) { return v->kind == METRIC_NUMBER || v->kind == METRIC_INTEGER; }

/* A list of scalars stands in a cell. */
static bool is_flat(const metric_value *v)
{
    if (v->kind != METRIC_LIST)
        return !report_is_tree(v);
    for (const metric_value *i = v->first; i; i = i->next)
        if (report_is_tree(i))
            return false;
    return true;
}

static bool has_flat(const metric_value *object)
{
    for (const metric_value *i = object->first; i; i = i->next)
        if (is_flat(i))
            return true;
    return false;
}

/* An object or a list of nothing but objects, which have something for columns. */
static bool is_table(const metric_value *v)
{
    bool any = false;

    if (!report_is_tree(v))
        return false;
    for (const metric_value *i = v->first; i; i = i->next) {
        if (i->kind != METRIC_OBJECT)
            return false;
        any = any || has_flat(i);
    }
    return any;
}

static void add_value(const metric_value *v, dse_strbuf *out)
{
    dse_strbuf text = dse_strbuf_in(v->arena);

    switch (v->kind) {
    case METRIC_ABSENT: dse_strbuf_adds(out, "&ndash;"); return;
    case METRIC_OBJECT: dse_strbuf_addf(out, "%zu entries", count(v)); return;
    case METRIC_LIST: {
        size_t n = 0;

        for (const metric_value *i = v->first; i && n < MAX_ROWS; i = i->next, n++) {
            dse_strbuf_adds(out, n ? ", " : "");
            add_value(i, out);
        }
        if (count(v) > n)
            dse_strbuf_addf(out, ", &hellip; (%zu in all)", count(v));
        return;
    }
    default: report_measured_scalar(v, "", &text); report_html_text(text.data, out);
    }
}

/* A table has no room for the reason of an absent value: it stands below, and in the tooltip of the cell. */
static void add_cell(const metric_value *v, dse_strbuf *out)
{
    if (v && v->kind == METRIC_ABSENT && v->text)
        report_html_element("<td title=\"", v->text, "\">", out);
    else
        dse_strbuf_adds(out, v && is_number(v) ? "<td class=n>" : "<td>");
    if (v && (is_flat(v) || v->kind == METRIC_OBJECT))
        add_value(v, out);
    else if (v)
        dse_strbuf_addf(out, "%zu entries", count(v));
    dse_strbuf_adds(out, "</td>");
}

/* ---- tables --------------------------------------------------------------------------------- */

typedef struct {
    const char *key;
    bool number, any; /* any: some row has a value */
    const char *why;  /* the first row without one says; NULL: none does */
} column;

typedef struct {
    size_t n;
    column column[MAX_COLUMNS];
} columns;

static void add_column(columns *c, const metric_value *v)
{
    size_t i = 0;

    while (i < c->n && strcmp(c->column[i].key, v->key) != 0)
        i++;
    if (i == MAX_COLUMNS)
        return;
    if (i == c->n)
        c->column[c->n++] = (column){.key = v->key};
    c->column[i].number = c->column[i].number || is_number(v);
    c->column[i].any = c->column[i].any || v->kind != METRIC_ABSENT;
    if (v->kind == METRIC_ABSENT && !c->column[i].why)
        c->column[i].why = v->text;
}

static columns columns_of(const metric_value *rows)
{
    columns c = {0};

    for (const metric_value *row = rows->first; row; row = row->next)
        for (const metric_value *v = row->first; v; v = v->next)
            if (is_flat(v))
                add_column(&c, v);
    return c;
}

/* Below a table: each reason once, with the columns that have it. */
static void add_reasons(const columns *c, dse_strbuf *out)
{
    for (size_t i = 0; i < c->n; i++) {
        const char *why = c->column[i].why;
        size_t first = 0;

        while (why && (!c->column[first].why || strcmp(c->column[first].why, why) != 0))
            first++;
        if (!why || first < i)
            continue;
        dse_strbuf_adds(out, "<p class=note>");
        for (size_t k = i; k < c->n; k++)
            if (c->column[k].why && strcmp(c->column[k].why, why) == 0)
                report_html_element(k > i ? ", " : "", c->column[k].key, "", out);
        report_html_element(": ", why, "</p>\n", out);
    }
}

static void add_row_name(const metric_value *row, size_t place, dse_strbuf *out)
{
    char text[24];

    snprintf(text, sizeof text, "%zu", place);
    report_html_element("<tr><th>", row->key ? row->key : text, "</th>", out);
}

static void add_table(const metric_value *rows, dse_strbuf *out)
{
    columns c = columns_of(rows);
    size_t n = 0;

    dse_strbuf_adds(out, "<div class=wide><table>\n<tr><th></th>");
    for (size_t i = 0; i < c.n; i++)
        if (c.column[i].any)
            add_name(c.column[i].number ? "<th class=n>" : "<th>", c.column[i].key, out);
    dse_strbuf_adds(out, "</tr>\n");
    for (const metric_value *row = rows->first; row && n < MAX_ROWS; row = row->next, n++) {
        add_row_name(row, n, out);
        for (size_t i = 0; i < c.n; i++)
            if (c.column[i].any)
                add_cell(metric_get(row, c.column[i].key), out);
        dse_strbuf_adds(out, "</tr>\n");
    }
    dse_strbuf_adds(out, "</table></div>\n");
    if (count(rows) > n)
        dse_strbuf_addf(out, "<p class=note>The first %zu of %zu.</p>\n", n, count(rows));
    add_reasons(&c, out);
}

static void add_scalars(const metric_value *object, dse_strbuf *out)
{
    bool any = false;

    for (const metric_value *v = object->first; v; v = v->next) {
        if (!v->key || !is_flat(v))
            continue;
        dse_strbuf_adds(out, any ? "" : "<div class=wide><table>\n");
        any = true;
        report_html_element("<tr><th>", v->key, "</th>", out);
        add_cell(v, out);
        if (v->kind == METRIC_ABSENT && v->text)
            report_html_element("<td class=note>", v->text, "</td>", out);
        dse_strbuf_adds(out, "</tr>\n");
    }
    dse_strbuf_adds(out, any ? "</table></div>\n" : "");
}

/* Each value that is no scalar stands under a heading. */
static void add_deeper(const metric_value *object, int depth, dse_strbuf *out);

static void add_tree(const metric_value *v, int depth, dse_strbuf *out)
{
    if (is_table(v)) {
        add_table(v, out);
        return;
    }
    add_scalars(v, out);
    if (depth < MAX_DEPTH)
        add_deeper(v, depth, out);
}

static void add_deeper(const metric_value *object, int depth, dse_strbuf *out)
{
    for (const metric_value *v = object->first; v; v = v->next) {
        if (!v->key || is_flat(v) || !v->first)
            continue;
        dse_strbuf_addf(out, "<h%d>", depth);
        report_html_text(v->key, out);
        dse_strbuf_addf(out, "</h%d>\n", depth);
        add_tree(v, depth + 1, out);
    }
}

/* ---- the page ------------------------------------------------------------------------------- */

static void add_metric(const report_measured *m, dse_strbuf *out)
{
    dse_strbuf_adds(out, "<section>\n");
    report_html_element("<h2>", m->name, "</h2>\n", out);
    report_html_element("<p class=note>", m->row->help, "</p>\n", out);
    if (m->value)
        add_tree(m->value, 3, out);
    else
        report_html_element("<p class=absent>", m->why, "</p>\n", out);
    dse_strbuf_adds(out, "</section>\n");
}

void report_page_html(const report_page *p, dse_strbuf *out)
{
    report_html_begin(p->title, &report_web_measured_css, "", out);
    report_html_element("<h1>", p->title, "</h1>\n", out);
    report_html_facts(p->fact, p->n_facts, out);
    for (size_t i = 0; i < p->n_warnings; i++)
        report_html_element("<p class=absent>", p->warning[i].text, "</p>\n", out);
    for (size_t i = 0; i < p->n; i++)
        add_metric(&p->m[i], out);
    report_html_end(out);
}
