#include "report/measured.h"

#include "base/names.h"
#include "report/tree.h"

#include <math.h>
#include <string.h>

#define NAME_COLUMNS 40
#define SHOWN_ITEMS  8 /* of a list of numbers, in text */
#define ABSENT       "absent: "

/* Of a table. */
#define MAX_COLUMNS 6
#define MAX_ROWS    32
#define WIDTH       120 /* of a line */
#define LONG        24  /* characters from which a text goes to the end of the line */
#define LEAST_TAIL  44  /* minimum width of such a text */

const metric_value *report_measured_headline(const report_measured *m)
{
    return m->value && m->row->headline ? metric_get(m->value, m->row->headline) : NULL;
}

/* The original tools of each group print this instead of a value. */
static const char *original_absence(const char *group) { return strcmp(group, "later") == 0 ? "-1" : "nan"; }

void report_measured_bare(const report_measured *m, dse_strbuf *out)
{
    const metric_value *headline = report_measured_headline(m);

    if (!headline)
        metric_write_json(m->value, 0, out);
    else if (headline->kind == METRIC_ABSENT)
        dse_strbuf_adds(out, original_absence(m->row->group));
    else
        metric_write_scalar(headline, out);
    dse_strbuf_addc(out, '\n');
}

/* ---- text ---------------------------------------------------------------------------------- */

void report_measured_scalar(const metric_value *v, const char *absent, dse_strbuf *out)
{
    const double x = v->number;

    switch (v->kind) {
    case METRIC_NUMBER: dse_strbuf_addf(out, x == floor(x) && fabs(x) < 1e15 ? "%.0f" : "%.6g", x); return;
    case METRIC_BOOL: dse_strbuf_adds(out, v->integer ? "yes" : "no"); return;
    case METRIC_ABSENT: dse_strbuf_adds(out, absent); return;
    default: metric_write_scalar(v, out);
    }
}

/* ---- rows of equal figures ------------------------------------------------------------------ */

typedef struct {
    size_t n;
    const char *key[MAX_COLUMNS];
    size_t width[MAX_COLUMNS];
    size_t label; /* with what it is indented by */
    bool tail;    /* the last one is long and takes the rest of the line */
} columns;

/* The keys of a row are those of the first. */
static bool is_like(const metric_value *row, const metric_value *first)
{
    const metric_value *a = row->first, *b = first->first;

    if (row->kind != METRIC_OBJECT || !a)
        return false;
    for (; a && b && !report_is_tree(a) && strcmp(a->key, b->key) == 0; a = a->next, b = b->next)
        continue;
    return !a && !b;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static void measure(const metric_value *rows, columns *c)
{
    dse_strbuf cell = dse_strbuf_in(rows->arena);

    for (const metric_value *row = rows->first; row; row = row->next) {
        c->label = larger(c->label, row->key ? strlen(row->key) : 0);
        for (size_t i = 0; i < c->n; i++) {
            dse_strbuf_clear(&cell);
            report_measured_scalar(metric_get(row, c->key[i]), "-", &cell);
            c->width[i] = larger(c->width[i], cell.len);
        }
    }
}

/* False: there are too many, or too many long ones. */
static bool columns_of(const metric_value *rows, int depth, columns *c)
{
    size_t n_long = 0, at = 0;

    *c = (columns){.label = 4}; /* rows of a list are called by their places */
    for (const metric_value *v = rows->first->first; v; v = v->next) {
        if (c->n == MAX_COLUMNS)
            return false;
        c->width[c->n] = strlen(v->key);
        c->key[c->n++] = v->key;
    }
    measure(rows, c);
    c->label += 2 * ((size_t)depth + 1);
    for (size_t i = 0; i < c->n; i++) {
        n_long += c->width[i] > LONG;
        at = c->width[i] > LONG ? i : at;
    }
    if ((c->tail = n_long > 0)) {
        const char *key = c->key[at];

        for (; at + 1 < c->n; at++) {
            c->key[at] = c->key[at + 1];
            c->width[at] = c->width[at + 1];
        }
        c->key[at] = key;
        c->width[at] = 0;
    }
    return n_long <= 1;
}

/* Without the long one. */
static size_t line_of(const columns *c)
{
    size_t width = c->label;

    for (size_t i = 0; i < c->n; i++)
        width += 2 + c->width[i];
    return width;
}

/* Whether these are objects, two or more, of the same few scalars that fit beside each other. */
static bool is_table(const metric_value *rows)
{
    size_t n = 0;
    columns c;

    if (!report_is_tree(rows) || !rows->first || rows->first->kind != METRIC_OBJECT)
        return false;
    for (const metric_value *row = rows->first; row; row = row->next, n++)
        if (!is_like(row, rows->first))
            return false;
    return n >= 2 && n <= MAX_ROWS && columns_of(rows, 1, &c) &&
           line_of(&c) + (c.tail ? LEAST_TAIL : 0) <= WIDTH;
}

static void add_padded(const char *text, const columns *c, size_t i, dse_strbuf *out)
{
    size_t used = line_of(c), room = used + LEAST_TAIL < WIDTH ? WIDTH - used : LEAST_TAIL;

    if (!c->tail || i + 1 < c->n) {
        dse_strbuf_addf(out, "  %*s", (int)c->width[i], text);
    } else {
        dse_strbuf_adds(out, "  ");
        report_add_cut(text, room, out);
    }
}

/* The name of the rows with the headings, then one line per row; a long text stands last and is cut in its
 * middle. `depth` is that of the name. The rows must form such a table. */
static void add_table(const char *name, const metric_value *rows, int depth, dse_strbuf *out)
{
    size_t place = 0;
    columns c;
    dse_strbuf cell = dse_strbuf_in(rows->arena);

    columns_of(rows, depth, &c);
    c.label = larger(c.label, strlen(name) + 2 * (size_t)depth);
    dse_strbuf_addf(out, "%*s%-*s", 2 * depth, "", (int)c.label - 2 * depth, name);
    for (size_t i = 0; i < c.n; i++)
        add_padded(c.key[i], &c, i, out);
    dse_strbuf_addc(out, '\n');
    for (const metric_value *row = rows->first; row; row = row->next) {
        dse_strbuf_clear(&cell);
        dse_strbuf_addf(&cell, "%zu", ++place);
        dse_strbuf_addf(out, "%*s%-*s", 2 * depth + 2, "", (int)c.label - 2 * depth - 2,
                        row->key ? row->key : cell.data);
        for (size_t i = 0; i < c.n; i++) {
            dse_strbuf_clear(&cell);
            report_measured_scalar(metric_get(row, c.key[i]), "-", &cell);
            add_padded(cell.data, &c, i, out);
        }
        dse_strbuf_addc(out, '\n');
    }
}

/* ---- values of one name ---------------------------------------------------------------------- */

static void add_readable(const metric_value *v, dse_strbuf *out)
{
    if (v->kind == METRIC_TEXT && strlen(v->text) > WIDTH - NAME_COLUMNS - 2) {
        report_add_cut(v->text, WIDTH - NAME_COLUMNS - 2, out);
        return;
    }
    report_measured_scalar(v, "absent", out);
}

static void add_list(const metric_value *v, dse_strbuf *out)
{
    size_t n = 0;
    bool flat = true;

    for (const metric_value *i = v->first; i; i = i->next, n++)
        flat = flat && !report_is_tree(i);
    if (!flat || n > SHOWN_ITEMS) {
        dse_strbuf_addf(out, "%zu entries", n);
        return;
    }
    for (const metric_value *i = v->first; i; i = i->next) {
        add_readable(i, out);
        dse_strbuf_adds(out, i->next ? ", " : "");
    }
    if (!n)
        dse_strbuf_adds(out, "none");
}

static bool is_digits(const char *key) { return key && *key && !key[strspn(key, "0123456789")]; }

/* A number a rank: keys are ranks, and there may be thousands. */
static bool is_number_a_rank(const metric_value *v)
{
    bool is = v->first != NULL;

    for (const metric_value *i = v->first; i && is; i = i->next)
        is = is_digits(i->key) && (i->kind == METRIC_NUMBER || i->kind == METRIC_INTEGER);
    return is;
}

/* "0 in each of 64", "0: 3, 1: 5", "0 to 7 in 64". */
static void add_number_a_rank(const metric_value *v, dse_strbuf *out)
{
    const metric_value *least = v->first, *most = v->first;
    size_t n = 0;

    for (const metric_value *i = v->first; i; i = i->next, n++) {
        least = metric_number(i) < metric_number(least) ? i : least;
        most = metric_number(i) > metric_number(most) ? i : most;
    }
    if (metric_number(least) == metric_number(most) || n > SHOWN_ITEMS) {
        add_readable(least, out);
        if (metric_number(least) < metric_number(most)) {
            dse_strbuf_adds(out, " to ");
            add_readable(most, out);
        }
        dse_strbuf_addf(out, metric_number(least) < metric_number(most) ? " in %zu" : " in each of %zu", n);
        return;
    }
    for (const metric_value *i = v->first; i; i = i->next) {
        dse_strbuf_addf(out, "%s: ", i->key);
        add_readable(i, out);
        dse_strbuf_adds(out, i->next ? ", " : "");
    }
}

static void add_label(const char *label, int depth, dse_strbuf *out)
{
    int width = NAME_COLUMNS - 2 * depth;

    dse_strbuf_addf(out, "%*s%-*s  ", 2 * depth, "", width > 0 ? width : 0, label);
}

/* Whether the keys are numbers of ranks or devices. Stages are numbered as well, but few. */
static bool is_per_rank(const metric_value *v)
{
    if (!report_is_tree(v) || !v->key || strcmp(v->key, "per_stage") == 0)
        return false;
    return strncmp(v->key, "per_rank", strlen("per_rank")) == 0 ||
           (v->first && is_digits(v->first->key) && v->first->kind == METRIC_OBJECT);
}

/* The value behind a name. A reason is given once where several values in a row have it. */
static void add_leaf(const metric_value *v, const metric_value *before, dse_strbuf *out)
{
    if (v->kind == METRIC_OBJECT && !v->first) {
        dse_strbuf_adds(out, "none");
    } else if (v->kind == METRIC_OBJECT) {
        add_number_a_rank(v, out);
    } else if (v->kind == METRIC_LIST) {
        add_list(v, out);
    } else if (v->kind == METRIC_ABSENT && v->text && before && before->kind == METRIC_ABSENT &&
               before->text && strcmp(v->text, before->text) == 0) {
        dse_strbuf_adds(out, "absent, as above");
    } else if (v->kind == METRIC_ABSENT && v->text) {
        dse_strbuf_adds(out, ABSENT);
        dse_strbuf_add_wrapped(out, v->text, NAME_COLUMNS + 2 + strlen(ABSENT), WIDTH);
    } else {
        add_readable(v, out);
    }
    if (v->kind == METRIC_INTEGER && v->integer >= 1000 && v->key && dse_ends(v->key, "_bytes"))
        dse_strbuf_addf(out, " (%s)", report_bytes((uint64_t)v->integer).text);
}

/* How many ranks a value has entries of. */
static size_t ranks_of(const metric_value *object)
{
    const metric_value *ranks = metric_get(object, "per_rank");
    size_t n = 0;

    for (const metric_value *i = ranks && report_is_tree(ranks) ? ranks->first : NULL; i; i = i->next)
        n++;
    return n;
}

/* " (sum over 8 ranks)" behind an entry that is one, so that nobody takes it for a rank's. */
static void add_sum(const metric *row, const metric_value *object, const char *key, dse_strbuf *out)
{
    const size_t n = strlen(key);

    for (const char *sum = row->sums; sum && ranks_of(object) > 1; sum = strchr(sum, '|')) {
        sum += *sum == '|';
        if (strncmp(sum, key, n) == 0 && (!sum[n] || sum[n] == '|')) {
            dse_strbuf_addf(out, " (sum over %zu ranks)", ranks_of(object));
            return;
        }
    }
}

/* Adds all entries except the one called `but` (NULL: all); row NULL: they are parts of an entry. */
static void add_entries(const metric *row, const metric_value *object, const char *but, int depth,
                        dse_strbuf *out)
{
    const metric_value *before = NULL;
    bool of_all = false;

    for (const metric_value *i = object->first; i; i = i->next)
        of_all = of_all || !is_per_rank(i);
    for (const metric_value *i = object->first; i; before = i, i = i->next) {
        const char *key = i->key ? i->key : "-";

        if ((is_per_rank(i) && of_all) || (but && strcmp(key, but) == 0))
            continue;
        if (is_table(i)) {
            add_table(key, i, depth, out);
            continue;
        }
        if (i->kind == METRIC_OBJECT && i->first && !is_number_a_rank(i)) {
            dse_strbuf_addf(out, "%*s%s", 2 * depth, "", key);
            if (row)
                add_sum(row, object, key, out);
            dse_strbuf_addc(out, '\n');
            add_entries(NULL, i, NULL, depth + 1, out);
            continue;
        }
        add_label(key, depth, out);
        add_leaf(i, before, out);
        if (row && i->kind != METRIC_ABSENT)
            add_sum(row, object, key, out);
        dse_strbuf_addc(out, '\n');
    }
}

static void add_text(const report_measured *m, dse_strbuf *out)
{
    const metric_value *headline = report_measured_headline(m);

    if (!headline) {
        dse_strbuf_addf(out, "%s\n", m->name);
        add_entries(m->row, m->value, NULL, 1, out);
        return;
    }
    add_label(m->name, 0, out);
    if (headline->kind == METRIC_ABSENT)
        dse_strbuf_adds(out, original_absence(m->row->group));
    else if (headline->kind == METRIC_LIST)
        add_list(headline, out);
    else
        add_readable(headline, out);
    if (*m->row->unit)
        dse_strbuf_addf(out, " %s", m->row->unit);
    add_sum(m->row, m->value, m->row->headline, out);
    dse_strbuf_addc(out, '\n');
    add_entries(m->row, m->value, m->row->headline, 1, out);
}

void report_measured_text(const report_measured *m, size_t n, dse_strbuf *out)
{
    for (size_t i = 0; i < n; i++)
        if (m[i].value)
            add_text(&m[i], out);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void line(int depth, dse_strbuf *out) { dse_strbuf_addf(out, "\n%*s", 2 * depth, ""); }

void report_measured_json_one(const report_measured *m, int depth, dse_strbuf *out)
{
    if (m->value) {
        metric_write_json(m->value, depth, out);
        return;
    }
    dse_strbuf_adds(out, "{\"absent\": ");
    dse_json_quote(out, m->why);
    dse_strbuf_addc(out, '}');
}

void report_measured_json(const report_measured *m, size_t n, int depth, dse_strbuf *out)
{
    dse_strbuf_addc(out, '{');
    for (size_t i = 0; i < n; i++) {
        line(depth + 1, out);
        dse_json_quote(out, m[i].name);
        dse_strbuf_adds(out, ": ");
        report_measured_json_one(&m[i], depth + 1, out);
        dse_strbuf_adds(out, i + 1 < n ? "," : "");
    }
    if (n)
        line(depth, out);
    dse_strbuf_addc(out, '}');
}

/* ---- CSV ----------------------------------------------------------------------------------- */

void report_measured_csv_heading(bool workload, dse_strbuf *out)
{
    dse_strbuf_adds(out, workload ? "workload,metric,value\n" : "metric,value\n");
}

static void add_row(const char *workload, const char *name, const char *value, dse_strbuf *out)
{
    if (workload) {
        dse_strbuf_add_csv(out, workload);
        dse_strbuf_addc(out, ',');
    }
    dse_strbuf_add_csv(out, name);
    dse_strbuf_addc(out, ',');
    dse_strbuf_add_csv(out, value);
    dse_strbuf_adds(out, "\n");
}

/* `name` is that of v; it grows for what is below, and is as it was afterwards. */
static void add_leaves(const char *workload, const metric_value *v, const char *headline, dse_strbuf *name,
                       dse_strbuf *value, dse_strbuf *out)
{
    size_t len = name->len, place = 0;

    if (!report_is_tree(v)) {
        dse_strbuf_clear(value);
        if (v->kind == METRIC_ABSENT)
            dse_strbuf_adds(value, "N/A");
        else
            metric_write_scalar(v, value);
        add_row(workload, name->data, value->data, out);
        return;
    }
    for (const metric_value *i = v->first; i; i = i->next, place++) {
        if (!i->key)
            dse_strbuf_addf(name, ".%zu", place);
        else if (!headline || strcmp(i->key, headline) != 0)
            dse_strbuf_addf(name, ".%s", i->key);
        add_leaves(workload, i, NULL, name, value, out);
        name->len = len;
        name->data[len] = '\0';
    }
}

void report_measured_csv(const char *workload, const report_measured *m, size_t n, dse_strbuf *out)
{
    dse_strbuf name, value;

    dse_strbuf_init(&name);
    dse_strbuf_init(&value);
    for (size_t i = 0; i < n; i++) {
        dse_strbuf_clear(&name);
        dse_strbuf_adds(&name, m[i].name);
        if (m[i].value)
            add_leaves(workload, m[i].value, m[i].row->headline, &name, &value, out);
        else
            add_row(workload, m[i].name, "N/A", out);
    }
    dse_strbuf_free(&name);
    dse_strbuf_free(&value);
}
