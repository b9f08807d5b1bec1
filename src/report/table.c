#include "report/table.h"

#include "base/alloc.h"
#include "base/names.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

void report_table_init(report_table *t)
{
    *t = (report_table){0};
    dse_strbuf_init(&t->text);
}

void report_table_free(report_table *t)
{
    dse_free(t->cell);
    dse_strbuf_free(&t->text);
    report_table_init(t);
}

void report_table_column(report_table *t, const char *heading, bool left)
{
    assert(t->n_columns < REPORT_MAX_COLUMNS && !t->n_cells);
    t->heading[t->n_columns] = heading;
    t->left[t->n_columns++] = left;
}

static void add_columns(report_table *t, const char *columns, va_list headings)
{
    for (; *columns; columns++)
        report_table_column(t, va_arg(headings, const char *), *columns == 'l');
}

void report_table_columns(report_table *t, const char *columns, ...)
{
    va_list ap;

    va_start(ap, columns);
    add_columns(t, columns, ap);
    va_end(ap);
}

void report_table_begin(report_table *t, const char *columns, ...)
{
    va_list ap;

    report_table_init(t);
    va_start(ap, columns);
    add_columns(t, columns, ap);
    va_end(ap);
}

void report_table_end(report_table *t, dse_strbuf *out)
{
    report_table_print(t, out);
    report_table_free(t);
}

static void add_cell(report_table *t, const char *fmt, va_list ap)
{
    DSE_GROW(t->cell, t->cap_cells, t->n_cells + 1);
    t->cell[t->n_cells++] = t->text.len;
    dse_strbuf_vaddf(&t->text, fmt, ap);
    if (t->text.len > t->cell[t->n_cells - 1])
        dse_mask_controls(t->text.data + t->cell[t->n_cells - 1], t->text.len - t->cell[t->n_cells - 1],
                          DSE_ONE_LINE);
    dse_strbuf_addc(&t->text, '\0');
}

void report_table_cell(report_table *t, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_cell(t, fmt, ap);
    va_end(ap);
}

void report_table_known(report_table *t, bool known, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    add_cell(t, known ? fmt : "-", ap);
    va_end(ap);
}

static const char *cell(const report_table *t, size_t i) { return t->text.data + t->cell[i]; }

/* Lines of a heading are counted from the bottom: 0 is the one above the cells. Returns its bytes. */
static size_t heading_line(const char *heading, int line, const char **text)
{
    const char *newline = strchr(heading, '\n');

    if (line == 0) {
        *text = newline ? newline + 1 : heading;
        return strlen(*text);
    }
    *text = heading;
    return newline ? (size_t)(newline - heading) : 0;
}

/* A line without the spaces at its end: what comes last may be empty. */
static void end_line(dse_strbuf *out)
{
    while (out->len && out->data[out->len - 1] == ' ')
        out->data[--out->len] = '\0';
    dse_strbuf_addc(out, '\n');
}

static void print_cell(const report_table *t, uint32_t c, size_t width, const char *text, size_t n,
                       dse_strbuf *out)
{
    bool last = c + 1 == t->n_columns;
    size_t pad = width - n;

    for (; pad && !t->left[c]; pad--)
        dse_strbuf_addc(out, ' ');
    dse_strbuf_add(out, text, n);
    for (; pad && !last; pad--)
        dse_strbuf_addc(out, ' ');
    if (last)
        end_line(out);
    else
        dse_strbuf_adds(out, "  ");
}

void report_table_print(const report_table *t, dse_strbuf *out)
{
    size_t width[REPORT_MAX_COLUMNS], n_rows = t->n_columns ? t->n_cells / t->n_columns : 0;
    bool two_lines = false;
    const char *text;

    for (uint32_t c = 0; c < t->n_columns; c++) {
        size_t upper = heading_line(t->heading[c], 1, &text), lower = heading_line(t->heading[c], 0, &text);

        two_lines |= upper > 0;
        width[c] = upper > lower ? upper : lower;
        for (size_t r = 0; r < n_rows; r++) {
            size_t n = strlen(cell(t, r * t->n_columns + c));
            width[c] = n > width[c] ? n : width[c];
        }
    }
    for (int line = two_lines; line >= 0; line--) {
        for (uint32_t c = 0; c < t->n_columns; c++) {
            size_t n = heading_line(t->heading[c], line, &text);

            print_cell(t, c, width[c], text, n, out);
        }
    }
    for (size_t i = 0; i < n_rows * t->n_columns; i++) {
        uint32_t c = (uint32_t)(i % t->n_columns);

        print_cell(t, c, width[c], cell(t, i), strlen(cell(t, i)), out);
    }
}
