#include "report/table.h"

#include "base/alloc.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void report_table_init(report_table *t) { *t = (report_table){0}; }

void report_table_free(report_table *t)
{
    dse_free(t->cell);
    report_table_init(t);
}

void report_table_column(report_table *t, const char *heading, bool left)
{
    assert(t->n_columns < REPORT_MAX_COLUMNS && !t->n_cells);
    t->heading[t->n_columns] = heading;
    t->left[t->n_columns++] = left;
}

void report_table_cell(report_table *t, const char *fmt, ...)
{
    va_list ap;

    if (!DSE_GROW(t->cell, t->cap_cells, t->n_cells + 1)) {
        t->failed = true;
        return;
    }
    va_start(ap, fmt);
    vsnprintf(t->cell[t->n_cells++], sizeof t->cell[0], fmt, ap);
    va_end(ap);
}

void report_table_print(const report_table *t, dse_strbuf *out)
{
    size_t width[REPORT_MAX_COLUMNS], n_rows = t->n_columns ? t->n_cells / t->n_columns : 0;

    for (uint32_t c = 0; c < t->n_columns; c++) {
        width[c] = strlen(t->heading[c]);
        for (size_t r = 0; r < n_rows; r++) {
            size_t n = strlen(t->cell[r * t->n_columns + c]);
            width[c] = n > width[c] ? n : width[c];
        }
    }
    for (size_t r = 0; r <= n_rows; r++) {
        for (uint32_t c = 0; c < t->n_columns; c++) {
            const char *text = r ? t->cell[(r - 1) * t->n_columns + c] : t->heading[c];
            bool last = c + 1 == t->n_columns;

            if (t->left[c])
                dse_strbuf_addf(out, "%-*s", last ? 0 : (int)width[c], text);
            else
                dse_strbuf_addf(out, "%*s", (int)width[c], text);
            dse_strbuf_adds(out, last ? "\n" : "  ");
        }
    }
    out->failed |= t->failed;
}
