#include "report/measured_table.h"

#include "report/measured.h"

#include <string.h>

#define MAX_COLUMNS 6
#define MAX_ROWS    32
#define WIDTH       120 /* of a line */
#define LONG        24  /* characters from which a text goes to the end of the line */
#define LEAST_TAIL  44  /* minimum width of such a text */

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
    dse_strbuf cell;

    dse_strbuf_init(&cell);
    for (const metric_value *row = rows->first; row; row = row->next) {
        c->label = larger(c->label, row->key ? strlen(row->key) : 0);
        for (size_t i = 0; i < c->n; i++) {
            dse_strbuf_clear(&cell);
            report_measured_scalar(metric_get(row, c->key[i]), "-", &cell);
            c->width[i] = larger(c->width[i], cell.len);
        }
    }
    dse_strbuf_free(&cell);
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

bool report_is_measured_table(const metric_value *rows)
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

    if (!c->tail || i + 1 < c->n)
        dse_strbuf_addf(out, "  %*s", (int)c->width[i], text);
    else if (strlen(text) <= room)
        dse_strbuf_addf(out, "  %s", text);
    else
        dse_strbuf_addf(out, "  %.*s...", (int)room - 3, text);
}

void report_measured_table(const char *name, const metric_value *rows, int depth, dse_strbuf *out)
{
    size_t place = 0;
    dse_strbuf cell;
    columns c;

    columns_of(rows, depth, &c);
    c.label = larger(c.label, strlen(name) + 2 * (size_t)depth);
    dse_strbuf_addf(out, "%*s%-*s", 2 * depth, "", (int)c.label - 2 * depth, name);
    for (size_t i = 0; i < c.n; i++)
        add_padded(c.key[i], &c, i, out);
    dse_strbuf_addc(out, '\n');
    dse_strbuf_init(&cell);
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
    dse_strbuf_free(&cell);
}
