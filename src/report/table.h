/* report_table -- rows of text in aligned columns. */
#ifndef DSE_REPORT_TABLE_H
#define DSE_REPORT_TABLE_H

#include "base/strbuf.h"

#define REPORT_MAX_COLUMNS 16

typedef struct {
    uint32_t n_columns;
    const char *heading[REPORT_MAX_COLUMNS];
    bool left[REPORT_MAX_COLUMNS]; /* aligned to the left; numbers go right */
    dse_strbuf text;               /* of all cells, each ended by a NUL */
    size_t *cell;                  /* n_rows * n_columns, row by row: where in text it begins */
    size_t n_cells, cap_cells;
} report_table;

void report_table_init(report_table *t);
void report_table_free(report_table *t);
/* A newline in the heading breaks it over two lines. */
void report_table_column(report_table *t, const char *heading, bool left);
/* Columns as of LaTeX: "lrr" and three headings, the first to the left; _begin starts the table. */
void report_table_begin(report_table *t, const char *columns, ...);
void report_table_columns(report_table *t, const char *columns, ...);
/* Adds the next cell, row by row. */
void report_table_cell(report_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same, or "-" for what is not known. */
void report_table_known(report_table *t, bool known, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Prints the table and frees it. */
void report_table_end(report_table *t, dse_strbuf *out);
void report_table_print(const report_table *t, dse_strbuf *out);

#endif
